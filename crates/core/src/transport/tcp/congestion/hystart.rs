//! The end of slow start before the buffer overflows: HyStart as in Linux, and HyStart++.
//!
//! *Source*: S. Ha and I. Rhee, "Taming the Elephants: New TCP Slow Start", Computer Networks 55(9), 2011, and Linux,
//! `net/ipv4/tcp_cubic.c`; P. Balasubramanian, Y. Huang and M. Olson, "HyStart++", RFC 9406, 2023.
//!
//! Slow start calls it at every ACK. Both variants work in rounds, each of which ends when all octets sent before its
//! start are acknowledged, and take a rising round-trip time as the sign of a queue.

use super::{CongestionWindow, Facts};
use crate::choice;
use crate::units::{Span, Time};

choice! {
    /// How slow start ends before a loss.
    pub enum Mode {
        /// Linux: when ACKs of a round come in a train of half a round trip, or when round trips have become longer.
        Linux = "linux",
        /// RFC 9406: a longer round trip slows the growth down to a quarter; after five such rounds slow start ends.
        PlusPlus = "plus-plus",
        /// It ends with a loss or at the threshold.
        Off = "off",
    }
}

/// The reaction of slow start to an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// Grow by the acknowledged octets divided by this number.
    By(u64),
    /// End slow start now.
    Leave,
}

/// Smallest window for which Linux measures, in segments.
const LOW_WINDOW: u64 = 16;
/// Number of round-trip samples needed in a round.
const SAMPLES: u32 = 8;
/// Greatest gap between two ACKs of a train.
const TRAIN_GAP: Span = Span::millis(2);
/// Largest delay by aggregation, which Linux adds to the shortest round trip before it halves the sum (`hystart_ack_delay`); next, the
/// octets whose time at the pacing rate it is: four of the largest segments that a host gives to its card.
const AGGREGATION: Span = Span::millis(1);
const AGGREGATED: u64 = 4 << 16;
/// Limits of the increase of the round-trip time that ends slow start; within them an eighth.
const LEAST_RISE: Span = Span::millis(4);
const LARGEST_RISE: Span = Span::millis(16);
/// Conservative slow start of HyStart++: divisor of its growth; next, its number of rounds.
const SLOWER: u64 = 4;
const SLOW_ROUNDS: u32 = 5;

/// HyStart at one sender.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    mode: Mode,
    /// The present round: the octet after which it ends; next, its start, its smallest round-trip time, and its
    /// number of samples.
    end: u64,
    began: Time,
    smallest: Span,
    samples: u32,
    /// Arrival of the last ACK of the train (Linux).
    train: Time,
    /// The smallest round-trip time of the connection (Linux), or of the previous round (HyStart++).
    reference: Span,
    /// The smoothed round-trip time, with a gain of 1/8 (Linux).
    smoothed: Span,
    /// Slow start has ended before (Linux, which looks again only after a timeout).
    has_left: bool,
    /// In conservative slow start: the round-trip time with which it began, and the number of rounds so far.
    slow: Option<(Span, u32)>,
}

impl HyStart {
    pub(super) fn new(mode: Mode) -> HyStart {
        HyStart {
            mode,
            end: 0,
            began: Time::ZERO,
            smallest: Span::FOREVER,
            samples: 0,
            train: Time::ZERO,
            reference: Span::FOREVER,
            smoothed: Span::FOREVER,
            has_left: false,
            slow: None,
        }
    }

    /// React to an ACK in slow start.
    pub(super) fn on_ack(&mut self, window: &CongestionWindow, facts: Facts) -> Growth {
        match self.mode {
            Mode::Off => Growth::By(1),
            Mode::Linux if self.has_left => Growth::By(1),
            Mode::Linux => {
                let growth = self.linux(window, facts);
                self.has_left = growth == Growth::Leave;
                growth
            }
            Mode::PlusPlus => self.plus_plus(facts),
        }
    }

    /// Begin anew after a timeout, as Linux does.
    pub(super) fn reset(&mut self) {
        if self.mode == Mode::Linux {
            *self = HyStart::new(self.mode);
        }
    }

    fn linux(&mut self, window: &CongestionWindow, facts: Facts) -> Growth {
        if let Some(rtt) = facts.rtt {
            self.reference = self.reference.min(rtt);
            self.smoothed =
                if self.smoothed == Span::FOREVER { rtt } else { Span((7 * self.smoothed.0 + rtt.0) / 8) };
        }
        if facts.unacknowledged > self.end {
            self.begin_round(facts);
            self.train = facts.now;
        }
        if window.cwnd < LOW_WINDOW * window.mss {
            return Growth::By(1);
        }
        if facts.now.since(self.train) <= TRAIN_GAP {
            self.train = facts.now;
            let threshold = Span(self.reference.0.saturating_add(self.aggregation(window).0) / 2);
            if self.reference < Span::FOREVER && facts.now.since(self.began) > threshold {
                return Growth::Leave;
            }
        }
        let Some(rtt) = facts.rtt else { return Growth::By(1) };
        self.smallest = self.smallest.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.smallest > self.reference + rise(self.reference) {
            return Growth::Leave;
        }
        Growth::By(1)
    }

    /// Return the delay of ACKs by aggregation: the time of `AGGREGATED` octets at the pacing rate of slow start, which is twice the
    /// window in each smoothed round trip (`tcp_update_pacing_rate`).
    fn aggregation(&self, window: &CongestionWindow) -> Span {
        let delay = u128::from(AGGREGATED) * u128::from(self.smoothed.0) / (2 * u128::from(window.cwnd));
        AGGREGATION.min(Span(u64::try_from(delay).unwrap_or(u64::MAX)))
    }

    fn plus_plus(&mut self, facts: Facts) -> Growth {
        if facts.unacknowledged > self.end {
            self.reference = self.smallest;
            self.begin_round(facts);
            if let Some((_, rounds)) = &mut self.slow {
                *rounds += 1;
                if *rounds >= SLOW_ROUNDS {
                    return Growth::Leave;
                }
            }
        }
        if let Some(rtt) = facts.rtt {
            self.smallest = self.smallest.min(rtt);
            self.samples += 1;
        }
        let sampled = self.samples >= SAMPLES;
        match self.slow {
            Some((baseline, _)) if sampled && self.smallest < baseline => self.slow = None,
            None if sampled && self.reference < Span::FOREVER && self.has_risen() => {
                self.slow = Some((self.smallest, 0));
            }
            _ => {}
        }
        Growth::By(if self.slow.is_some() { SLOWER } else { 1 })
    }

    fn has_risen(&self) -> bool {
        self.smallest >= self.reference + rise(self.reference)
    }

    fn begin_round(&mut self, facts: Facts) {
        (self.end, self.began) = (facts.sent, facts.now);
        (self.smallest, self.samples) = (Span::FOREVER, 0);
    }
}

/// Return by how much a round-trip time must exceed this one to count as risen.
fn rise(rtt: Span) -> Span {
    Span(rtt.0 / 8).clamp(LEAST_RISE, LARGEST_RISE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::tests::defaults;

    const MSS: u64 = 1460;

    /// Return the reactions of slow start to ACKs of one segment each, ten milliseconds apart, of segments with these
    /// round trips, in a window of 64 segments all of which each round acknowledges.
    fn asked(mode: Mode, rounds: &[(u64, u64)]) -> Vec<Growth> {
        let (mut hystart, mut window) = (HyStart::new(mode), CongestionWindow::new(&defaults()));
        window.cwnd = 64 * MSS;
        let (mut growths, mut acked) = (Vec::new(), 0);
        for &(acks, rtt) in rounds {
            let sent = acked + acks;
            for _ in 0..acks {
                acked += 1;
                growths.push(hystart.on_ack(
                    &window,
                    Facts {
                        unacknowledged: acked * MSS,
                        sent: sent * MSS,
                        now: Time::ZERO + Span::millis(10 * acked),
                        rtt: Some(Span::millis(rtt)),
                        ..Facts::plain()
                    },
                ));
            }
        }
        growths
    }

    #[test]
    fn linux_leaves_at_the_ninth_sample_of_a_round_an_eighth_above_the_smallest() {
        let growths = asked(Mode::Linux, &[(20, 100), (20, 113)]);
        let left = growths.iter().position(|growth| *growth == Growth::Leave);
        assert_eq!(left, Some(20 + 8));
        assert!(!asked(Mode::Linux, &[(20, 100), (20, 112)]).contains(&Growth::Leave), "12.5 % is not above");
    }

    #[test]
    fn linux_leaves_when_a_train_of_acks_is_as_long_as_half_a_round_trip() {
        let (mut hystart, mut window) = (HyStart::new(Mode::Linux), CongestionWindow::new(&defaults()));
        window.cwnd = 64 * MSS;
        let at = |acked: u64| Facts {
            unacknowledged: acked * MSS,
            sent: 64 * MSS,
            now: Time::ZERO + Span::millis(100 + acked),
            rtt: Some(Span::millis(20)),
            ..Facts::plain()
        };
        let growths: Vec<Growth> = (1..=14).map(|acked| hystart.on_ack(&window, at(acked))).collect();
        assert_eq!(growths.iter().position(|growth| *growth == Growth::Leave), Some(11), "more than 10 ms");
    }

    #[test]
    fn linux_counts_the_delay_by_aggregation_at_the_pacing_rate() {
        let (mut hystart, mut window) = (HyStart::new(Mode::Linux), CongestionWindow::new(&defaults()));
        window.cwnd = 128 * MSS;
        // a window of 186 880 octets in 100 µs is paced at 3.74 octets a ns, at which 262 144 octets take 70.1 µs
        let at = |acked: u64| Facts {
            unacknowledged: acked * MSS,
            sent: 128 * MSS,
            now: Time::ZERO + Span::micros(1000 + 5 * acked),
            rtt: Some(Span::micros(100)),
            ..Facts::plain()
        };
        let growths: Vec<Growth> = (1..=30).map(|acked| hystart.on_ack(&window, at(acked))).collect();
        assert_eq!(
            growths.iter().position(|growth| *growth == Growth::Leave),
            Some(18),
            "more than (100 + 70.1) / 2 µs"
        );
    }

    #[test]
    fn linux_begins_rounds_below_sixteen_segments_as_well() {
        let (mut hystart, mut window) = (HyStart::new(Mode::Linux), CongestionWindow::new(&defaults()));
        let at = |acked: u64| Facts {
            unacknowledged: acked * MSS,
            sent: 64 * MSS,
            now: Time::ZERO + Span::millis(100 + acked),
            rtt: Some(Span::millis(20)),
            ..Facts::plain()
        };
        window.cwnd = 15 * MSS;
        (1..=2).for_each(|acked| assert_eq!(hystart.on_ack(&window, at(acked)), Growth::By(1)));
        window.cwnd = 16 * MSS;
        let growths: Vec<Growth> = (3..=14).map(|acked| hystart.on_ack(&window, at(acked))).collect();
        assert_eq!(
            growths.iter().position(|growth| *growth == Growth::Leave),
            Some(9),
            "11 ms after the first ACK"
        );
    }

    #[test]
    fn linux_does_not_look_below_sixteen_segments() {
        let (mut hystart, mut window) = (HyStart::new(Mode::Linux), CongestionWindow::new(&defaults()));
        window.cwnd = 15 * MSS;
        let at = |acked: u64| Facts {
            unacknowledged: acked * MSS,
            sent: 64 * MSS,
            now: Time::ZERO + Span::millis(acked),
            rtt: Some(Span::millis(1 + 10 * acked)),
            ..Facts::plain()
        };
        assert!((1..=40).all(|acked| hystart.on_ack(&window, at(acked)) == Growth::By(1)));
    }

    #[test]
    fn plus_plus_slows_down_at_the_eighth_sample_and_leaves_after_five_rounds() {
        let growths = asked(
            Mode::PlusPlus,
            &[(10, 100), (10, 113), (10, 113), (10, 113), (10, 113), (10, 113), (10, 113)],
        );
        assert!(growths[..17].iter().all(|growth| *growth == Growth::By(1)));
        assert!(growths[17..60].iter().all(|growth| *growth == Growth::By(4)));
        assert_eq!(growths[60], Growth::Leave);
    }

    #[test]
    fn plus_plus_returns_to_slow_start_when_round_trips_become_shorter_again() {
        let growths = asked(Mode::PlusPlus, &[(10, 100), (10, 113), (10, 112)]);
        assert_eq!((growths[26], growths[27]), (Growth::By(4), Growth::By(1)));
    }
}
