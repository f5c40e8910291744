//! Congestion control: reactions of the window to ACKs, duplicates and timeouts.
//!
//! An algorithm receives facts and returns a [`Reaction`]; the [sender](super::Sender) counts duplicates, keeps the
//! timers and sends, and its [recovery](super::recovery) finds losses. [`CongestionControl`] owns the window: nothing outside of this
//! folder changes it. Slow start, congestion avoidance and the reaction to a timeout are common to all and are in
//! [`CongestionWindow`]. To add an algorithm, write its file and add a line to the list below.

mod bictcp;
mod chosen;
pub mod hystart;
mod owner;
mod window;

pub use chosen::Chosen;
pub use owner::CongestionControl;
#[cfg(test)]
pub(crate) use owner::{EVENTS, Event, LAST_ACK, SAMPLES};
pub use window::CongestionWindow;

use super::Params;
use super::rate::{LostSegment, RateSample};
use crate::metrics::state::Figure;
use crate::program::Failure;
use crate::registry;
use crate::rng::Keyed;
use crate::units::{Rate, Span, Time};

registry! {
    /// The congestion-control algorithms by name.
    "congestion" {
        /// Fast retransmit and fast recovery, which the first new ACK ends.
        Reno = "reno" in reno,
        /// Fast recovery lasts until everything outstanding at its start is acknowledged.
        NewReno = "new-reno" in new_reno,
        /// Fast retransmit, and then a slow start.
        Tahoe = "tahoe" in tahoe,
        /// The window is a cubic function of the time since the last reduction.
        Cubic = "cubic" in cubic,
        /// The window falls by half of the share of octets that were marked.
        Dctcp = "dctcp" in dctcp,
        /// A model of the path sets rate and window: BBR, version 3.
        Bbr = "bbr" in bbr at "bbr/mod.rs",
        /// As `dctcp`, by the clock of a virtual round trip and with pacing: Prague, for ports of L4S.
        Prague = "prague" in prague,
        /// What the instructions in the scenario say.
        Program = "program" in program at "program/mod.rs",
    }

    /// The interface of an algorithm.
    pub trait Congestion for Control {
        /// Return what the algorithm wants to be told beyond ACKs and losses.
        fn needs(&self) -> Needs {
            Needs::default()
        }

        /// Begin with a connection that is established; only an algorithm that needs samples is told.
        fn begin(&mut self, window: &mut CongestionWindow, begin: Begin) {}

        /// Return the rate at which the sender paces and its bursts, if the algorithm sets them.
        fn pace(&self) -> Option<Pace> {
            None
        }

        /// React to a sample of the delivery rate, after what the ACK that brought it means for a recovery; only an algorithm that needs
        /// samples gets them.
        fn on_sample(&mut self, window: &mut CongestionWindow, sample: &RateSample) -> Upshot {
            Upshot::default()
        }

        /// React to a segment that has been declared lost, before the sample of the ACK by which it was found; only an algorithm that
        /// needs samples is told.
        fn on_lost(&mut self, window: &mut CongestionWindow, lost: &LostSegment) {}

        /// React to the first segment that is sent while none is in flight and the application limits the flow; only an algorithm that
        /// needs samples is told.
        fn on_restart(&mut self, window: &mut CongestionWindow, now: Time) {}

        /// React to an ACK of new octets outside of a recovery by selective acknowledgements.
        fn on_ack(&mut self, window: &mut CongestionWindow, ack: Ack) -> Reaction;

        /// React to a congestion mark that the receiver echoes, for the first time in this round trip (RFC 3168 section
        /// 6.1.2): the window falls as after a loss.
        fn on_mark(&mut self, window: &mut CongestionWindow, facts: Facts) {
            window.halve(facts.send_window);
            window.cwnd = window.cwnd.min(window.ssthresh);
        }

        /// React to a mark that an ACK echoes, whether it acknowledges new octets or not.
        fn on_echo(&mut self, window: &mut CongestionWindow, ack: Ack) {}

        /// React to an ACK that does not open the window: each one of a recovery by selective acknowledgements, which proposes
        /// a window thereafter, and outside of one an ACK that delivers octets by blocks only.
        fn on_delivery(&mut self, window: &mut CongestionWindow, ack: Ack) {}

        /// React to the window that a recovery by selective acknowledgements proposes (its rate is that of RFC 9937).
        fn on_proposal(&mut self, window: &mut CongestionWindow, proposed: u64) {
            window.leave_recovery(proposed);
        }

        /// React to the end of a recovery by selective acknowledgements.
        fn on_recovery_end(&mut self, window: &mut CongestionWindow) {
            window.leave_recovery(window.ssthresh);
        }

        /// React to the acknowledgement of all that was outstanding at a timeout, with selective acknowledgements.
        fn on_timeout_end(&mut self, window: &mut CongestionWindow) {}

        /// React to the report that nothing was lost: before the reduction window and threshold were these.
        fn on_undo(&mut self, window: &mut CongestionWindow, cwnd: u64, ssthresh: u64) {
            window.take_back(cwnd, ssthresh);
        }

        /// Set the slow-start threshold after a loss that was detected without duplicate ACKs.
        fn on_loss(&mut self, window: &mut CongestionWindow, loss: &Loss) {
            window.halve(loss.facts.send_window);
        }

        /// Record that the application had no data to send during `idle`.
        fn on_idle(&mut self, idle: Span) {}

        /// Record that at the next ACK of new octets the window must not grow, because the application limits the
        /// flow.
        fn on_limited(&mut self) {}

        /// React to the `count`-th duplicate ACK in a row.
        fn on_duplicate(&mut self, window: &mut CongestionWindow, count: u32, facts: Facts) -> Reaction;

        /// React to the expiry of the retransmission timer.
        fn on_timeout(&mut self, window: &mut CongestionWindow, facts: Facts, timeout: Timeout);

        /// Return the algorithm's variables, for reports over time: always the same figures in the same order.
        fn state(&self) -> Vec<Figure> {
            Vec::new()
        }

        /// Return the first call that a program could not compute, if there is one.
        fn failure(&self) -> Option<&Failure> {
            None
        }

        /// Return whether the algorithm is in fast recovery.
        fn is_recovering(&self) -> bool;
    }
}

impl Spec {
    /// Return the name of the algorithm if it samples the delivery rate: it needs selective acknowledgements and sets the rate at which
    /// its sender paces.
    pub fn measuring(self) -> Option<&'static str> {
        match self {
            Spec::Bbr => Some("bbr"),
            Spec::Prague => Some("prague"),
            _ => None,
        }
    }
}

/// What an algorithm wants to be told beyond ACKs and losses; what it does not ask for is not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Samples of the delivery rate and counted round trips, of a connection with selective acknowledgements. Such an algorithm alone
    /// sets the window: idle times and what the application leaves unused do not shrink it.
    pub samples: bool,
}

/// What follows from a sample beside window and pace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Upshot {
    /// What is in flight now counts as limited by the application.
    pub is_limited: bool,
    /// Marks have reduced the window.
    pub has_reduced: bool,
}

/// The beginning of a connection.
#[derive(Clone, Debug)]
pub struct Begin {
    /// The present instant.
    pub now: Time,
    /// The round trip of the handshake, if it has measured one.
    pub rtt: Option<Span>,
    /// The random numbers of the flow's control.
    pub draws: Keyed,
    /// The number of the connection, for which they are drawn.
    pub connection: u32,
}

/// The pace of a sender whose algorithm sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The rate of octets of data.
    pub rate: Rate,
    /// Octets of data that may follow each other.
    pub quantum: u64,
}

/// The state of the sender at an event, in octets.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// First octet that is not acknowledged.
    pub unacknowledged: u64,
    /// The octet after the last one that was ever sent.
    pub sent: u64,
    /// The window that the receiver advertises.
    pub send_window: u64,
    /// Whether the window has been reduced for a congestion mark in this round trip, so that a loss in this round
    /// trip does not reduce it again.
    pub is_reduced: bool,
    /// The present instant.
    pub now: Time,
    /// The round-trip time that this ACK has measured, if it has measured one.
    pub rtt: Option<Span>,
}

/// What an acknowledgement reports, in octets.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// New octets acknowledged, by which the window may grow.
    pub acked: u64,
    /// Octets delivered, acknowledged or selectively acknowledged for the first time.
    pub delivered: u64,
    /// Octets that the recovery has declared lost by this ACK.
    pub lost: u64,
    /// Whether the ACK echoes a congestion mark, so that [`Congestion::on_echo`] has been called for it.
    pub echo: bool,
    /// The largest window to which the ACK may open it: the present one if the application limits the flow, and else
    /// [`u64::MAX`].
    pub largest: u64,
    /// The state after this ACK.
    pub facts: Facts,
}

impl Ack {
    /// An ACK that delivers the octets that it acknowledges, without a mark or a loss, to a flow that its application does not limit.
    #[inline(always)]
    pub fn of(acked: u64, facts: Facts) -> Ack {
        Ack { acked, delivered: acked, lost: 0, echo: false, largest: u64::MAX, facts }
    }
}

/// A loss that the recovery has detected without counting duplicate ACKs.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// How the loss was found.
    pub evidence: Evidence,
    /// The state at this instant.
    pub facts: Facts,
}

/// How a loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// By selective acknowledgements; a recovery begins.
    Blocks,
    /// By a tail-loss probe whose segment repaired the loss; no recovery begins.
    Probe,
}

/// Kind of timeout of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// The timer has not sent this segment before.
    First,
    /// The timer has sent this segment before, and no new octet has been acknowledged since.
    Repeated,
}

/// The action that an algorithm requests from the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Send as many segments as the window allows.
    Continue,
    /// Retransmit the first unacknowledged segment.
    Retransmit {
        /// Whether to restart the retransmission timer.
        restart_timer: bool,
    },
    /// Send everything again from the first unacknowledged segment on, as the window allows.
    GoBack,
    /// Count a reduction of the window for a congestion mark, and send as many segments as the window allows.
    Mark,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::tests::defaults;

    impl Loss {
        /// A loss that was found by blocks.
        pub(crate) fn by_blocks(facts: Facts) -> Loss {
            Loss { evidence: Evidence::Blocks, facts }
        }
    }

    impl Facts {
        /// Facts without outstanding octets, and with a receiver that accepts all octets.
        pub(crate) fn plain() -> Facts {
            Facts {
                unacknowledged: 0,
                sent: 0,
                send_window: u64::MAX,
                is_reduced: false,
                now: Time::ZERO,
                rtt: None,
            }
        }
    }

    #[test]
    fn every_control_opens_with_the_same_five_headings() {
        for control in CATALOGUE {
            let header = control.header();
            let headings: Vec<&str> = header.lines().filter(|line| line.starts_with("# ")).collect();
            let expected =
                ["# Source", "# Idea", "# Parameters", "# Differences from the paper", "# Complexity"];
            assert_eq!(headings, expected, "{}", control.name);
        }
    }

    #[test]
    fn a_mark_halves_the_window_and_never_opens_it() {
        let marked = |segments: u64| {
            let params = defaults();
            let (mut control, mut window) =
                (params.congestion.start(&params), CongestionWindow::new(&params));
            window.cwnd = segments * 1460;
            control.on_mark(&mut window, Facts::plain());
            (window.ssthresh / 1460, window.cwnd / 1460)
        };
        assert_eq!([15, 4, 3, 1].map(marked), [(7, 7), (2, 2), (2, 2), (2, 1)]);
    }
}
