//! The bursts of on-off sources: packets back to back at a peak rate, then silence.
//!
//! A burst is measured in packets that carry data. Packets that a code adds follow the data they protect and do not
//! end a burst.

use crate::pace::TransmissionTime;
use crate::refused::{Refused, refuse};
use crate::rng::Stream;
use crate::units::{PS_PER_S, Rate, Span};

crate::choice! {
    /// Distribution of the lengths of bursts and silences.
    pub enum Distribution {
        /// A geometric number of packets, an exponential silence.
        Exponential = "exponential",
        /// Constant bursts and constant silences in all cycles.
        Periodic = "periodic",
    }
}

crate::choice! {
    /// The state of a source when it starts.
    pub enum StartPhase {
        /// A periodic source waits for a time uniform over its cycle and then begins its first burst; another one
        /// starts anywhere in its cycle, silent with probability 1 − activity.
        Random = "random",
        /// At the beginning of a burst: sources that start together begin their first bursts together.
        Aligned = "aligned",
    }
}

/// The bursts of a source: their length, as a number of packets or a time, and the silences between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstPattern {
    /// Rate within a burst, every octet on the line counted.
    pub peak: Rate,
    /// Mean number of packets in a burst.
    pub burst: Option<u32>,
    /// Mean length of a burst.
    pub on: Option<Span>,
    /// Share of time within bursts.
    pub activity: Option<f64>,
    /// Mean length of a silence.
    pub off: Option<Span>,
    /// Distribution of the lengths of bursts and silences.
    pub distribution: Distribution,
    /// Phase in which the source starts.
    pub phase: StartPhase,
}

impl BurstPattern {
    /// Refuse a pattern that has too few keys, too many, or impossible values.
    pub fn check(&self) -> Result<(), Refused> {
        match (self.burst, self.on) {
            (Some(_), Some(_)) => {
                return refuse(
                    "on",
                    "cannot be combined with burst: a burst has a number of packets or a time",
                );
            }
            (None, None) => return refuse("burst", "give `burst` or `on` (the length of bursts)"),
            (Some(0), None) => return refuse("burst", "must be at least 1 packet"),
            (None, Some(Span::ZERO)) => return refuse("on", "must be longer than 0 s"),
            _ => {}
        }
        match (self.activity, self.off) {
            (Some(_), Some(_)) => {
                refuse("off", "cannot be combined with activity: each follows from the other")
            }
            (None, None) => refuse("activity", "give `activity` or `off` (the length of silences)"),
            (Some(share), None) if !(share > 0.0 && share <= 1.0) => {
                refuse("activity", "must be greater than 0 and at most 1")
            }
            _ => Ok(()),
        }
    }

    /// Return the mean number of packets of `bits` bits in a burst: at least one, and a whole number in a periodic
    /// source.
    fn burst_packets(&self, bits: u64) -> f64 {
        let packets = match (self.burst, self.on) {
            (Some(packets), _) => f64::from(packets),
            (None, on) => on.unwrap_or_default().as_secs_f64() * self.peak.as_f64() / bits as f64,
        };
        match self.distribution {
            Distribution::Exponential => packets.max(1.0),
            Distribution::Periodic => libm::round(packets).max(1.0),
        }
    }

    /// Return the mean length of a burst, and of a burst with its silence, in picoseconds.
    fn on_and_cycle(&self, bits: u64) -> (f64, f64) {
        let on = self.burst_packets(bits) * bits as f64 * PS_PER_S as f64 / self.peak.as_f64();
        let cycle = match (self.activity, self.off) {
            (Some(share), _) => on / share,
            (None, off) => on + off.unwrap_or_default().0 as f64,
        };
        (on, cycle)
    }

    /// Return the mean bits per second on the line.
    pub fn mean_rate(&self, bits: u64) -> f64 {
        self.peak.as_f64() * self.activity(bits)
    }

    /// Return the share of time within bursts of packets of `bits` bits: the activity ratio a.
    pub fn activity(&self, bits: u64) -> f64 {
        let (on, cycle) = self.on_and_cycle(bits);
        on / cycle
    }
}

/// The packets that a code adds to a burst: of every `all` packets `data` carry data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// Packets with data in a block.
    pub data: u32,
    /// Packets in a block.
    pub all: u32,
    /// Whether added packets reduce the gaps in a burst; otherwise they make the burst longer.
    pub closer: bool,
}

impl Added {
    /// A code that adds no packets.
    pub const NOTHING: Added = Added { data: 1, all: 1, closer: true };
}

/// The gaps of an on-off source, exact within a burst.
#[derive(Clone, Debug)]
pub struct Bursts {
    /// Gap between packets of a burst.
    pace: TransmissionTime,
    /// The fraction of a picosecond carried so far.
    carry: u64,
    /// Packets with data that the burst still has to send.
    left: u64,
    /// Time from the nominal start of the burst to the latest packet.
    elapsed: Span,
    lengths: BurstLengths,
    phase: StartPhase,
    stream: Stream,
}

#[derive(Clone, Copy, Debug)]
enum BurstLengths {
    Periodic { burst: u64, cycle: Span },
    Random { activity: f64, burst: f64, off: f64 },
}

impl Bursts {
    /// Build the gaps of bursts of packets of `bits` bits.
    pub fn new(pattern: &BurstPattern, bits: u64, added: Added, stream: Stream) -> Bursts {
        let burst = pattern.burst_packets(bits);
        let (on, cycle) = pattern.on_and_cycle(bits);
        let longer = if added.closer { 1.0 } else { f64::from(added.all) / f64::from(added.data) };
        let lengths = match pattern.distribution {
            Distribution::Periodic => BurstLengths::Periodic {
                burst: burst as u64,
                cycle: Span((libm::round(cycle) as u64).max(1)),
            },
            Distribution::Exponential => BurstLengths::Random {
                activity: on * longer / cycle,
                burst,
                off: (cycle - on * longer).max(0.0),
            },
        };
        let (bits, rate) = match added.closer {
            true => (bits * u64::from(added.data), Rate(pattern.peak.0 * u64::from(added.all))),
            false => (bits, pattern.peak),
        };
        Bursts {
            pace: TransmissionTime::of(rate, bits),
            carry: 0,
            left: 0,
            elapsed: Span::ZERO,
            lengths,
            phase: pattern.phase,
            stream,
        }
    }

    /// Return the time before the first packet.
    pub fn first(&mut self) -> Span {
        let wait = match (self.phase, self.lengths) {
            (StartPhase::Aligned, _) => Span::ZERO,
            (StartPhase::Random, BurstLengths::Periodic { cycle, .. }) => {
                Span(self.stream.up_to(cycle.0 - 1))
            }
            (StartPhase::Random, BurstLengths::Random { activity, .. }) if self.stream.chance(activity) => {
                let packet = self.packet();
                Span(self.stream.up_to(packet.0.saturating_sub(1)))
            }
            (StartPhase::Random, BurstLengths::Random { off, .. }) => self.exponential(off),
        };
        self.begin();
        wait
    }

    /// Return the gap from one packet to the next; `data` says whether the next one carries data and so counts in its
    /// burst.
    pub fn gap(&mut self, data: bool) -> Span {
        let packet = self.packet();
        if !data || self.left > 0 {
            self.left -= u64::from(data);
            self.elapsed = self.elapsed + packet;
            return packet;
        }
        let gap = match self.lengths {
            BurstLengths::Periodic { cycle, .. } => {
                // If a code makes a burst longer than the cycle, the next burst begins later.
                let gap = packet.max(cycle.beyond(self.elapsed));
                self.elapsed = self.elapsed + gap - cycle;
                gap
            }
            BurstLengths::Random { off, .. } => packet + self.exponential(off),
        };
        self.begin();
        gap
    }

    /// Begin a burst with the next packet.
    fn begin(&mut self) {
        let packets = match self.lengths {
            BurstLengths::Periodic { burst, .. } => burst,
            BurstLengths::Random { burst, .. } => self.geometric(burst),
        };
        (self.left, self.carry) = (packets - 1, 0);
    }

    /// Return the gap from one packet of a burst to the next.
    fn packet(&mut self) -> Span {
        self.pace.step(&mut self.carry)
    }

    fn exponential(&mut self, mean: f64) -> Span {
        Span(libm::round(mean * self.stream.exponential()) as u64)
    }

    /// Draw a number from 1 on, geometrically distributed with this mean.
    fn geometric(&mut self, mean: f64) -> u64 {
        let step = -libm::log(1.0 - 1.0 / mean); // infinite for a mean of 1
        1 + libm::floor(self.stream.exponential() / step) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BITS: u64 = 32 * 424;

    fn pattern(distribution: Distribution) -> BurstPattern {
        let peak = Rate(100_000_000);
        BurstPattern {
            peak,
            burst: Some(50),
            on: None,
            activity: Some(0.1395),
            off: None,
            distribution,
            phase: StartPhase::Random,
        }
    }

    fn bursts(pattern: &BurstPattern, added: Added) -> Bursts {
        Bursts::new(pattern, BITS, added, Stream::new(5, "test"))
    }

    #[test]
    fn a_periodic_source_repeats_its_cycle_exactly() {
        let mut bursts = bursts(&pattern(Distribution::Periodic), Added::NOTHING);
        bursts.first();
        let gaps: Vec<u64> = (0..500).map(|_| bursts.gap(true).0).collect();
        let cycle = (50.0 * 135_680_000.0 / 0.1395_f64).round() as u64;
        for burst in gaps.chunks(50) {
            assert!(burst[..49].iter().all(|gap| *gap == 135_680_000));
            assert_eq!(burst.iter().sum::<u64>(), cycle);
        }
    }

    #[test]
    fn the_phase_is_drawn_over_the_whole_cycle() {
        let cycle = 50.0 * 135_680_000.0 / 0.1395;
        let phase = |seed| {
            let stream = Stream::new(seed, "test");
            Bursts::new(&pattern(Distribution::Periodic), BITS, Added::NOTHING, stream).first().0 as f64
        };
        let phases: Vec<f64> = (0..4000).map(|seed| phase(seed) / cycle).collect();
        assert!(phases.iter().all(|phase| (0.0..1.0).contains(phase)));
        let mean = phases.iter().sum::<f64>() / 4000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }

    #[test]
    fn an_exponential_source_is_anywhere_in_its_cycle_when_it_starts() {
        let first = |seed| {
            let stream = Stream::new(seed, "test");
            Bursts::new(&pattern(Distribution::Exponential), BITS, Added::NOTHING, stream).first().0
        };
        let packet = 135_680_000;
        let waits: Vec<u64> = (0..20_000).map(first).collect();
        let sending: Vec<f64> =
            waits.iter().filter(|wait| **wait < packet).map(|wait| *wait as f64).collect();
        // a silence that is shorter than a packet is rare: 0.1395 within bursts, 0.0028 outside
        let share = sending.len() as f64 / waits.len() as f64;
        assert!((share - 0.1423).abs() < 0.008, "{share}");
        let mean = sending.iter().sum::<f64>() / sending.len() as f64 / packet as f64;
        assert!((mean - 0.5).abs() < 0.03, "{mean}");
    }

    #[test]
    fn an_aligned_source_starts_with_a_burst() {
        for distribution in [Distribution::Periodic, Distribution::Exponential] {
            let pattern = BurstPattern { phase: StartPhase::Aligned, ..pattern(distribution) };
            let first = |seed| Bursts::new(&pattern, BITS, Added::NOTHING, Stream::new(seed, "test")).first();
            assert!((0..100).all(|seed| first(seed) == Span::ZERO), "{distribution:?}");
        }
    }

    #[test]
    fn an_exponential_source_has_the_load_and_the_burst_length_asked_for() {
        let mut bursts = bursts(&pattern(Distribution::Exponential), Added::NOTHING);
        bursts.first();
        let gaps: Vec<u64> = (0..400_000).map(|_| bursts.gap(true).0).collect();
        let silences = gaps.iter().filter(|gap| **gap > 135_680_000).count();
        let burst = gaps.len() as f64 / silences as f64;
        assert!((burst / 50.0 - 1.0).abs() < 0.03, "{burst}");
        let rate = gaps.len() as f64 * BITS as f64 * 1e12 / gaps.iter().sum::<u64>() as f64;
        assert!((rate / 13.95e6 - 1.0).abs() < 0.03, "{rate}");
    }

    #[test]
    fn parity_raises_the_rate_of_a_burst_and_leaves_its_length() {
        let added = Added { data: 10, all: 11, closer: true };
        let mut bursts = bursts(&pattern(Distribution::Periodic), added);
        bursts.first();
        let gaps: Vec<u64> = (1..=550).map(|n| bursts.gap(n % 11 < 10).0).collect();
        assert_eq!(gaps[..55].iter().sum::<u64>(), (50.0 * 135_680_000.0 / 0.1395_f64).round() as u64);
        // 11 packets in the time of 10: λ_eff = λ (1 + h / K)
        assert!((gaps[..54].iter().sum::<u64>()).abs_diff(54 * 135_680_000 * 10 / 11) <= 1);
    }

    #[test]
    fn parity_may_make_bursts_longer_instead() {
        let added = Added { data: 10, all: 11, closer: false };
        let mut bursts = bursts(&pattern(Distribution::Periodic), added);
        bursts.first();
        let gaps: Vec<u64> = (1..=55).map(|n| bursts.gap(n % 11 < 10).0).collect();
        assert!(gaps[..54].iter().all(|gap| *gap == 135_680_000));
        assert_eq!(gaps.iter().sum::<u64>(), (50.0 * 135_680_000.0 / 0.1395_f64).round() as u64);
    }

    #[test]
    fn a_pattern_says_every_length_once() {
        let right = pattern(Distribution::Periodic);
        assert_eq!(right.check(), Ok(()));
        let refused = |pattern: BurstPattern| pattern.check().unwrap_err().key;
        assert_eq!(refused(BurstPattern { burst: None, ..right }), Some("burst"));
        assert_eq!(refused(BurstPattern { on: Some(Span(1)), ..right }), Some("on"));
        assert_eq!(refused(BurstPattern { activity: None, ..right }), Some("activity"));
        assert_eq!(refused(BurstPattern { activity: Some(1.5), ..right }), Some("activity"));
        assert_eq!(refused(BurstPattern { off: Some(Span(1)), ..right }), Some("off"));
        let by_times = BurstPattern {
            burst: None,
            on: Some(Span(50 * 135_680_000)),
            activity: None,
            off: Some(Span(50 * 135_680_000)),
            ..right
        };
        assert_eq!(by_times.check(), Ok(()));
        assert_eq!(by_times.activity(BITS), 0.5);
        assert_eq!(by_times.burst_packets(BITS), 50.0);
    }
}
