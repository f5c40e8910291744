//! # Source
//! K. Nichols, V. Jacobson, A. McGregor and J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289, 2018, section 5;
//! for `law = "linux"` the file `include/net/codel_impl.h` of Linux 6 (E. Dumazet and others).
//!
//! # Idea
//! A queue that empties within `interval` again and again is a good one. If packets have waited `target` or longer for
//! a whole `interval`, the packet at the head is discarded, and further ones at intervals that shrink with the square root of
//! their number until a packet has waited less:
//!
//! > t ← t + interval / √count
//!
//! # Parameters
//! `target` and `interval`: 5 ms and 100 ms, those of RFC 8289 and of tc-codel(8). `law`: `exact` (default) or `linux`.
//! `action`: `drop` (default, as in tc-codel(8)) or `mark`, which marks packets that are ECN-capable, one for each
//! departure, and discards the others. `ce_threshold`: if given, every ECN-capable packet is marked that has waited longer,
//! whatever `action` is; off by default as in Linux. `mtu`: with no more octets than this behind a packet nothing is
//! discarded; by default the largest full frame of the circuits.
//!
//! # Differences from the paper
//! None with `law = "exact"`. Linux counts time in units of 1024 ns, asks for strictly more than `interval`, and takes 1/√count
//! from one step of Newton's method for each discarded packet: it discards its third packet 50 ms after the second, where
//! RFC 8289 has 70.7 ms.
//! Each queue of the port has a state of its own. On a cell link a frame is judged when its first cell comes to the head
//! and discarded as a whole; the other cells of it count as the rest of a broken frame.
//!
//! # Complexity
//! Constant; six numbers per queue and a bit per circuit. The port stores the arrival time of each queued unit.

mod control;

use super::{Admission, Arrival, Context, Head, Needs, Shortcuts};
use crate::buffer::verdict::{Action, HeadVerdict, Reason, Verdict};
use crate::refused::Refused;
use crate::units::{Bytes, Span};
use crate::{choice, section};

use control::{Clock, Control, Waiting};

choice! {
    /// How the time between two discarded packets follows from their number.
    pub enum Law {
        /// interval / √count, as in RFC 8289.
        Exact = "exact",
        /// In integers as in Linux.
        Linux = "linux",
    }
}

section! {
    /// Discard packets at the head if all have waited too long for an interval.
    pub struct Params {
        /// Wait that is acceptable.
        pub target: Span = Span::millis(5),
        /// Time for which packets may wait longer than the target; a round trip in the worst case.
        pub interval: Span = Span::millis(100),
        /// How the time between two discarded packets follows from their number.
        pub law: Law = Law::Exact,
        /// What happens to a packet whose turn it is: `drop`, or `mark` where the transport reacts to marks (ECT).
        pub action: Action = Action::Drop,
        /// Wait above which every packet is marked whose transport reacts to marks (ECT); by default none is.
        pub ce_threshold: Option<Span> = None,
        /// Octets behind a packet up to which it is not discarded; by default a full frame.
        pub mtu: Option<Bytes> = None,
    }
}

/// CoDel at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    clock: Clock,
    action: Action,
    ce_threshold: Option<Span>,
    mtu: u64,
    /// By queue.
    controls: Vec<Control>,
    /// By circuit whether the frame is discarded whose cells come to the head.
    discards: Vec<bool>,
}

impl Policy {
    /// The policy at one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let frame = context.contracts.iter().map(|contract| contract.octets).max().unwrap_or(0);
        Ok(Policy {
            clock: Clock::new(params.law, params.target, params.interval),
            action: params.action,
            ce_threshold: params.ce_threshold,
            mtu: params.mtu.map_or(frame, |mtu| mtu.0),
            controls: vec![Control::default(); context.vcs().max(1)],
            discards: vec![false; context.vcs()],
        })
    }

    /// The first unit of a frame has come to the head.
    fn judge_frame(&mut self, head: &Head<'_>) -> HeadVerdict {
        let arrived = head.arrived.expect("the port keeps arrival times");
        let waiting = Waiting { now: head.now, arrived, is_short: head.behind <= self.mtu };
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
        if arrival.fits() { Verdict::Accept } else { Verdict::Discard(Reason::Overflow) }
    }

    fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
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

    fn needs(&self) -> Needs {
        Needs { arrival_times: true, ..Needs::default() }
    }

    fn goes_by_frames(&self) -> bool {
        false
    }
}

impl Shortcuts for Policy {}

#[cfg(test)]
mod tests;
