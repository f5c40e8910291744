//! # Source
//! K. De Schepper, B. Briscoe and G. White, "Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, Low Loss, and
//! Scalable Throughput (L4S)", RFC 9332, 2023, sections 2.4 and 2.5.1.1; `net/sched/sch_dualpi2.c` of Linux 6.17.
//!
//! # Idea
//! The congestion notification of a packet says which of two queues it joins: L if it has ECT(1) or CE, else C. L goes first,
//! but while both wait, C may send its share. A credit in octets decides, which L fills and C uses up:
//!
//! > L sends: credit ← credit + w · octets, C sends: credit ← credit − (1 − w) · octets
//!
//! L is served if C is empty or the credit is not above 0.
//!
//! # Parameters
//! `classic_share` w: 10 %, that of Linux (`classic_protection`). `mtu`: the largest full frame of the circuits by default. When
//! both queues are empty the credit returns to mtu · (2 · w − 1), as in Linux.
//!
//! # Differences from the paper
//! RFC 9332 leaves the scheduler open; this one is that of Linux. A packet that the admission policy discards at the head
//! does not change the credit. Packets of one circuit may overtake each other. On cell links there is no such scheduler.
//!
//! # Complexity
//! Constant.

use super::{Context, Queues, Scheduler};
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::ids::QueueId;
use crate::units::{Bytes, PartsPerMillion, Time};

section! {
    /// Serve packets with ECT(1) or CE first, and leave the others a share.
    pub struct Params {
        /// Share of the line that packets with neither ECT(1) nor CE may have while both queues wait.
        pub classic_share: PartsPerMillion = PartsPerMillion(100_000),
        /// Octets of a full packet; by default a full frame.
        pub mtu: Option<Bytes> = None,
    }
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::ByNotification;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = true;

/// The two queues of one port.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Change of the credit by an octet of the classic and of the L4S queue.
    prices: [i64; 2],
    /// The credit at the start and after both queues have been empty.
    start: i64,
    credit: i64,
    /// Number of packets that wait in each queue.
    units: [u64; 2],
}

/// The number of the queue of packets with neither ECT(1) nor CE.
const CLASSIC: QueueId = QueueId(0);
/// The number of the queue of packets with ECT(1) or CE.
const L4S: QueueId = QueueId(1);
/// A share of 1, in parts per million.
const ONE: i64 = 1_000_000;

impl Policy {
    /// Build the scheduler of one port; the error says why its share cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let PartsPerMillion(share) = params.classic_share;
        refuse_if(share > ONE as u64, "classic_share", "must be at most 100 %")?;
        let frame = context.contracts.iter().map(|contract| contract.octets).max().unwrap_or(0);
        let mtu = params.mtu.map_or(frame, |mtu| mtu.0).min(u16::MAX.into());
        let gain = share as i64;
        let start = mtu as i64 * (2 * gain - ONE);
        Ok(Policy { prices: [gain - ONE, gain], start, credit: start, units: [0; 2] })
    }
}

impl Scheduler for Policy {
    fn joined(&mut self, queue: QueueId) {
        self.units[queue.index()] += 1;
    }

    fn left(&mut self, queue: QueueId, _: bool) {
        self.units[queue.index()] -= 1;
    }

    fn next(&mut self, _: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        let queue = match self.units {
            [0, 0] => {
                self.credit = self.start;
                return None;
            }
            [0, _] => L4S,
            [_, 0] => CLASSIC,
            _ if self.credit <= 0 => L4S,
            _ => CLASSIC,
        };
        may_send(queue).then_some(queue)
    }

    fn sent(&mut self, queue: QueueId, octets: u64) {
        if self.units[1 - queue.index()] > 0 {
            self.credit += self.prices[queue.index()] * octets as i64;
        }
    }

    fn goes_by_notification(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serde_json::Value as Json;
    use crate::vectors::vector;

    fn policy(classic_share: u64, mtu: u64) -> Policy {
        let params = Params { classic_share: PartsPerMillion(classic_share), mtu: Some(Bytes(mtu)) };
        Policy::new(&params, &Context::alone(100, 1)).unwrap()
    }

    /// Send this many packets of this many octets; returns their queues, `L` and `C`, and the credit after each in
    /// octets.
    fn serve(policy: &mut Policy, packets: usize, octets: u64) -> Vec<(char, f64)> {
        let mut turn = |_| {
            let queue = policy.next(Time::ZERO, &mut |_| true)?;
            policy.left(queue, policy.units[queue.index()] == 1);
            policy.sent(queue, octets);
            Some((['C', 'L'][queue.index()], policy.credit as f64 / ONE as f64))
        };
        (0..packets).map_while(&mut turn).collect()
    }

    fn join(policy: &mut Policy, queue: QueueId, packets: usize) {
        (0..packets).for_each(|_| policy.joined(queue));
    }

    #[test]
    fn the_credit_says_whose_turn_it_is_while_both_wait() {
        for case in vector("dualpi2")["scheduler"].as_array().unwrap() {
            let number = |key: &str| case[key].as_f64().unwrap();
            let mut policy = policy((1e6 * number("classic_share")).round() as u64, number("mtu") as u64);
            join(&mut policy, CLASSIC, 100);
            join(&mut policy, L4S, 100);
            let turns = serve(&mut policy, case["order"].as_str().unwrap().len(), number("octets") as u64);
            let order: String = turns.iter().map(|(queue, _)| queue).collect();
            assert_eq!(Json::from(order), case["order"]);
            let credits: Vec<f64> = turns.iter().map(|(_, credit)| *credit).collect();
            assert_eq!(Json::from(credits), case["credit"]);
        }
    }

    #[test]
    fn a_classic_queue_that_waits_gets_its_share_and_no_more() {
        let mut policy = policy(100_000, 1500);
        join(&mut policy, CLASSIC, 10_000);
        join(&mut policy, L4S, 10_000);
        let classic = serve(&mut policy, 10_000, 1500).iter().filter(|(queue, _)| *queue == 'C').count();
        assert!((995..=1000).contains(&classic), "{classic}");
    }

    #[test]
    fn a_queue_that_waits_alone_is_served_and_changes_no_credit() {
        let mut policy = policy(100_000, 1000);
        join(&mut policy, CLASSIC, 2);
        assert_eq!(serve(&mut policy, 9, 1000), [('C', -800.0), ('C', -800.0)]);
        join(&mut policy, L4S, 2);
        assert_eq!(serve(&mut policy, 9, 1000), [('L', -800.0), ('L', -800.0)]);
    }

    #[test]
    fn when_both_are_empty_the_credit_returns_to_its_start() {
        let mut policy = policy(500_000, 1000);
        join(&mut policy, L4S, 2);
        join(&mut policy, CLASSIC, 1);
        assert_eq!(serve(&mut policy, 3, 1000), [('L', 500.0), ('C', 0.0), ('L', 0.0)]);
        join(&mut policy, L4S, 1);
        join(&mut policy, CLASSIC, 1);
        policy.credit = 7 * ONE;
        assert_eq!(serve(&mut policy, 3, 1000)[0].0, 'C');
        assert_eq!(policy.credit, 0, "that of a share of a half");
    }

    #[test]
    fn a_packet_that_is_discarded_at_the_head_leaves_the_credit_as_it_is() {
        let mut policy = policy(100_000, 1000);
        join(&mut policy, CLASSIC, 1);
        join(&mut policy, L4S, 1);
        let credit = policy.credit;
        assert_eq!(policy.next(Time::ZERO, &mut |_| true), Some(L4S));
        policy.left(L4S, true);
        assert_eq!((policy.next(Time::ZERO, &mut |_| true), policy.credit), (Some(CLASSIC), credit));
    }

    #[test]
    fn a_share_above_one_is_refused() {
        let params = Params { classic_share: PartsPerMillion(1_000_001), mtu: None };
        let why = Policy::new(&params, &Context::alone(100, 1)).unwrap_err().to_string();
        assert_eq!(why, "classic_share: must be at most 100 %");
    }
}
