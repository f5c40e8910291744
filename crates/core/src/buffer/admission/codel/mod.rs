//! # Source
//! K. Nichols, V. Jacobson, A. McGregor and J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289, 2018, section 5;
//! for `law = "linux"` the file `include/net/codel_impl.h` of Linux 6 (E. Dumazet and others).
//!
//! # Idea
//! A queue that becomes empty within every `interval` is harmless. If all packets have waited `target` or longer for
//! a whole `interval`, the packet at the head is discarded, and further ones at intervals that shrink with the square
//! root of their number, until a packet has waited less:
//!
//! > t ← t + interval / √count
//!
//! # Parameters
//! `target` and `interval`: 5 ms and 100 ms, those of RFC 8289 and of tc-codel(8). `law`: `exact` (default) or `linux`.
//! `action`: `drop` (default, as in tc-codel(8)) or `mark`, which marks packets that are ECN-capable, one for each
//! departure, and discards the others. `ce_threshold`: if given, every ECN-capable packet that has waited longer is
//! marked, whatever `action` is; off by default as in Linux. `mtu`: if at most this number of octets waits behind a
//! packet, nothing is discarded; by default the largest full frame of the circuits. `full`: what is lost when the
//! buffer is full, `arrival` (default) or `fattest-queue`, which discards packets from the head of the queue with the
//! most octets, half of these but at most `batch` (64) at a time, as FQ-CoDel does (RFC 8290, section 4.1;
//! tc-fq_codel(8)).
//!
//! # Differences from the paper
//! None with `law = "exact"`. Linux counts time in units of 1024 ns, asks for strictly more than `interval`, and takes 1/√count
//! from one step of Newton's method for each discarded packet: it discards its third packet 50 ms after the second, where
//! RFC 8289 has 70.7 ms. With `full = "fattest-queue"` a packet that a full buffer takes from the head counts as one that CoDel has
//! discarded, as in Linux. Each queue of the port has a state of its own. On a cell link a frame is judged when its first cell comes to the head
//! and discarded as a whole; the other cells of it count as the rest of a broken frame.
//!
//! # Complexity
//! Constant; six numbers per queue and a bit per circuit. The port stores the arrival time of each queued unit.

mod control;

use super::{Admission, Arrival, Context, Departure, Displaced, Head, HeadRule, Properties, Shortcuts};
use crate::metrics::state::Figure;
use crate::refused::{Refused, refuse_if};
use crate::units::ids::{IdVec, PortVc, QueueId};
use crate::units::{Bytes, Span, Time};
use crate::verdict::{Action, HeadVerdict, Reason, Verdict, Victim};
use crate::{choice, section};

use control::{Control, HeadPacket, LawClock};

choice! {
    /// How the time between two discarded packets follows from their number.
    pub enum Law {
        /// interval / √count, as in RFC 8289.
        Exact = "exact",
        /// In integers as in Linux.
        Linux = "linux",
    }
}

choice! {
    /// What is lost when the buffer is full.
    pub enum OverflowLoss {
        /// The packet that arrives.
        Arrival = "arrival",
        /// Packets at the head of the queue with the most octets.
        FattestQueue = "fattest-queue",
    }
}

section! {
    /// Discard packets at the head if all packets have waited too long for an interval.
    pub struct Params {
        /// Wait that is acceptable.
        pub target: Span = Span::millis(5),
        /// Time for which packets may wait longer than the target; a round trip in the worst case.
        pub interval: Span = Span::millis(100),
        /// How the time between two discarded packets follows from their number.
        pub law: Law = Law::Exact,
        /// What happens to a packet that is due to be discarded: `drop`, or `mark` where the transport reacts to
        /// marks (ECT).
        pub action: Action = Action::Drop,
        /// Wait above which a packet is marked in any case if its transport reacts to marks (ECT); by default there
        /// is no such limit.
        pub ce_threshold: Option<Span> = None,
        /// Octets behind a packet up to which it is not discarded; by default a full frame.
        pub mtu: Option<Bytes> = None,
        /// What is lost when the buffer is full.
        pub full: OverflowLoss = OverflowLoss::Arrival,
        /// Most packets that the queue with the most octets loses before the longest queue is determined again.
        pub batch: u64 = 64,
    }
}

/// CoDel at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    clock: LawClock,
    action: Action,
    ce_threshold: Option<Span>,
    mtu: u64,
    /// Greatest number of packets that the longest queue loses at a time when the buffer is full; `None` if the
    /// arriving packet is lost instead.
    batch: Option<u64>,
    /// Whether the policy discards the next departing unit at the head.
    is_discarding: bool,
    /// CoDel's state machine for each queue.
    controls: IdVec<QueueId, Control>,
    /// For each circuit whether the policy discards the frame at the head of the queue.
    discards: IdVec<PortVc, bool>,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let frame = context.contracts.iter().map(|contract| contract.octets).max().unwrap_or(0);
        refuse_if(params.batch == 0, "batch", "must be at least 1")?;
        refuse_if(params.interval == Span::ZERO, "interval", "must be greater than 0")?;
        // An interval is a round trip in the worst case, the target 5 to 10 % of it (RFC 8289, section 4.2).
        let most = format!("must be at most the interval of {}", params.interval);
        refuse_if(params.target > params.interval, "target", most)?;
        Ok(Policy {
            batch: (params.full == OverflowLoss::FattestQueue).then_some(params.batch),
            is_discarding: false,
            clock: LawClock::new(params.law, params.target, params.interval),
            action: params.action,
            ce_threshold: params.ce_threshold,
            mtu: params.mtu.map_or(frame, |mtu| mtu.0),
            controls: IdVec::filled(Control::default(), context.queues()),
            discards: IdVec::filled(false, context.vcs()),
        })
    }

    /// Decide about a frame whose first unit has come to the head.
    fn judge_frame(&mut self, head: &Head<'_>) -> HeadVerdict {
        let arrived = head.arrived.expect("the port keeps arrival times");
        let waiting = HeadPacket { now: head.now, arrived, is_short: head.behind <= self.mtu };
        let marks = self.action.marks(head.unit);
        let verdict = self.controls[head.queue].judge(&self.clock, waiting, marks);
        let is_old = self.ce_threshold.is_some_and(|threshold| head.now.since(arrived) > threshold);
        match verdict {
            HeadVerdict::Send if is_old && head.unit.is_ect() => HeadVerdict::Mark(Reason::Delay),
            verdict => verdict,
        }
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        match self.batch {
            _ if arrival.fits() => Verdict::Accept,
            Some(batch) => Verdict::Replace(Victim::FattestQueue(batch), Reason::PushedOut),
            None => Verdict::Discard(Reason::Overflow),
        }
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let discarded = std::mem::take(&mut self.is_discarding);
        if let Some(queue) = departure.queue
            && !discarded
            && self.batch.is_some()
        {
            self.controls[queue].overflowed();
        }
    }

    fn state(&self) -> Vec<Figure> {
        let counts = Figure::of_queues("count", self.controls.iter().map(|control| control.count().into()));
        let states = self.controls.iter().map(|control| f64::from(u8::from(control.is_dropping())));
        counts.chain(Figure::of_queues("dropping", states)).collect()
    }

    fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        let verdict = self.judge_head(head);
        self.is_discarding = matches!(verdict, HeadVerdict::Discard(_));
        verdict
    }

    fn properties(&self) -> Properties {
        let why = "codel with full = \"fattest-queue\" makes the room itself; leave full out";
        let bars_pushout = self.batch.map(|_| why);
        Properties {
            arrival_times: true,
            decides_at_head: true,
            splits_frames: true,
            displaces: if self.batch.is_some() { Displaced::FattestHead } else { Displaced::Nothing },
            bars_pushout,
            ..Properties::default()
        }
    }
}

impl Policy {
    fn judge_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        if !head.unit.is_first() {
            return match self.discards[head.vc] {
                true => HeadVerdict::Discard(Reason::Partial),
                false => HeadVerdict::Send,
            };
        }
        let verdict = self.judge_frame(head);
        self.discards[head.vc] = matches!(verdict, HeadVerdict::Discard(_));
        verdict
    }
}

impl Shortcuts for Policy {
    fn head_rule(&self) -> Option<HeadRule> {
        let marks = self.action == Action::Mark || self.ce_threshold.is_some();
        (!marks && self.batch.is_none()).then_some(HeadRule::JudgesFrames)
    }

    fn spares_until(&self, now: Time) -> Time {
        self.controls[QueueId(0)].spares_until(&self.clock, now)
    }
}

#[cfg(test)]
mod tests;
