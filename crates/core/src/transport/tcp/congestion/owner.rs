//! The owner of the congestion window. The sender and its recovery report what has happened; the control reacts, and only the owner
//! and the control change the window.

use super::{
    Ack, Begin, Congestion, CongestionWindow, Control, Evidence, Facts, Loss, Needs, Pace, Reaction, Timeout,
    Upshot,
};
use crate::metrics::state::Figure;
use crate::program::Failure;
use crate::transport::tcp::Params;
use crate::transport::tcp::rate::{LostSegment, RateSample};
use crate::units::{Span, Time};

#[cfg(test)]
thread_local! {
    /// The ACK that a control received last, for tests of what reaches it.
    pub(crate) static LAST_ACK: std::cell::Cell<Option<Ack>> = const { std::cell::Cell::new(None) };
    /// The samples that a control has received, for tests in which it asks for them.
    pub(crate) static SAMPLES: std::cell::RefCell<Option<Vec<RateSample>>> = const { std::cell::RefCell::new(None) };
}

/// What a control that samples has been told.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Begin(Begin),
    Sample(RateSample),
    Lost(LostSegment),
    Loss(Evidence),
    Recovered,
    Timeout(Time),
    Undo,
    Restart(Time),
}

#[cfg(test)]
thread_local! {
    /// What controls have been told, for a second implementation of one.
    pub(crate) static EVENTS: std::cell::RefCell<Option<Vec<Event>>> = const { std::cell::RefCell::new(None) };
}

/// Record an event.
#[cfg(test)]
fn note(event: impl Fn() -> Event) {
    EVENTS.with_borrow_mut(|events| events.iter_mut().for_each(|events| events.push(event())));
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

    /// Start the control of a later connection. A program that has failed stays, since the run has no result.
    pub fn restart(&mut self, params: &Params) {
        if self.algorithm.failure().is_none() {
            *self = CongestionControl::start(params);
        }
    }

    /// Return the first call that a program could not compute, if there is one.
    pub fn failure(&self) -> Option<&Failure> {
        self.algorithm.failure()
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

    /// Begin with a connection that is established.
    pub fn begin(&mut self, begin: Begin) {
        #[cfg(test)]
        note(|| Event::Begin(begin.clone()));
        self.algorithm.begin(&mut self.window, begin);
    }

    /// Return the rate at which the sender paces and its bursts, if the algorithm sets them.
    pub fn pace(&self) -> Option<Pace> {
        self.algorithm.pace()
    }

    /// React to a segment that has been declared lost.
    pub fn on_lost(&mut self, lost: &LostSegment) {
        #[cfg(test)]
        note(|| Event::Lost(*lost));
        self.algorithm.on_lost(&mut self.window, lost);
    }

    /// React to the first segment after an idle time.
    pub fn on_restart(&mut self, now: Time) {
        #[cfg(test)]
        note(|| Event::Restart(now));
        self.algorithm.on_restart(&mut self.window, now);
    }

    /// React to a sample of the delivery rate.
    pub fn on_sample(&mut self, sample: &RateSample) -> Upshot {
        #[cfg(test)]
        note(|| Event::Sample(*sample));
        #[cfg(test)]
        SAMPLES.with_borrow_mut(|samples| samples.iter_mut().for_each(|samples| samples.push(*sample)));
        self.algorithm.on_sample(&mut self.window, sample)
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
        self.algorithm.on_echo(&mut self.window, ack);
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
            self.algorithm.on_echo(&mut self.window, ack);
        }
        self.algorithm.on_delivery(&mut self.window, ack);
    }

    /// React to the window that a recovery by selective acknowledgements proposes.
    pub fn on_proposal(&mut self, proposed: u64) {
        self.algorithm.on_proposal(&mut self.window, proposed);
    }

    /// React to the end of a recovery by selective acknowledgements.
    pub fn on_recovery_end(&mut self) {
        #[cfg(test)]
        note(|| Event::Recovered);
        self.algorithm.on_recovery_end(&mut self.window);
    }

    /// React to the acknowledgement of all that was outstanding at a timeout.
    pub fn on_timeout_end(&mut self) {
        #[cfg(test)]
        note(|| Event::Recovered);
        self.algorithm.on_timeout_end(&mut self.window);
    }

    /// React to the `count`-th duplicate ACK in a row.
    pub fn on_duplicate(&mut self, count: u32, facts: Facts) -> Reaction {
        self.algorithm.on_duplicate(&mut self.window, count, facts)
    }

    /// React to a loss; a reduction for a mark in the same round trip stands for that of the loss (RFC 3168 section 6.1.2).
    pub fn on_loss(&mut self, loss: &Loss) {
        #[cfg(test)]
        note(|| Event::Loss(loss.evidence));
        if !loss.facts.is_reduced {
            self.algorithm.on_loss(&mut self.window, loss);
        }
        if loss.evidence == Evidence::Probe {
            self.window.leave_recovery(self.window.cwnd.min(self.window.ssthresh));
        }
    }

    /// React to the expiry of the retransmission timer.
    pub fn on_timeout(&mut self, facts: Facts, timeout: Timeout) {
        #[cfg(test)]
        note(|| Event::Timeout(facts.now));
        self.algorithm.on_timeout(&mut self.window, facts, timeout);
    }

    /// Undo a reduction, because nothing was lost: the window and its threshold were these before it.
    pub fn on_undo(&mut self, cwnd: u64, ssthresh: u64) {
        #[cfg(test)]
        note(|| Event::Undo);
        self.algorithm.on_undo(&mut self.window, cwnd, ssthresh);
    }

    /// React to new data after `idle` without any; `expired` is the timeout in force, if the time was longer.
    pub fn on_idle(&mut self, idle: Span, expired: Option<Span>) {
        if let Some(rto) = expired.filter(|_| !self.needs().samples) {
            self.window.on_idle(idle, rto);
        }
        self.algorithm.on_idle(idle);
    }

    /// React to an application that has not used more than `used` octets of the window for a whole timeout.
    pub fn on_unused(&mut self, used: u64) {
        if !self.needs().samples {
            self.window.shrink_towards(used);
        }
    }
}
