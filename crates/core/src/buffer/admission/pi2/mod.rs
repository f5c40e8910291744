//! # Source
//! K. De Schepper, O. Bondarenko, I.-J. Tsang and B. Briscoe, "PI²: A linearized AQM for both classic and scalable TCP", ACM
//! CoNEXT 2016; the same, B. Briscoe and G. White, "Dual-Queue Coupled Active Queue Management (AQM)", RFC 9332, 2023, section
//! 2 and appendix A; for `law = "linux"` the file `net/sched/sch_dualpi2.c` of Linux 6.17.
//!
//! # Idea
//! A controller sets a base probability p' every `update`, so that packets wait `target` in the end. With d the longest wait of
//! a packet at the head of a queue,
//!
//! > p' ← p' + alpha · (d − target) + beta · (d − d_old)
//!
//! A packet at the head without ECT(1) and CE is classic: it is discarded, or marked, with the probability p'². Any other one
//! is of a scalable sender, and marked with the probability k · p', since its sender reacts to single marks in proportion: so
//! both get about the same rate. It is marked too if it has waited longer than `step` and its queue
//! holds more than `mtu` octets, the packet included (`Th_len` of RFC 9332): on a slow line the only packet may take longer than
//! `step`, and shows no queue.
//!
//! # Parameters
//! `target`: 15 ms, `update`: 16 ms, `alpha` and `beta`: 0.16 and 3.2 per second, `coupling` k: 2, `step`: 1 ms, those of Linux.
//! `law`: `exact` (default) or `linux`. `action`: `mark` (default), which marks classic packets that are ECN-capable and discards
//! the others, or `drop`, which discards all classic packets that are drawn; packets of scalable senders are marked in either
//! case. `overload`: what happens when k · p' exceeds 1: `drop` (default), where every packet that p'² draws is discarded,
//! or `overflow`, where p' is at most 1 / k and the buffer fills. `mtu`: by default the largest full frame of the circuits;
//! with fewer than twice as many octets behind a packet, in all queues together, only the step marks;
//! with 0 it marks a lone packet too, as Linux does by default.
//!
//! # Differences from the paper
//! Packets are judged when they leave; Linux can judge them when they arrive (`drop_early`) and count the step in packets. Linux
//! counts waits in nanoseconds and probabilities in 2⁻³². On one queue for all this is the coupled PI2 of the paper of 2016; with
//! the scheduler `dual-queue` it is DualPI2. On a cell link a frame is judged when its first cell comes to the head and discarded
//! as a whole.
//!
//! # Complexity
//! Constant per packet, and the number of queues per update. The port stores the arrival time of each queued unit. At most two
//! random numbers are drawn for a packet.

mod control;

use super::{Admission, Arrival, Context, Departure, Head, Properties, Settled, Shortcuts};
use crate::buffer::pool::Pool;
use crate::metrics::state::Figure;
use crate::refused::{Refused, gains, refuse, refuse_if};
use crate::rng::{Draws, Keyed};
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{Bytes, Span, Time};
use crate::verdict::{Action, HeadVerdict, Reason, Verdict};
use crate::{choice, section};

use control::{Control, Pi2Gains};

choice! {
    /// Law by which the base probability changes.
    pub enum Pi2Law {
        /// In real numbers, as in RFC 9332.
        Exact = "exact",
        /// In integers as in Linux.
        Linux = "linux",
    }
}

choice! {
    /// What happens when marks alone cannot hold the wait at its target.
    pub enum Overload {
        /// Packets are discarded with the probability p'².
        Drop = "drop",
        /// The base probability stays at 1 / k, and the buffer fills.
        Overflow = "overflow",
    }
}

section! {
    /// Mark packets of scalable senders in proportion to a probability, and discard others by its square.
    pub struct Params {
        /// Wait that is aimed at.
        pub target: Span = Span::millis(15),
        /// Time between two updates of the probability.
        pub update: Span = Span::millis(16),
        /// How fast the probability follows the wait's distance from the target, per second of wait.
        pub alpha: f64 = 0.16,
        /// How fast the probability follows changes of the wait, per second of wait.
        pub beta: f64 = 3.2,
        /// How the probability is computed.
        pub law: Pi2Law = Pi2Law::Exact,
        /// Factor of the probability for packets of scalable senders (ECT(1) or CE).
        pub coupling: f64 = 2.0,
        /// Wait above which every packet of a scalable sender is marked.
        pub step: Span = Span::millis(1),
        /// What happens to a classic packet that is drawn: `mark` where the transport reacts to marks (ECT), or `drop`.
        pub action: Action = Action::Mark,
        /// What happens when marks alone cannot hold the wait at its target.
        pub overload: Overload = Overload::Drop,
        /// Octets of a full packet; by default a full frame.
        pub mtu: Option<Bytes> = None,
    }
}

/// PI2 at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    update: Span,
    coupling: f64,
    step: Span,
    action: Action,
    overload: Overload,
    mtu: u64,
    control: Control,
    keyed: Keyed,
    /// Octets that wait in all queues.
    octets: u64,
    /// Whether the policy discards the next departing unit at the head.
    is_discarding: bool,
    /// For each circuit whether the policy discards the frame whose cells come to the head.
    discards: IdVec<PortVc, bool>,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        refuse_if(params.update == Span::ZERO, "update", "must be greater than 0")?;
        for (key, gain) in [("alpha", params.alpha), ("beta", params.beta)] {
            refuse_if(!(0.0..=1e6).contains(&gain), key, "must be from 0 to 1000000")?;
        }
        gains(params.alpha, params.beta)?;
        if !(1.0..=1e6).contains(&params.coupling) {
            return refuse("coupling", "must be from 1 to 1000000");
        }
        let frame = context.contracts.iter().map(|contract| contract.octets).max().unwrap_or(0);
        let most = if params.overload == Overload::Drop { 1.0 } else { 1.0 / params.coupling };
        let gains = Pi2Gains::new(params.law, params.alpha, params.beta);
        Ok(Policy {
            update: params.update,
            coupling: params.coupling,
            step: params.step,
            action: params.action,
            overload: params.overload,
            mtu: params.mtu.map_or(frame, |mtu| mtu.0),
            control: Control::new(gains, params.target, most),
            keyed: context.keyed("pi2"),
            octets: 0,
            is_discarding: false,
            discards: IdVec::filled(false, context.vcs()),
        })
    }

    /// Draw with the probability p'²: return whether two random numbers are both below p'.
    fn is_squared(&self, draws: &mut Draws) -> bool {
        let base = self.control.probability();
        is_below(base, draws) && is_below(base, draws)
    }

    /// Draw the verdict on a packet at the head of a queue.
    fn draw(&self, unit: &Unit) -> HeadVerdict {
        let draws = &mut self.keyed.about(unit.subject());
        let coupled = self.coupling * self.control.probability();
        let is_overloaded = self.overload == Overload::Drop && coupled > 1.0;
        let (marked, discarded) = (HeadVerdict::Mark(Reason::Random), HeadVerdict::Discard(Reason::Random));
        match unit.is_l4s() {
            true if is_overloaded => {
                if self.is_squared(draws) {
                    discarded
                } else {
                    marked
                }
            }
            true => {
                if is_below(coupled, draws) {
                    marked
                } else {
                    HeadVerdict::Send
                }
            }
            false if !self.is_squared(draws) => HeadVerdict::Send,
            false => {
                if self.action.marks(unit) && !is_overloaded {
                    marked
                } else {
                    discarded
                }
            }
        }
    }

    fn judge_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        if !head.unit.is_first() {
            return match self.discards[head.vc] {
                true => HeadVerdict::Discard(Reason::Partial),
                false => HeadVerdict::Send,
            };
        }
        let arrived = head.arrived.expect("the port keeps arrival times");
        let verdict = self.judge_frame(head.unit, head.now.since(arrived), head.behind);
        self.discards[head.vc] = matches!(verdict, HeadVerdict::Discard(_));
        verdict
    }

    /// Decide about a frame at the head of its queue, whose first unit has waited for `wait`; `behind` octets wait
    /// behind this unit in the queue.
    fn judge_frame(&self, unit: &Unit, wait: Span, behind: u64) -> HeadVerdict {
        let is_alone = behind + u64::from(unit.bytes) <= self.mtu;
        let is_short = self.octets < self.mtu.saturating_mul(2);
        match if is_short { HeadVerdict::Send } else { self.draw(unit) } {
            HeadVerdict::Send if unit.is_l4s() && wait > self.step && !is_alone => {
                HeadVerdict::Mark(Reason::Delay)
            }
            verdict => verdict,
        }
    }
}

/// Return whether the next random number is below `probability`.
fn is_below(probability: f64, draws: &mut Draws) -> bool {
    probability > 0.0 && draws.chance(probability)
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        if !arrival.fits() {
            return Verdict::Discard(Reason::Overflow);
        }
        self.octets += u64::from(arrival.unit.bytes);
        Verdict::Accept
    }

    fn settled(&mut self, unit: &Unit, _: PortVc, end: Settled) {
        if let Settled::TurnedAway { .. } = end {
            self.octets -= u64::from(unit.bytes);
        }
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let is_discarded = std::mem::take(&mut self.is_discarding);
        if departure.accepted && !departure.sent && !is_discarded {
            self.octets -= u64::from(departure.unit.bytes);
        }
    }

    fn state(&self) -> Vec<Figure> {
        vec![Figure::of_all("probability", self.control.probability())]
    }

    fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        self.octets -= u64::from(head.unit.bytes);
        let verdict = self.judge_head(head);
        self.is_discarding = matches!(verdict, HeadVerdict::Discard(_));
        verdict
    }

    fn tick(&mut self, now: Time, _: &Pool, wait: Span) -> Option<Time> {
        if now > Time::ZERO {
            self.control.update(wait);
        }
        Some(now + self.update)
    }

    fn properties(&self) -> Properties {
        Properties {
            arrival_times: true,
            decides_at_head: true,
            splits_frames: true,
            ..Properties::default()
        }
    }
}

impl Shortcuts for Policy {}

#[cfg(test)]
mod tests;
