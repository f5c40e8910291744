//! # Source
//! V. Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988, and "Modified TCP Congestion Avoidance Algorithm",
//! end2end-interest list, 30 April 1990 (4.3BSD-Reno, 4.4BSD `tcp_input`); M. Allman, V. Paxson and E. Blanton, RFC
//! 5681, "TCP Congestion Control", 2009, section 3.2; for `one_fast_retransmit` S. Floyd, "TCP and Successive Fast
//! Retransmits", 1995, and ns-2's `RenoTcpAgent` with its default `bugFix_`.
//!
//! # Idea
//! Three duplicate ACKs mean that a segment is lost and later ones arrive. Send it again at once, halve the window
//! instead of falling back to one segment, and let each further duplicate, which means that a segment has left the
//! network, inflate the window by one. The first ACK of new data ends this fast recovery.
//!
//! # Parameters
//! `dupack_threshold` (duplicate ACKs, 3: RFC 5681); `halve_inflation` and `missed_deflation` (off) are what 4.4BSD-Lite
//! did. `one_fast_retransmit` (off): until more is acknowledged than had been sent at the last fast retransmission or
//! timeout, three duplicates retransmit nothing and reduce nothing. Duplicates after the third still inflate the window
//! then, unless a timeout came last.
//!
//! # Differences from the paper
//! Half the window is min(cwnd, advertised window)/2 in whole segments, as in 4.4BSD, where RFC 5681 takes the data in
//! flight. The inflation by duplicate ACKs is kept apart from cwnd, as in ns-2, so that a timeout within a recovery halves
//! the window and not what had been added to it; 4.4BSD and the RFC keep both in cwnd (`halve_inflation`). The first ACK of
//! new data always ends the inflation; in 4.4BSD-Lite it does only after a fourth duplicate (`missed_deflation`). After a
//! timeout, duplicates of segments that had arrived before may start another fast retransmission, as in 4.4BSD;
//! `new-reno` and `one_fast_retransmit` prevent this.
//!
//! # Complexity
//! O(1) for each ACK; a few flags and a sequence number for each connection.

use std::num::NonZero;

use super::{Ack, Congestion, CongestionWindow, Facts, Reaction, Timeout};
use crate::transport::tcp::Params;

/// State of Reno.
#[derive(Clone, Debug)]
pub struct Control {
    threshold: u32,
    recovering: bool,
    missed_deflation: bool,
    one_fast_retransmit: bool,
    /// Whether duplicates after the third inflate the window although their fast retransmission was not permitted.
    inflates: bool,
    /// With `one_fast_retransmit`: the octet after the last one that had been sent at the last fast retransmission or
    /// timeout.
    recover: Option<NonZero<u64>>,
}

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        Control {
            threshold: params.dupack_threshold,
            recovering: false,
            missed_deflation: params.missed_deflation,
            one_fast_retransmit: params.one_fast_retransmit,
            inflates: false,
            recover: None,
        }
    }

    /// Return whether a fast retransmission is permitted; with `one_fast_retransmit` only if an octet is acknowledged
    /// that was sent after the last reduction.
    fn may_retransmit(&self, facts: Facts) -> bool {
        self.recover.is_none_or(|recover| facts.unacknowledged > recover.get())
    }

    /// Record a reduction of the window, by a fast retransmission or a timeout.
    fn reduced(&mut self, by_duplicates: bool, sent: u64) {
        self.recovering = by_duplicates;
        self.inflates = self.one_fast_retransmit && by_duplicates;
        self.recover = NonZero::new(sent).filter(|_| self.one_fast_retransmit);
    }
}

impl Congestion for Control {
    #[inline]
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: Ack) -> Reaction {
        if self.recovering {
            self.recovering = false;
            let misses = self.missed_deflation && window.inflation == u64::from(self.threshold) * window.mss;
            window.leave_recovery(if misses { window.usable() } else { window.ssthresh });
        } else {
            window.inflation = 0; // of duplicates whose retransmission was refused
            window.grow(ack.acked);
        }
        Reaction::Continue
    }

    fn on_duplicate(&mut self, window: &mut CongestionWindow, count: u32, facts: Facts) -> Reaction {
        if self.recovering || (self.inflates && count > self.threshold) {
            window.inflate();
        } else if count == self.threshold && self.may_retransmit(facts) {
            self.reduced(true, facts.sent);
            window.enter_recovery(facts, count);
            return Reaction::Retransmit { restart_timer: true };
        }
        Reaction::Continue
    }

    fn on_timeout(&mut self, window: &mut CongestionWindow, facts: Facts, timeout: Timeout) {
        self.reduced(false, facts.sent);
        window.collapse(facts.send_window, timeout);
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::tests::defaults;

    const MSS: u64 = 1460;
    const FACTS: Facts = Facts {
        unacknowledged: 0,
        sent: 14_600,
        send_window: 65_535,
        is_reduced: false,
        now: crate::units::Time::ZERO,
        rtt: None,
    };

    fn recovering() -> (Control, CongestionWindow) {
        recovering_with(&defaults())
    }

    fn recovering_with(params: &Params) -> (Control, CongestionWindow) {
        let (mut reno, mut window) = (Control::new(params), CongestionWindow::new(params));
        window.cwnd = 10 * window.mss;
        assert_eq!(reno.on_duplicate(&mut window, 1, FACTS), Reaction::Continue);
        assert_eq!(reno.on_duplicate(&mut window, 2, FACTS), Reaction::Continue);
        assert_eq!(window.cwnd, 10 * window.mss);
        let third = reno.on_duplicate(&mut window, 3, FACTS);
        assert_eq!(third, Reaction::Retransmit { restart_timer: true });
        (reno, window)
    }

    #[test]
    fn the_third_duplicate_halves_the_window_and_each_further_one_inflates_it() {
        let (mut reno, mut window) = recovering();
        assert_eq!((window.ssthresh, window.cwnd), (5 * window.mss, 5 * window.mss));
        assert_eq!(window.usable(), 8 * window.mss);
        assert_eq!(reno.on_duplicate(&mut window, 4, FACTS), Reaction::Continue);
        assert_eq!((window.cwnd, window.usable()), (5 * window.mss, 9 * window.mss));
    }

    #[test]
    fn the_first_new_ack_deflates_the_window_and_the_next_one_opens_it() {
        let (mut reno, mut window) = recovering();
        reno.on_ack(&mut window, Ack::of(MSS, FACTS));
        assert!(!reno.is_recovering());
        assert_eq!((window.cwnd, window.inflation), (5 * window.mss, 0));
        reno.on_ack(&mut window, Ack::of(MSS, FACTS));
        assert_eq!(window.cwnd, 6 * window.mss);
    }

    #[test]
    fn a_timeout_ends_fast_recovery_and_halves_the_window_without_its_inflation() {
        let (mut reno, mut window) = recovering();
        window.cwnd = 40 * MSS;
        (4..60).for_each(|count| _ = reno.on_duplicate(&mut window, count, FACTS));
        assert_eq!(window.usable(), 99 * MSS);
        reno.on_timeout(&mut window, Facts { send_window: 1 << 20, ..FACTS }, Timeout::First);
        assert!(!reno.is_recovering());
        assert_eq!((window.ssthresh, window.cwnd, window.inflation), (20 * MSS, MSS, 0));
    }
    #[test]
    fn with_halve_inflation_a_timeout_halves_what_duplicates_have_added_too() {
        let (mut reno, mut window) = recovering_with(&Params { halve_inflation: true, ..defaults() });
        (4..8).for_each(|count| _ = reno.on_duplicate(&mut window, count, FACTS));
        assert_eq!(window.usable(), 12 * MSS);
        reno.on_timeout(&mut window, FACTS, Timeout::First);
        assert_eq!((window.ssthresh, window.cwnd, window.inflation), (6 * MSS, MSS, 0));
    }

    #[test]
    fn with_one_fast_retransmit_duplicates_of_the_same_window_only_inflate() {
        let (mut reno, mut window) = recovering_with(&Params { one_fast_retransmit: true, ..defaults() });
        let facts = |unacknowledged| Facts { unacknowledged, sent: 20 * MSS, ..FACTS };
        reno.on_ack(&mut window, Ack::of(MSS, facts(FACTS.sent)));
        let refused: Vec<Reaction> =
            (1..=5).map(|count| reno.on_duplicate(&mut window, count, facts(FACTS.sent))).collect();
        assert_eq!((refused, window.usable()), (vec![Reaction::Continue; 5], 7 * MSS));
        reno.on_ack(&mut window, Ack::of(MSS, facts(FACTS.sent + MSS)));
        assert_eq!((window.cwnd, window.inflation), (6 * MSS, 0));
        let third = reno.on_duplicate(&mut window, 3, facts(FACTS.sent + MSS));
        assert_eq!(third, Reaction::Retransmit { restart_timer: true });
    }

    #[test]
    fn with_one_fast_retransmit_duplicates_after_a_timeout_do_nothing() {
        let (mut reno, mut window) = recovering_with(&Params { one_fast_retransmit: true, ..defaults() });
        reno.on_timeout(&mut window, FACTS, Timeout::First);
        let refused: Vec<Reaction> =
            (1..=5).map(|count| reno.on_duplicate(&mut window, count, FACTS)).collect();
        assert_eq!((refused, window.usable()), (vec![Reaction::Continue; 5], MSS));
    }

    #[test]
    fn with_missed_deflation_exactly_three_duplicates_leave_the_window_inflated() {
        let params = Params { missed_deflation: true, ..defaults() };
        let (mut reno, mut window) = recovering_with(&params);
        reno.on_ack(&mut window, Ack::of(MSS, FACTS));
        assert_eq!((window.ssthresh, window.cwnd, window.inflation), (5 * MSS, 8 * MSS, 0));
        let (mut reno, mut window) = recovering_with(&params);
        reno.on_duplicate(&mut window, 4, FACTS);
        reno.on_ack(&mut window, Ack::of(MSS, FACTS));
        assert_eq!((window.cwnd, window.inflation), (5 * MSS, 0));
    }
}
