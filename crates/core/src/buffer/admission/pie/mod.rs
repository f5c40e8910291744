//! # Source
//! R. Pan, P. Natarajan, F. Baker and G. White, "Proportional Integral Controller Enhanced (PIE)", RFC 8033, 2017; for
//! `law = "linux"` the file `net/sched/sch_pie.c` of Linux 6 (V. Subramanian, M. Prabhu, M. Tahiliani and others).
//!
//! # Idea
//! An arriving packet is discarded with a probability p that a controller sets every `update`, so that waits settle
//! at `target`. With d the wait of the packet that left last, 0 if none waited behind it:
//!
//! > p ← p + (alpha · (d − target) + beta · (d − d_old)) / f, f = 2048, 512, 128, 32, 8, 2, 1
//!
//! where f is smaller the larger p was: 2048 below 10⁻⁶, 1 from 0.1 on; from 0.1 on p rises by at most 0.02 per
//! update.
//!
//! # Parameters
//! `target` and `update`: 15 ms; `alpha` and `beta`: 0.125 and 1.25 per second; `burst`: 150 ms in which nothing is
//! discarded after a time without congestion; all from RFC 8033 and tc-pie(8). `law`: `rfc` (default) or `linux`.
//! `action`: `drop` (default) or `mark`, which marks packets that are ECN-capable while p is at most `mark_limit`, 10 % as
//! in both sources. `derandomise` (default true): no packet is discarded before the probabilities since the last one add up to
//! 0.85, and one is as soon as they add up to 8.5. `byte_mode` (default false): p is multiplied by the length of the packet ÷
//! `mtu`. `mtu`: by default the largest full frame of the circuits; up to twice as many octets in the queue nothing is
//! discarded.
//!
//! # Differences from the paper
//! With `law = "rfc"` the controller is always active: RFC 8033 lets it sleep until a third of the buffer is full. Waits
//! are measured by timestamps in both laws. What `linux` does differently: it lets packets pass by the present wait instead of
//! that of the last update; p falls by 1/64 instead of 2 % at an update without waits, unless packets are there; p rises by
//! 0.02 more when d exceeds 250 ms; time without departures does not use up `burst`. Probabilities are real numbers; the
//! kernel counts in 2⁻⁵⁶.
//! On a cell link a frame is judged at its first cell, and one that overflows is cut short as by PPD. Each queue has a
//! controller of its own.
//!
//! # Complexity
//! Constant; seven numbers per queue. A random number is drawn only for packets that may be discarded.

mod control;

use super::{Admission, Arrival, Context, Head, Properties, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::size::Measure;
use crate::metrics::state::Figure;
use crate::refused::{Refused, gains, probability, refuse, refuse_if};
use crate::rng::Keyed;
use crate::units::ids::{IdVec, QueueId};
use crate::units::{Bytes, Span, Time};
use crate::verdict::{Action, HeadVerdict, Reason, Verdict};
use crate::{choice, section};

use control::{Control, Gains};

choice! {
    /// Version of the algorithm, where its descriptions differ.
    pub enum PieVersion {
        /// RFC 8033.
        Rfc = "rfc",
        /// Linux.
        Linux = "linux",
    }
}

section! {
    /// Discard arriving packets with a probability that holds the wait at a target.
    pub struct Params {
        /// Target of the wait.
        pub target: Span = Span::millis(15),
        /// Time between two updates of the probability.
        pub update: Span = Span::millis(15),
        /// How fast the probability follows the wait's distance from the target, per second of wait.
        pub alpha: f64 = 0.125,
        /// How fast the probability follows changes of the wait, per second of wait.
        pub beta: f64 = 1.25,
        /// Time for which a burst passes after a time without congestion.
        pub burst: Span = Span::millis(150),
        /// Which rules hold where RFC and Linux differ.
        pub law: PieVersion = PieVersion::Rfc,
        /// What happens to a packet that is drawn: `drop`, or `mark` where the transport reacts to marks (ECT).
        pub action: Action = Action::Drop,
        /// Probability above which packets are discarded instead of being marked.
        pub mark_limit: f64 = 0.1,
        /// Spread discards evenly: neither two in a row nor long gaps.
        pub derandomise: bool = true,
        /// Discard short packets less often, in proportion to their length.
        pub byte_mode: bool = false,
        /// Octets of a full packet; by default a full frame.
        pub mtu: Option<Bytes> = None,
    }
}

/// PIE at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    update: Span,
    mark_limit: f64,
    gains: Gains,
    /// The controller of each queue.
    controls: IdVec<QueueId, Control>,
    keyed: Keyed,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        refuse_if(params.update == Span::ZERO, "update", "must be greater than 0")?;
        let in_cells = params.byte_mode && context.measure == Measure::Cells;
        refuse_if(
            in_cells,
            "byte_mode",
            "must be false on a cell link, where no cell says how long its frame is",
        )?;
        for (key, gain) in [("alpha", params.alpha), ("beta", params.beta)] {
            if !(gain.is_finite() && gain >= 0.0) {
                return refuse(key, "must be 0 or greater");
            }
        }
        gains(params.alpha, params.beta)?;
        let gains = Gains::new(params, context);
        Ok(Policy {
            update: params.update,
            mark_limit: probability("mark_limit", params.mark_limit)?,
            controls: IdVec::filled(Control::new(&gains), context.queues()),
            gains,
            keyed: context.keyed("pie"),
            frames: Frames::new(context.vcs(), true).acting(params.action),
        })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let Arrival { unit, vc, place, waiting, .. } = *arrival;
        let Policy { gains, controls, keyed, frames, mark_limit, .. } = self;
        let control = &mut controls[place];
        let draw = || keyed.unit(unit.subject());
        let drawn = unit.is_first() && control.draws(gains, waiting, unit.bytes, draw);
        let verdict = match drawn && control.probability() > *mark_limit {
            true => frames.refuse(vc, Reason::Random),
            false => frames.judge(unit, vc, arrival.fits(), || drawn.then_some(Reason::Random)),
        };
        match verdict {
            Verdict::Accept | Verdict::Mark(_) => control.joined(),
            Verdict::Discard(Reason::Overflow) => control.lost(),
            Verdict::Discard(_) | Verdict::Replace(..) => {}
        }
        verdict
    }

    fn state(&self) -> Vec<Figure> {
        let probabilities = self.controls.iter().map(Control::probability);
        Figure::of_queues("probability", probabilities).collect()
    }

    fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        let arrived = head.arrived.expect("the port keeps arrival times");
        let waited = (head.behind > 0).then(|| head.now.since(arrived));
        self.controls[head.queue].departs(&self.gains, head.now, waited);
        HeadVerdict::Send
    }

    fn tick(&mut self, now: Time, _: &Pool, _: Span) -> Option<Time> {
        if now > Time::ZERO {
            self.controls.iter_mut().for_each(|control| control.update(&self.gains));
        }
        Some(now + self.update)
    }

    fn properties(&self) -> Properties {
        Properties { arrival_times: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }
}

#[cfg(test)]
mod tests;
