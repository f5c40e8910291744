//! # Source
//! D. Lin, R. Morris, "Dynamics of random early detection", ACM SIGCOMM 1997; cited by paper 002 (A. Rácz, G. Fodor,
//! Z. Turányi, 1999), section II, for its classes of non-adaptive, fragile and robust sources.
//!
//! # Idea
//! RED with the backlog of each circuit. A circuit that keeps more than its part of the queue is limited to the
//! average share `avg / N` and gets a strike; a circuit with only a few packets is never discarded at random. With
//! `N` circuits backlogged and share = max(avg / N, one packet), a packet of a circuit with `own` queued is discarded
//! and the circuit given a strike iff
//!
//! > own ≥ most, or avg ≥ maxth and own > 2 · share, or own ≥ share and strikes > 1
//!
//! where most = minth, but two packets from avg ≥ maxth on. Otherwise RED's random discard applies if own ≥
//! max(`min_packets`, share). From avg ≥ maxth on it applies to every packet and discards all.
//!
//! # Parameters
//! `weight`, `max_p`, `min_threshold`, `max_threshold` as for RED. `min_packets`: backlog in packets that a circuit
//! may always have, default 2. `action` as for RED, for random discard only: a circuit that exceeds its part of the
//! queue is assumed not to react to marks.
//!
//! # Differences from the paper
//! Experimental: written from a description, not from the paper, and no figure of it has been reproduced. Backlogs are
//! in the port's measure and a packet is the circuit's full frame; frames are refused at their first cell and cut
//! short by PPD if they overflow. The average is sampled at the first cell of each arriving frame and at the last one
//! of each departing frame.
//!
//! # Complexity
//! Constant; two bits and a strike counter per circuit.

use super::{Admission, Arrival, Context, Departure, Interest, Rule, Shortcuts, red};
use crate::buffer::context::Contract;
use crate::buffer::pool::Pool;
use crate::buffer::size::Level;
use crate::metrics::state::Figure;
use crate::refused::{Refused, refuse};
use crate::section;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{Span, Time};
use crate::verdict::{Action, Reason, Verdict};

section! {
    /// Random early detection that uses each circuit's backlog.
    pub struct Params {
        /// Weight of a new sample in the average queue.
        pub weight: f64 = 0.002,
        /// Probability of discard when the average reaches the upper threshold.
        pub max_p: f64 = 0.02,
        /// Average below which nothing is discarded at random, and the most that one circuit may hold.
        pub min_threshold: Level = Level::Percent(25.0),
        /// Average from which every packet is discarded.
        pub max_threshold: Level = Level::Percent(75.0),
        /// Packets that a circuit may hold without taking part in random discard.
        pub min_packets: u32 = 2,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
        /// What happens to a packet that is drawn: `drop`, or `mark` where the transport reacts to marks (ECT). A
        /// packet of a circuit above its limit is always discarded.
        pub action: Action = Action::Drop,
    }
}

/// Flow random early drop at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    red: red::Policy,
    min_packets: f64,
    circuits: IdVec<PortVc, FredCircuit>,
}

/// The state of a circuit.
#[derive(Clone, Copy, Debug)]
struct FredCircuit {
    /// A full frame, in the port's measure.
    packet: f64,
    /// Number of times the circuit has exceeded its share since its backlog was last empty.
    strikes: u32,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let Params { weight, max_p, min_threshold, max_threshold, min_packets, pass_eom, action } = *params;
        let (curve, packet_time) = (red::Curve::Classic, None);
        let red = red::Params {
            weight,
            max_p,
            min_threshold,
            max_threshold,
            curve,
            packet_time,
            pass_eom,
            action,
            adaptive: false,
            interval: Span::millis(500),
            byte_mode: false,
            count: red::Count::Octets,
            mtu: None,
            yellow: None,
            red: None,
        };
        let red = red::Policy::drawing(&red, context, "fred")?;
        if red.detector.min() == 0.0 {
            return refuse("min_threshold", "must be greater than 0; with 0 no circuit may hold a unit");
        }
        Ok(Policy {
            red,
            min_packets: f64::from(min_packets),
            circuits: context.contracts.iter().map(FredCircuit::new).collect(),
        })
    }

    /// Decide whether a frame that starts now is refused or marked; the error is the reason for which the frame is
    /// lost even if frames are marked.
    fn refuses(&mut self, now: Time, unit: &Unit, vc: PortVc, pool: &Pool) -> Result<Option<Reason>, Reason> {
        let detector = &mut self.red.detector;
        detector.sample(now, pool.total());
        let FredCircuit { packet, strikes } = &mut self.circuits[vc];
        let own = pool.of(vc) as f64;
        let share = (detector.average() / f64::from(pool.active().max(1))).max(*packet);
        let above = detector.is_above();
        let most = if above { 2.0 * *packet } else { detector.min() };
        if own >= most || (above && own > 2.0 * share) || (own >= share && *strikes > 1) {
            *strikes += 1;
            return Err(Reason::Early);
        }
        detector.count();
        let robust = own >= share.max(self.min_packets * *packet);
        Ok(if above || robust { self.red.draw(unit) } else { None })
    }
}

impl FredCircuit {
    fn new(contract: &Contract) -> FredCircuit {
        FredCircuit { packet: contract.frame.max(1) as f64, strikes: 0 }
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let Arrival { now, unit, vc, pool, .. } = *arrival;
        match unit.is_first().then(|| self.refuses(now, unit, vc, pool)).transpose() {
            Ok(refused) => self.red.judge_frame(arrival, refused.flatten()),
            Err(reason) => self.red.refuse(vc, reason),
        }
    }

    fn state(&self) -> Vec<Figure> {
        self.red.state()
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let Departure { unit, vc, pool, .. } = *departure;
        if unit.is_eom() {
            self.red.detector.sample_behind(pool.total());
        }
        if pool.of(vc) == 0 {
            self.circuits[vc].strikes = 0;
        }
        self.red.departed(departure);
    }

    fn broken(&mut self, vc: PortVc, fragment: bool) {
        self.red.broken(vc, fragment);
    }
}

impl Shortcuts for Policy {
    fn rule(&self) -> Option<Rule> {
        self.red.unless_marking(Rule::Asked(Interest::Ends))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::capacity::Capacity;
    use crate::buffer::size::BufferSize;

    fn params(min: u64, max: u64, max_p: f64) -> Params {
        let cells = |n| Level::Size(BufferSize::Cells(n));
        Params {
            weight: 1.0,
            max_p,
            min_threshold: cells(min),
            max_threshold: cells(max),
            min_packets: 2,
            pass_eom: true,
            action: Action::Drop,
        }
    }

    /// Packets of 32 cells.
    fn long(params: Params) -> PolicyBench<Policy> {
        PolicyBench::new(1000, 3, move |context| Policy::new(&params, context))
    }

    /// Packets of one cell, and an average that is the queue itself.
    fn bench(min: u64, max: u64, max_p: f64) -> PolicyBench<Policy> {
        let params = params(min, max, max_p);
        PolicyBench::new(60, 3, move |context| {
            let mut policy = Policy::new(&params, context)?;
            policy.circuits.iter_mut().for_each(|circuit| circuit.packet = 1.0);
            Ok(policy)
        })
    }

    #[test]
    fn a_non_adaptive_circuit_is_held_to_minth_and_gets_a_strike_for_each_attempt() {
        let mut bench = bench(4, 50, 0.0);
        assert_eq!(bench.offer(0, "111111"), "AAAArr");
        assert_eq!(bench.policy.circuits[PortVc(0)].strikes, 2);
    }

    #[test]
    fn a_circuit_above_its_limit_is_held_although_its_packets_could_be_marked() {
        let mut bench = PolicyBench::new(60, 3, |context| {
            Policy::new(&Params { action: Action::Mark, ..params(4, 50, 0.0) }, context)
        });
        assert_eq!(bench.offer(0, "222222"), "AAAArr");
    }

    #[test]
    fn with_two_strikes_a_circuit_is_held_to_the_average_share() {
        let mut bench = bench(4, 50, 0.0);
        bench.offer(0, "111111");
        bench.offer(1, "11");
        bench.depart(0);
        // X = 5 of two circuits: a share of 2.5, and circuit 0 holds 3
        assert_eq!(bench.offer(0, "1"), "r");
        assert_eq!(bench.offer(1, "1"), "A");
    }

    #[test]
    fn strikes_are_forgotten_when_the_circuit_has_nothing_queued() {
        let mut bench = bench(4, 50, 0.0);
        bench.offer(0, "111111");
        (0..4).for_each(|_| bench.depart(0));
        assert_eq!(bench.policy.circuits[PortVc(0)].strikes, 0);
        assert_eq!(bench.offer(0, "11"), "AA");
    }

    #[test]
    fn a_fragile_circuit_with_less_than_two_packets_is_never_discarded_at_random() {
        let mut bench = bench(2, 4, 1.0);
        (0..3).for_each(|vc| bench.pool.add(PortVc(vc), 1));
        for _ in 0..100 {
            // avg = 3 and p_b = 0.5; one packet is a share of the queue, but less than two packets
            assert_eq!(bench.offer(0, "1"), "A");
            bench.depart(0);
        }
    }

    #[test]
    fn the_two_packets_are_full_frames_of_the_circuit() {
        let mut bench = long(params(100, 400, 1.0));
        (0..3).for_each(|vc| bench.pool.add(PortVc(vc), 50));
        for _ in 0..100 {
            // avg = 150 and p_b = 1/6; 50 cells are a share of the queue, but less than two packets
            assert_eq!(bench.offer(0, "1"), "A");
            bench.depart(0);
        }
    }

    #[test]
    fn from_maxth_on_a_circuit_may_hold_less_than_two_packets() {
        let mut bench = long(params(50, 100, 0.0));
        bench.pool.add(PortVc(0), 63);
        bench.pool.add(PortVc(1), 64);
        assert_eq!([bench.offer(0, "1"), bench.offer(1, "1")].concat(), "mr");
    }

    #[test]
    fn a_circuit_with_more_than_one_strike_is_held_to_its_share_which_is_a_packet_at_least() {
        let mut bench = long(params(50, 400, 0.0));
        let mut verdict = |strikes, (own, other)| {
            bench.pool = Pool::new(Capacity::limited(1000), 3);
            bench.pool.add(PortVc(0), own);
            bench.pool.add(PortVc(1), other);
            bench.policy.circuits[PortVc(0)].strikes = strikes;
            bench.offer(0, "1")
        };
        assert_eq!([verdict(1, (40, 40)), verdict(2, (40, 40)), verdict(2, (40, 41))].concat(), "ArA");
        assert_eq!([verdict(2, (31, 1)), verdict(2, (32, 0))].concat(), "Ar");
    }

    #[test]
    fn packets_are_counted_between_random_discards_so_that_gaps_never_exceed_the_reciprocal_of_p_b() {
        let mut bench = bench(20, 52, 0.5);
        let mut offer = || {
            bench.pool = Pool::new(Capacity::limited(60), 3);
            (0..2).for_each(|vc| bench.pool.add(PortVc(vc), 18)); // p_b = 1/4
            bench.offer(0, "1")
        };
        let answers: String = (0..400).map(|_| offer()).collect();
        assert!(!answers.contains("AAAA"), "{answers}");
    }

    #[test]
    fn the_average_is_sampled_when_packets_arrive_and_when_they_leave() {
        let mut bench = long(Params { weight: 0.5, ..params(900, 1000, 0.0) });
        assert_eq!(bench.offer(0, "f.e"), "AAA", "sampled at 0");
        bench.send(0, 'f');
        assert_eq!(bench.policy.red.detector.average(), 0.0, "only with whole packets");
        bench.send(0, 'e');
        assert_eq!(bench.policy.red.detector.average(), 0.5, "one cell is left");
    }

    #[test]
    fn while_the_port_is_idle_the_average_decays_with_every_packet_time() {
        let mut bench = long(Params { weight: 0.5, ..params(900, 1000, 0.0) });
        bench.offer(0, "1111");
        let average = bench.policy.red.detector.average();
        bench.now += Span::secs(1);
        (0..4).for_each(|_| bench.depart(0));
        bench.now += Span(2 * 32 * 2_726_337);
        bench.offer(0, "1");
        assert!((bench.policy.red.detector.average() / (average / 4.0) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn random_discard_falls_on_robust_circuits_only() {
        let mut bench = bench(20, 50, 1.0);
        bench.pool.add(PortVc(0), 19);
        bench.pool.add(PortVc(1), 19);
        // X = 38, p_b = 0.6: circuit 0 is at its share of 19, circuit 2 has nothing
        let offer = |_| {
            let answer = bench.offer(0, "1");
            bench.pool.remove(PortVc(0), u64::from(answer == "A"));
            answer
        };
        let robust: String = (0..40).map(offer).collect();
        assert!(robust.contains('m'));
        assert_eq!(bench.offer(2, "11"), "AA");
    }

    #[test]
    fn from_maxth_on_everything_is_discarded() {
        let mut bench = bench(20, 30, 0.0);
        bench.pool.add(PortVc(0), 15);
        bench.pool.add(PortVc(1), 15);
        assert_eq!(bench.offer(2, "1"), "m");
        assert_eq!(bench.offer(0, "1"), "r", "more than two packets");
    }

    #[test]
    fn a_lower_threshold_of_0_is_refused() {
        let why = Policy::new(&params(0, 100, 0.02), &Context::alone(1000, 1)).unwrap_err().to_string();
        assert_eq!(why, "min_threshold: must be greater than 0; with 0 no circuit may hold a unit");
    }
}
