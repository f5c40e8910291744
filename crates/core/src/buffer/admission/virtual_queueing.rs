//! # Source
//! Y. Wu, K.-Y. Siu, W. Ren, "Improved virtual queueing and dynamic EPD techniques for TCP over ATM", IEEE ICNP 1997,
//! and H.-Y. Tzeng, K.-Y. Siu before it; cited as VQ by paper 003 (D. Wu, H. J. Chao, 1998), sections 2 and 4.3.
//!
//! # Idea
//! A shared FIFO counts the lengths of the queues that per-circuit queueing would have: a cell joins the virtual
//! queue `M_i` of its circuit, but each departing cell is charged to the circuit that weighted round robin would have
//! served. With `credit_i` = MCR_i · T renewed every T, that is the next circuit with `M_i` > 0 and a credit left, or
//! else the next with `M_i` > 0. A frame is refused as a whole iff X ≥ Th and `M_i` > Th_i. Always Σ M_i = X.
//!
//! # Parameters
//! `threshold` Th: default a third of the buffer, 1000 of 3000 cells as in paper 003, section 4.1. `period` T:
//! default 1 ms, from the same section. `share`, the rule for Th_i, with N_v virtual queues not empty: `equal`
//! (default) Th / N_v, `mean` X / N_v, `mcr` Th · MCR_i / Σ MCR, `none` 0. `credits` (default true): without them
//! minimum cell rates are ignored and all virtual queues take equal turns, which already explains the rates in paper
//! 003's tables. `carry` (default false): whether the unused fraction of a credit is carried into the next period;
//! whole credits never are. `pass_eom` as for PPD.
//!
//! # Differences from the paper
//! Only abstracts were available; the arithmetic is from memory, and paper 003 does not print its rule for Th_i. On
//! ports that count octets or packets, credits are in that measure, and a packet costs as much as a full frame. One
//! departure may then be charged to several circuits, so that Σ M_i = X still holds. A unit lost from the queue is
//! first charged to its own circuit.
//!
//! # Complexity
//! A departure finds the next circuit by looking at two words, and at one more for every 4096 circuits in between; a
//! period visits every circuit.

use super::{Admission, Arrival, Context, Departure, Interest, Measure, Rule, Settled, Shortcuts};
use crate::buffer::context::Contract;
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::ring::Ring;
use crate::buffer::size::Level;
use crate::refused::{Refused, refuse};
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{CELL_BYTES, PS_PER_S, Span, Time};
use crate::verdict::{Reason, Verdict};
use crate::{choice, section};

choice! {
    /// How long a virtual queue may be above the threshold.
    pub enum Allotment {
        /// The threshold divided by the number of virtual queues in use.
        Equal = "equal",
        /// The mean length of the virtual queues in use.
        Mean = "mean",
        /// The circuit's part of all minimum cell rates; equal if no circuit has one.
        Mcr = "mcr",
        /// None: a frame may begin only in an empty virtual queue.
        None = "none",
    }
}

section! {
    /// Refuse whole frames of circuits whose virtual queue is too long.
    pub struct Params {
        /// Occupancy below which every frame is taken.
        pub threshold: Level = Level::Percent(33.333),
        /// Interval at which the credits of minimum cell rates are renewed.
        pub period: Span = Span::millis(1),
        /// How long a virtual queue may be above the threshold.
        pub share: Allotment = Allotment::Equal,
        /// Whether minimum cell rates earn credits; if not, all virtual queues take turns alike.
        pub credits: bool = true,
        /// Carry the fraction of a credit that is left over into the next period.
        pub carry: bool = false,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
    }
}

/// Virtual queueing at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    threshold: u64,
    share: Allotment,
    queues: Virtual,
    renewal: Option<Renewal>,
    mcr: IdVec<PortVc, u64>,
    mcr_total: u64,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        if params.period == Span::ZERO {
            return refuse("period", "must be longer than 0 s");
        }
        let mcr: IdVec<PortVc, u64> = context.contracts.iter().map(|contract| contract.mcr.0).collect();
        let counts = params.credits || params.share == Allotment::Mcr;
        let mcr_total = if counts { context.promised()? } else { 0 };
        Ok(Policy {
            threshold: context.level("threshold", params.threshold)?,
            share: params.share,
            queues: Virtual::new(context.vcs()),
            renewal: (params.credits && mcr_total > 0).then(|| Renewal::new(params, context)),
            mcr,
            mcr_total,
            frames: Frames::new(context.vcs(), params.pass_eom),
        })
    }

    /// Return whether X ≥ Th and M_i > Th_i.
    fn refuses(&self, vc: PortVc, pool: &Pool) -> bool {
        pool.total() >= self.threshold && self.is_long(vc, pool.total())
    }

    /// Return whether M_i > Th_i, without division.
    fn is_long(&self, vc: PortVc, total: u64) -> bool {
        let length = u128::from(self.queues.length[vc]);
        let (threshold, in_use) = (u128::from(self.threshold), u128::from(self.queues.in_use));
        match self.share {
            Allotment::None => length > 0,
            Allotment::Mean => length * in_use > u128::from(total),
            Allotment::Mcr if self.mcr_total > 0 => {
                length * u128::from(self.mcr_total) > threshold * u128::from(self.mcr[vc])
            }
            Allotment::Equal | Allotment::Mcr => length * in_use > threshold,
        }
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let Arrival { unit, vc, pool, size, .. } = *arrival;
        let refused = unit.is_first() && self.refuses(vc, pool);
        let verdict = self.frames.judge(unit, vc, arrival.fits(), || refused.then_some(Reason::Early));
        if verdict == Verdict::Accept {
            self.queues.join(vc, size);
        }
        verdict
    }

    fn settled(&mut self, _: &Unit, vc: PortVc, end: Settled) {
        if let Settled::TurnedAway { size } = end {
            let left = self.queues.leave(vc, size);
            self.queues.serve(size - left);
        }
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        if !departure.accepted {
            return;
        }
        let mut size = departure.size;
        if !departure.sent {
            size -= self.queues.leave(departure.vc, size);
        }
        self.queues.serve(size);
    }

    fn broken(&mut self, vc: PortVc, fragment: bool) {
        self.frames.broken(vc, fragment);
    }

    fn tick(&mut self, now: Time, _: &Pool, _: Span) -> Option<Time> {
        let renewal = self.renewal.as_mut()?;
        for vc in self.mcr.keys() {
            self.queues.grant(vc, renewal.credit(vc));
        }
        Some(now + renewal.period)
    }
}

impl Shortcuts for Policy {
    fn rule(&self) -> Option<Rule> {
        Some(Rule::Asked(Interest::Every))
    }
}

/// The credits that circuits earn in each period.
#[derive(Clone, Debug)]
struct Renewal {
    period: Span,
    carry: bool,
    accounts: IdVec<PortVc, VirtualAccount>,
}

/// The credit account of a circuit, in units of 10⁻¹² bits.
#[derive(Clone, Copy, Debug)]
struct VirtualAccount {
    /// Credit that the circuit earns in a period.
    earned: u128,
    /// Price of one unit in the port's measure.
    price: u128,
    /// Credit left over because only whole units are granted.
    left: u128,
}

impl Renewal {
    fn new(params: &Params, context: &Context<'_>) -> Renewal {
        let account = |contract: &Contract| {
            let earned = u128::from(contract.mcr.0) * u128::from(params.period.0);
            let octets = match context.measure {
                Measure::Cells => CELL_BYTES,
                Measure::Bytes => 1,
                Measure::Packets => contract.octets.max(1),
                Measure::MemoryCells(cell) => cell.octets.into(),
            };
            VirtualAccount { earned, price: u128::from(8 * octets) * u128::from(PS_PER_S), left: 0 }
        };
        let accounts = context.contracts.iter().map(account).collect();
        Renewal { period: params.period, carry: params.carry, accounts }
    }

    /// Return the credit of a period, MCR_i · T, in whole units of the port's measure.
    fn credit(&mut self, vc: PortVc) -> u64 {
        let VirtualAccount { earned, price, left } = &mut self.accounts[vc];
        let funds = *earned + *left;
        *left = if self.carry { funds % *price } else { 0 };
        u64::try_from(funds / *price).unwrap_or(u64::MAX)
    }
}

/// Virtual queues, served by a weighted round robin.
#[derive(Clone, Debug)]
struct Virtual {
    length: IdVec<PortVc, u64>,
    credit: IdVec<PortVc, u64>,
    in_use: u32,
    /// Circuits with M_i > 0, and among these the circuits with a credit left.
    backlogged: Ring<PortVc>,
    entitled: Ring<PortVc>,
}

impl Virtual {
    fn new(vcs: usize) -> Virtual {
        Virtual {
            length: IdVec::filled(0, vcs),
            credit: IdVec::filled(0, vcs),
            in_use: 0,
            backlogged: Ring::new(vcs),
            entitled: Ring::new(vcs),
        }
    }

    fn join(&mut self, vc: PortVc, size: u64) {
        self.in_use += u32::from(self.length[vc] == 0);
        self.length[vc] += size;
        self.mark(vc);
    }

    /// Remove up to `size` from one virtual queue; returns the amount removed.
    fn leave(&mut self, vc: PortVc, size: u64) -> u64 {
        let left = size.min(self.length[vc]);
        self.length[vc] -= left;
        self.in_use -= u32::from(left > 0 && self.length[vc] == 0);
        self.mark(vc);
        left
    }

    fn grant(&mut self, vc: PortVc, credit: u64) {
        self.credit[vc] = credit;
        self.mark(vc);
    }

    /// Remove `size` from the next virtual queues in turn: first from those with credits, which are charged for it.
    fn serve(&mut self, mut size: u64) {
        while size > 0 {
            if let Some(vc) = self.entitled.next(|_| true) {
                let left = self.leave(vc, size.min(self.credit[vc]));
                self.credit[vc] -= left;
                size -= left;
                self.mark(vc);
            } else {
                let vc =
                    self.backlogged.next(|_| true).expect("what leaves the buffer is in a virtual queue");
                size -= self.leave(vc, size);
            }
        }
    }

    fn mark(&mut self, vc: PortVc) {
        let backlogged = self.length[vc] > 0;
        self.backlogged.set(vc, backlogged);
        self.entitled.set(vc, backlogged && self.credit[vc] > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::size::BufferSize;
    use crate::rng::Stream;
    use crate::unit::{Flags, Unit};
    use crate::units::Rate;
    use crate::units::ids::{CircuitId, IdSlice, QueueId};

    fn params(threshold: u64) -> Params {
        Params {
            threshold: Level::Size(BufferSize::Cells(threshold)),
            period: Span::millis(1),
            share: Allotment::Equal,
            credits: true,
            carry: false,
            pass_eom: true,
        }
    }

    /// Circuits with these minimum cell rates, in cells per millisecond.
    fn bench(params: &Params, mcr: &[u64]) -> PolicyBench<Policy> {
        let alone = Context::alone(100, mcr.len());
        let rate = |cells: &u64| Contract { mcr: Rate(cells * 424_000), ..alone.contracts[PortVc(0)] };
        let contracts: Vec<Contract> = mcr.iter().map(rate).collect();
        PolicyBench::new(100, mcr.len(), |context| {
            Policy::new(params, &Context { contracts: IdSlice::new(&contracts), ..*context })
        })
    }

    fn lengths(bench: &PolicyBench<Policy>) -> Vec<u64> {
        bench.policy.queues.length.iter().copied().collect()
    }

    #[test]
    fn a_departure_is_charged_to_whom_round_robin_would_have_served() {
        let mut bench = bench(&params(50), &[0, 0, 0]);
        bench.offer(0, "1111");
        bench.offer(1, "11");
        assert_eq!(lengths(&bench), [4, 2, 0]);
        (0..4).for_each(|_| bench.depart(0));
        assert_eq!(lengths(&bench), [2, 0, 0], "all four were circuit 0's, but turns went 0, 1, 0, 1");
    }

    #[test]
    fn a_cell_lost_from_the_queue_is_charged_to_its_own_circuit_while_that_has_any() {
        let mut bench = bench(&params(50), &[0, 0]);
        bench.offer(0, "11");
        bench.offer(1, "11");
        let unit = Unit {
            vc: CircuitId(1),
            frame: 0,
            identity: 0,
            index: 0,
            bytes: 53,
            hop: 0,
            flags: Flags::default(),
        };
        for expected in [[2, 1], [2, 0], [1, 0]] {
            let (now, pool) = (Time::ZERO, &bench.pool);
            let of_sent = Departure::of_sent(now, &unit, PortVc(1), 1, pool);
            let departure = Departure { queue: Some(QueueId(0)), position: Some(0), sent: false, ..of_sent };
            bench.policy.departed(&departure);
            assert_eq!(lengths(&bench), expected);
        }
    }

    #[test]
    fn circuits_with_credits_are_served_first_until_the_credits_are_used_up() {
        let mut bench = bench(&params(50), &[0, 2]);
        assert_eq!(bench.tick(Time::ZERO), Some(Time::ZERO + Span::millis(1)));
        bench.offer(0, "1111");
        bench.offer(1, "1111");
        (0..2).for_each(|_| bench.depart(0));
        assert_eq!(lengths(&bench), [4, 2], "two credits of circuit 1");
        (0..2).for_each(|_| bench.depart(0));
        assert_eq!(lengths(&bench), [3, 1], "then round robin");
        bench.tick(Time::ZERO + Span::millis(1));
        bench.depart(1);
        assert_eq!(lengths(&bench), [3, 0]);
        bench.depart(1);
        assert_eq!(lengths(&bench), [2, 0], "a credit is of no use without a cell");
    }

    #[test]
    fn unused_credits_are_not_carried_over() {
        let mut bench = bench(&params(50), &[2]);
        (0..3).for_each(|i| assert!(bench.tick(Time::ZERO + Span::millis(i)).is_some()));
        assert_eq!(bench.policy.queues.credit, [2].into());
    }

    #[test]
    fn one_megabit_is_2_358_cells_per_millisecond_with_or_without_the_fraction() {
        for (carry, granted) in [(true, 2358), (false, 2000)] {
            let contracts =
                [Contract { mcr: Rate(1_000_000), ..Context::alone(100, 1).contracts[PortVc(0)] }];
            let context = Context { contracts: IdSlice::new(&contracts), ..Context::alone(100, 1) };
            let mut renewal = Renewal::new(&Params { carry, ..params(50) }, &context);
            assert_eq!((0..1000).map(|_| renewal.credit(PortVc(0))).sum::<u64>(), granted);
        }
    }

    #[test]
    fn above_the_threshold_a_frame_is_refused_if_its_virtual_queue_is_longer_than_the_share() {
        let mut bench = bench(&params(6), &[0, 0]);
        assert_eq!(bench.offer(0, "11111"), "AAAAA");
        assert_eq!(bench.offer(1, "1"), "A");
        // X = Th = 6 of two: the share is 3
        assert_eq!(bench.offer(0, "f.e"), "rrr");
        assert_eq!(bench.offer(1, "f.e"), "AAA");
        assert_eq!(bench.offer(1, "1"), "r", "M = 4");
    }

    #[test]
    fn below_the_threshold_everything_is_accepted() {
        let mut bench = bench(&params(6), &[0, 0]);
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.offer(0, "1111"), "AAAA");
        assert_eq!(bench.offer(0, "f.e"), "AAA");
    }

    #[test]
    fn the_share_may_follow_the_mean_or_the_minimum_cell_rates() {
        let answers = |share| {
            let mut bench = bench(&Params { share, ..params(8) }, &[1, 3]);
            bench.offer(0, "111");
            bench.offer(1, "111111");
            [bench.offer(0, "1"), bench.offer(1, "1")].concat()
        };
        assert_eq!(answers(Allotment::Equal), "Ar", "3 and 6 of 4");
        assert_eq!(answers(Allotment::Mean), "Ar", "3 of 4.5, 6 of 5");
        assert_eq!(answers(Allotment::Mcr), "rA", "3 of 2, 6 of 6");
    }

    #[test]
    fn at_exactly_its_share_a_virtual_queue_is_not_too_long() {
        for share in [Allotment::Equal, Allotment::Mean] {
            let mut bench = bench(&Params { share, ..params(4) }, &[0, 0]);
            bench.offer(0, "11");
            bench.offer(1, "11");
            assert_eq!(bench.offer(0, "11"), "Ar", "{share:?}: 2 of 2, then 3");
        }
    }

    #[test]
    fn shares_by_minimum_cell_rates_are_equal_if_no_circuit_has_one() {
        let mut bench = bench(&Params { share: Allotment::Mcr, ..params(8) }, &[0, 0]);
        bench.offer(0, "111");
        bench.offer(1, "111111");
        assert_eq!([bench.offer(0, "1"), bench.offer(1, "1")].concat(), "Ar", "3 and 6 of 4");
    }

    #[test]
    fn without_any_share_a_frame_begins_only_in_an_empty_virtual_queue() {
        let mut bench = bench(&Params { share: Allotment::None, ..params(2) }, &[1, 3]);
        bench.offer(0, "1111");
        assert_eq!([bench.offer(0, "1"), bench.offer(1, "1"), bench.offer(1, "1")].concat(), "rAr");
    }

    #[test]
    fn without_credits_minimum_cell_rates_do_not_count() {
        let mut bench = bench(&Params { credits: false, ..params(50) }, &[0, 2]);
        assert_eq!(bench.tick(Time::ZERO), None);
        bench.offer(0, "1111");
        bench.offer(1, "1111");
        (0..4).for_each(|_| bench.depart(0));
        assert_eq!(lengths(&bench), [2, 2], "turn by turn");
    }

    #[test]
    fn without_any_mcr_there_is_no_clock_to_keep() {
        assert_eq!(bench(&params(6), &[0, 0]).tick(Time::ZERO), None);
    }

    #[test]
    fn virtual_queues_always_add_up_to_the_real_one() {
        let mut bench = bench(&params(40), &[0, 1, 2, 7, 0]);
        let mut draw = Stream::new(3, "test");
        for step in 0..20_000u64 {
            match draw.up_to(9) {
                0..=4 => {
                    drop(bench.offer(draw.up_to(4) as u32, ["1", "f.e", "f...e"][draw.up_to(2) as usize]))
                }
                _ => {
                    let vc = draw.up_to(4) as u32;
                    if bench.pool.of(PortVc(vc)) > 0 {
                        bench.depart(vc);
                    }
                }
            }
            if step % 10 == 0 {
                bench.tick(Time(step));
            }
            assert_eq!(lengths(&bench).iter().sum::<u64>(), bench.pool.total());
            let in_use = lengths(&bench).iter().filter(|&&length| length > 0).count();
            assert_eq!(bench.policy.queues.in_use as usize, in_use);
        }
    }
}
