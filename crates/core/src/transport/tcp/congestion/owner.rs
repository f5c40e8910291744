//! The owner of the congestion window. The sender and its recovery report what has happened; the control reacts, and only the owner
//! and the control change the window.

use super::{Ack, Congestion, CongestionWindow, Control, Evidence, Facts, Loss, Needs, Reaction, Timeout};
use crate::metrics::state::Figure;
use crate::transport::tcp::Params;
use crate::transport::tcp::rate::RateSample;
use crate::units::Span;

#[cfg(test)]
thread_local! {
    /// The ACK that a control received last, for tests of what reaches it.
    pub(crate) static LAST_ACK: std::cell::Cell<Option<Ack>> = const { std::cell::Cell::new(None) };
    /// The samples that a control has received, for tests in which it asks for them.
    pub(crate) static SAMPLES: std::cell::RefCell<Option<Vec<RateSample>>> = const { std::cell::RefCell::new(None) };
}

/// The congestion control of a connection: an algorithm and its window.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct CongestionControl {
    window: CongestionWindow,
    algorithm: Control,
}

impl CongestionControl {
    /// Start the control of a new connection.
    pub fn start(params: &Params) -> CongestionControl {
        CongestionControl {
            window: CongestionWindow::new(params),
            algorithm: params.congestion.start(params),
        }
    }

    /// Return the window.
    #[inline]
    pub fn window(&self) -> &CongestionWindow {
        &self.window
    }

    /// Return the variables of the algorithm.
    pub fn state(&self) -> Vec<Figure> {
        self.algorithm.state()
    }

    /// Return whether the algorithm is in a fast recovery that duplicate ACKs began.
    #[inline]
    pub fn is_recovering(&self) -> bool {
        self.algorithm.is_recovering()
    }

    /// Return what the algorithm wants to be told.
    pub fn needs(&self) -> Needs {
        #[cfg(test)]
        if SAMPLES.with_borrow(Option::is_some) {
            return Needs { samples: true };
        }
        self.algorithm.needs()
    }

    /// React to a sample of the delivery rate.
    pub fn on_sample(&mut self, sample: &RateSample) {
        #[cfg(test)]
        SAMPLES.with_borrow_mut(|samples| samples.iter_mut().for_each(|samples| samples.push(*sample)));
        self.algorithm.on_sample(&mut self.window, sample);
    }

    /// React to an ACK outside of a recovery by selective acknowledgements: of new octets, or one that echoes a mark.
    #[inline(always)] // nearly every ACK is one
    pub fn on_ack(&mut self, ack: Ack) -> Reaction {
        #[cfg(test)]
        LAST_ACK.set(Some(ack));
        if ack.largest < u64::MAX {
            self.algorithm.on_limited();
        }
        let reaction = match ack.echo {
            true => self.on_echo(ack),
            false => self.algorithm.on_ack(&mut self.window, ack),
        };
        self.window.cwnd = self.window.cwnd.min(ack.largest);
        reaction
    }

    /// React to an ACK that echoes a congestion mark: it does not open the window (RFC 3168 section 6.1.2). In a fast
    /// recovery, which has already reduced the window, such an ACK is treated as any other.
    #[cold]
    fn on_echo(&mut self, ack: Ack) -> Reaction {
        self.algorithm.on_echo(ack);
        if self.algorithm.is_recovering() {
            return match ack.acked {
                0 => Reaction::Continue,
                _ => self.algorithm.on_ack(&mut self.window, ack),
            };
        }
        if ack.facts.is_reduced {
            return Reaction::Continue;
        }
        self.algorithm.on_mark(&mut self.window, ack.facts);
        Reaction::Mark
    }

    /// React to an ACK in a recovery by selective acknowledgements, which proposes a window by
    /// [`CongestionControl::on_proposal`], or to one that delivers octets by blocks only.
    pub fn on_delivery(&mut self, ack: Ack) {
        #[cfg(test)]
        LAST_ACK.set(Some(ack));
        if ack.echo {
            self.algorithm.on_echo(ack);
        }
        self.algorithm.on_delivery(&mut self.window, ack);
    }

    /// React to the window that a recovery by selective acknowledgements proposes.
    pub fn on_proposal(&mut self, proposed: u64) {
        self.algorithm.on_proposal(&mut self.window, proposed);
    }

    /// React to the end of a recovery by selective acknowledgements.
    pub fn on_recovery_end(&mut self) {
        self.algorithm.on_recovery_end(&mut self.window);
    }

    /// React to the `count`-th duplicate ACK in a row.
    pub fn on_duplicate(&mut self, count: u32, facts: Facts) -> Reaction {
        self.algorithm.on_duplicate(&mut self.window, count, facts)
    }

    /// React to a loss; a reduction for a mark in the same round trip stands for that of the loss (RFC 3168 section 6.1.2).
    pub fn on_loss(&mut self, loss: &Loss) {
        if !loss.facts.is_reduced {
            self.algorithm.on_loss(&mut self.window, loss);
        }
        if loss.evidence == Evidence::Probe {
            self.window.leave_recovery(self.window.cwnd.min(self.window.ssthresh));
        }
    }

    /// React to the expiry of the retransmission timer.
    pub fn on_timeout(&mut self, facts: Facts, timeout: Timeout) {
        self.algorithm.on_timeout(&mut self.window, facts, timeout);
    }

    /// Undo a reduction, because nothing was lost: the window and its threshold were these before it.
    pub fn on_undo(&mut self, cwnd: u64, ssthresh: u64) {
        self.window.take_back(cwnd, ssthresh);
    }

    /// React to new data after `idle` without any; `expired` is the timeout in force, if the time was longer.
    pub fn on_idle(&mut self, idle: Span, expired: Option<Span>) {
        if let Some(rto) = expired {
            self.window.on_idle(idle, rto);
        }
        self.algorithm.on_idle(idle);
    }

    /// React to an application that has not used more than `used` octets of the window for a whole timeout.
    pub fn on_unused(&mut self, used: u64) {
        self.window.shrink_towards(used);
    }
}
