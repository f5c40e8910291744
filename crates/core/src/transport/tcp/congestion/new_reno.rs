//! # Source
//! T. Henderson, S. Floyd, A. Gurtov and Y. Nishida, "The NewReno Modification to TCP's Fast Recovery Algorithm", RFC
//! 6582, April 2012, sections 3 and 4, after RFC 2582 of 1999 and its drafts draft-ietf-tcpimpl-newreno-00 ff. (1998);
//! after J. C. Hoe, "Improving the Start-up Behavior of a Congestion Control Scheme for TCP", SIGCOMM 1996.
//!
//! # Idea
//! An ACK that covers only part of what was outstanding when fast recovery began (a partial ACK) means that the next
//! segment is lost as well: send it again at once, without waiting for duplicates or a timeout, and stay in fast
//! recovery until everything up to `recover` is acknowledged. So one loss is repaired in each round trip and the window
//! is halved once for all losses of a window.
//!
//! # Parameters
//! `dupack_threshold` (duplicate ACKs, 3: RFC 5681); `partial_ack` (`impatient`: RFC 6582 section 3.2 step 3, which
//! restarts the retransmission timer with the first partial ACK only, so that many losses end in a timeout and slow
//! start; `slow-but-steady`: RFC 2582 section 4 and RFC 6298 (5.3), each partial ACK restarts it; `never`: none does, so
//! that a recovery ends by a timeout unless it is shorter, as where the timer belongs to the timed segment, which a
//! retransmission is not); `send_high` (on: RFC 6582 section 3.2 step 2; off: duplicates of what a timeout sent twice may
//! start another recovery, as in Reno).
//!
//! # Differences from the paper
//! Half the window is min(cwnd, advertised window)/2 in whole segments, as for `reno`. The inflation by duplicate ACKs is
//! kept apart from cwnd, as in ns-2, so that a timeout within a recovery halves the window and not what had been added to
//! it; the RFC keeps both in cwnd (`halve_inflation`). Of the two windows allowed when recovery ends, it takes min(ssthresh, max(flight, mss) +
//! mss), which cannot burst. What partial ACKs take from the window leaves one segment at least. The retransmission that
//! opens a recovery starts the timer anew, as in 4.4BSD; the RFC is silent. After a timeout fast retransmission waits until
//! more than `send_high` is acknowledged, without the heuristics of section 4; before the first timeout of a connection it
//! waits for nothing: by the letter `send_high` begins at the initial sequence number, and a loss of the very first
//! segment would need a timeout. Of Hoe's proposals it has the partial ACKs only.
//!
//! # Complexity
//! O(1) for each ACK; two sequence numbers and a flag for each connection.

use super::{Ack, Congestion, CongestionWindow, Facts, Reaction, Timeout};
use crate::choice;
use crate::transport::tcp::Params;

choice! {
    /// Partial ACKs that restart the retransmission timer.
    pub enum PartialAck {
        /// The first one of a recovery restarts it (RFC 6582 section 3.2, step 3).
        Impatient = "impatient",
        /// Each one restarts it (RFC 2582 section 4; RFC 6298, 5.3).
        SlowButSteady = "slow-but-steady",
        /// None restarts it.
        Never = "never",
    }
}

/// A NewReno sender. Its state is separate, so that Reno senders need no room for it.
#[derive(Clone, Debug)]
pub struct Control(Box<NewReno>);

/// NewReno's handling of losses, independent of the window.
#[derive(Clone, Debug)]
pub(super) struct NewReno {
    threshold: u32,
    timer: PartialAck,
    /// In fast recovery: the octet after the last one that was sent before the recovery began.
    recover: Option<u64>,
    /// Whether no partial ACK has arrived in this recovery yet.
    first_partial: bool,
    /// Whether timeouts set `send_high`.
    careful: bool,
    /// The octet after the last one that was sent before the latest timeout.
    send_high: Option<u64>,
}

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        Control(Box::new(NewReno::new(params)))
    }
}

impl NewReno {
    pub(super) fn new(params: &Params) -> NewReno {
        NewReno {
            threshold: params.dupack_threshold,
            timer: params.partial_ack,
            recover: None,
            first_partial: true,
            careful: params.send_high,
            send_high: None,
        }
    }

    /// React to an ACK of new octets by RFC 6582 section 3.2, step 3; outside of recovery the algorithm increases the
    /// window.
    pub(super) fn on_ack(&mut self, window: &mut CongestionWindow, ack: Ack) -> Option<Reaction> {
        let recover = self.recover?;
        let facts = ack.facts;
        if facts.unacknowledged < recover {
            window.deflate(ack.acked);
            let restart_timer = match self.timer {
                PartialAck::Impatient => self.first_partial,
                PartialAck::SlowButSteady => true,
                PartialAck::Never => false,
            };
            self.first_partial = false;
            return Some(Reaction::Retransmit { restart_timer });
        }
        self.recover = None;
        let flight = facts.sent - facts.unacknowledged;
        window.leave_recovery(window.ssthresh.min(flight.max(window.mss) + window.mss));
        Some(Reaction::Continue)
    }

    /// React to a duplicate ACK by RFC 6582 section 3.2, step 2, with RFC 5681 section 3.2, steps 2–4; `reduce` sets
    /// the threshold.
    pub(super) fn on_duplicate(
        &mut self,
        window: &mut CongestionWindow,
        count: u32,
        facts: Facts,
        reduce: impl FnOnce(&mut CongestionWindow),
    ) -> Reaction {
        if self.recover.is_some() {
            window.inflate();
        } else if count == self.threshold && self.send_high.is_none_or(|high| facts.unacknowledged > high) {
            self.recover = Some(facts.sent);
            self.first_partial = true;
            if !facts.is_reduced {
                reduce(window);
            }
            window.begin_recovery(count);
            return Reaction::Retransmit { restart_timer: true };
        }
        Reaction::Continue
    }

    /// React to a timeout by RFC 6582 section 3.2, step 4.
    pub(super) fn on_timeout(&mut self, facts: Facts) {
        self.recover = None;
        self.send_high = self.careful.then_some(facts.sent);
    }

    pub(super) fn is_recovering(&self) -> bool {
        self.recover.is_some()
    }
}

impl Congestion for Control {
    #[inline(never)]
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: Ack) -> Reaction {
        self.0.on_ack(window, ack).unwrap_or_else(|| {
            window.grow(ack.acked);
            Reaction::Continue
        })
    }

    fn on_duplicate(&mut self, window: &mut CongestionWindow, count: u32, facts: Facts) -> Reaction {
        self.0.on_duplicate(window, count, facts, |window| window.halve(facts.send_window))
    }

    fn on_timeout(&mut self, window: &mut CongestionWindow, facts: Facts, timeout: Timeout) {
        self.0.on_timeout(facts);
        window.collapse(facts.send_window, timeout);
    }

    fn is_recovering(&self) -> bool {
        self.0.is_recovering()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::tests::defaults;

    const MSS: u64 = 1460;

    fn facts(unacknowledged: u64, sent: u64) -> Facts {
        Facts {
            unacknowledged: unacknowledged * MSS,
            sent: sent * MSS,
            send_window: 65_535,
            ..Facts::plain()
        }
    }

    fn recovering(timer: PartialAck) -> (Control, CongestionWindow) {
        let params = Params { partial_ack: timer, ..defaults() };
        let (mut new_reno, mut window) = (Control::new(&params), CongestionWindow::new(&params));
        window.cwnd = 10 * MSS;
        let third = new_reno.on_duplicate(&mut window, 3, facts(0, 10));
        assert_eq!(third, Reaction::Retransmit { restart_timer: true });
        assert_eq!((window.ssthresh, window.cwnd, window.inflation), (5 * MSS, 5 * MSS, 3 * MSS));
        (new_reno, window)
    }

    #[test]
    fn a_partial_ack_retransmits_and_deflates_by_what_it_acknowledges_less_one_segment() {
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        let reaction = new_reno.on_ack(&mut window, Ack::of(4 * MSS, facts(4, 11)));
        assert_eq!(reaction, Reaction::Retransmit { restart_timer: true });
        assert_eq!((window.cwnd, window.inflation), (5 * MSS, 0));
        assert!(new_reno.is_recovering());
    }

    #[test]
    fn only_the_first_partial_ack_restarts_an_impatient_timer() {
        use PartialAck::{Impatient, Never, SlowButSteady};
        for (timer, expected) in
            [(Impatient, [true, false, false]), (SlowButSteady, [true; 3]), (Never, [false; 3])]
        {
            let (mut new_reno, mut window) = recovering(timer);
            let restarts = [1, 2, 3].map(|ack| new_reno.on_ack(&mut window, Ack::of(MSS, facts(ack, 10))));
            assert_eq!(restarts, expected.map(|restart_timer| Reaction::Retransmit { restart_timer }));
        }
    }

    #[test]
    fn each_recovery_has_a_first_partial_ack() {
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        new_reno.on_ack(&mut window, Ack::of(MSS, facts(1, 10)));
        new_reno.on_ack(&mut window, Ack::of(9 * MSS, facts(10, 14)));
        new_reno.on_duplicate(&mut window, 3, facts(10, 14));
        let first = new_reno.on_ack(&mut window, Ack::of(MSS, facts(11, 14)));
        assert_eq!(first, Reaction::Retransmit { restart_timer: true });
    }

    #[test]
    fn each_further_duplicate_inflates_the_window_after_a_partial_ack_too() {
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        new_reno.on_duplicate(&mut window, 4, facts(0, 10));
        assert_eq!(window.usable(), 9 * MSS);
        new_reno.on_ack(&mut window, Ack::of(2 * MSS, facts(2, 11)));
        for count in 1..=4 {
            assert_eq!(new_reno.on_duplicate(&mut window, count, facts(2, 11)), Reaction::Continue);
        }
        assert_eq!((window.ssthresh, window.cwnd, window.inflation), (5 * MSS, 5 * MSS, 7 * MSS));
    }

    #[test]
    fn a_partial_ack_of_more_than_the_window_leaves_one_segment() {
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        new_reno.on_ack(&mut window, Ack::of(9 * MSS, facts(9, 10)));
        assert_eq!((window.cwnd, window.inflation), (MSS, 0));
    }

    #[test]
    fn recovery_ends_with_the_last_segment_sent_before_it_and_not_with_the_last_but_one() {
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        new_reno.on_duplicate(&mut window, 4, facts(0, 12));
        new_reno.on_ack(&mut window, Ack::of(9 * MSS, facts(9, 12)));
        assert!(new_reno.is_recovering());
        new_reno.on_ack(&mut window, Ack::of(MSS, facts(10, 12)));
        assert!(!new_reno.is_recovering());
    }

    #[test]
    fn an_ack_of_everything_outstanding_at_the_start_ends_recovery_without_a_burst() {
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        assert_eq!(new_reno.on_ack(&mut window, Ack::of(10 * MSS, facts(10, 12))), Reaction::Continue);
        assert!(!new_reno.is_recovering());
        assert_eq!((window.cwnd, window.inflation), (3 * MSS, 0));
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        new_reno.on_ack(&mut window, Ack::of(10 * MSS, facts(10, 17)));
        assert_eq!(window.cwnd, 5 * MSS);
    }

    #[test]
    fn with_nothing_in_flight_recovery_ends_in_slow_start_from_two_segments() {
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        new_reno.on_ack(&mut window, Ack::of(10 * MSS, facts(10, 10)));
        assert_eq!((window.ssthresh, window.cwnd), (5 * MSS, 2 * MSS));
        new_reno.on_ack(&mut window, Ack::of(MSS, facts(11, 11)));
        assert_eq!(window.cwnd, 3 * MSS);
    }

    #[test]
    fn a_timeout_in_recovery_halves_the_window_without_its_inflation() {
        for timer in [PartialAck::Impatient, PartialAck::SlowButSteady, PartialAck::Never] {
            let (mut new_reno, mut window) = recovering(timer);
            window.cwnd = 40 * MSS;
            (4..60).for_each(|count| _ = new_reno.on_duplicate(&mut window, count, facts(0, 70)));
            assert_eq!(window.usable(), 99 * MSS);
            new_reno.on_timeout(&mut window, facts(0, 70), Timeout::First);
            assert_eq!((window.ssthresh, window.cwnd, window.inflation), (20 * MSS, MSS, 0));
        }
    }

    #[test]
    fn with_halve_inflation_a_timeout_halves_what_duplicates_have_added_too() {
        let params = Params { halve_inflation: true, ..defaults() };
        let (mut new_reno, mut window) = (Control::new(&params), CongestionWindow::new(&params));
        window.cwnd = 10 * MSS;
        (3..8).for_each(|count| _ = new_reno.on_duplicate(&mut window, count, facts(0, 10)));
        assert_eq!((window.cwnd, window.usable()), (5 * MSS, 12 * MSS));
        new_reno.on_timeout(&mut window, facts(0, 10), Timeout::First);
        assert_eq!((window.ssthresh, window.cwnd, window.inflation), (6 * MSS, MSS, 0));
    }

    #[test]
    fn after_a_timeout_an_ack_below_recover_is_no_partial_ack() {
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        new_reno.on_timeout(&mut window, facts(0, 10), Timeout::First);
        assert_eq!((window.ssthresh, window.cwnd, window.inflation), (2 * MSS, MSS, 0));
        assert_eq!(new_reno.on_ack(&mut window, Ack::of(2 * MSS, facts(2, 10))), Reaction::Continue);
        assert_eq!(window.cwnd, 2 * MSS);
    }

    #[test]
    fn after_a_timeout_duplicates_of_older_segments_start_no_recovery() {
        let (mut new_reno, mut window) = recovering(PartialAck::Impatient);
        new_reno.on_timeout(&mut window, facts(0, 10), Timeout::First);
        assert!(!new_reno.is_recovering());
        let before = (window.ssthresh, window.cwnd);
        assert_eq!(new_reno.on_duplicate(&mut window, 3, facts(5, 10)), Reaction::Continue);
        assert_eq!(new_reno.on_duplicate(&mut window, 4, facts(5, 10)), Reaction::Continue);
        // the careful variant: to cover send_high is not enough
        assert_eq!(new_reno.on_duplicate(&mut window, 3, facts(10, 14)), Reaction::Continue);
        assert_eq!((window.ssthresh, window.cwnd), before);
        let later = new_reno.on_duplicate(&mut window, 3, facts(11, 14));
        assert_eq!(later, Reaction::Retransmit { restart_timer: true });
    }

    #[test]
    fn without_send_high_a_timeout_forbids_nothing() {
        let params = Params { send_high: false, ..defaults() };
        let (mut new_reno, mut window) = (Control::new(&params), CongestionWindow::new(&params));
        new_reno.on_timeout(&mut window, facts(0, 10), Timeout::First);
        let third = new_reno.on_duplicate(&mut window, 3, facts(0, 10));
        assert_eq!(third, Reaction::Retransmit { restart_timer: true });
        assert_eq!((window.ssthresh, window.usable()), (2 * MSS, 5 * MSS));
        assert_eq!(new_reno.0.recover, Some(10 * MSS), "the highest that was ever sent");
    }
}
