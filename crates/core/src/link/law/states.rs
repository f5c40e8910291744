//! Two states, a good and a bad one, between which a line changes at random.
//!
//! # Source
//! E. N. Gilbert, "Capacity of a burst-noise channel" (Bell System Technical Journal 39, 1960), in continuous time: the line stays in each
//! state for an exponentially distributed time.
//!
//! # Differences from the source
//! A state has a rate instead of a probability of errors. A line begins in the good state.

use super::check_rate;
use super::steps::Segments;
use crate::refused::{Refused, refuse, refuse_if};
use crate::rng::Stream;
use crate::section;
use crate::units::{PS_PER_S, PerSecond, Rate, Time};

section! {
    /// Two rates between which a line changes at random, by a stream of random numbers of its own.
    pub struct States {
        /// Rate in the good state, in which a line begins.
        pub good: Rate,
        /// Rate in the bad state; 0 stops the line.
        pub bad: Rate,
        /// Changes from the good to the bad state in a second of the good state.
        pub to_bad: PerSecond,
        /// Changes from the bad to the good state in a second of the bad state.
        pub to_good: PerSecond,
    }
}

/// Most changes in a second.
const MOST: PerSecond = PerSecond(1_000_000_000_000);

impl States {
    /// Refuse states that no line can have.
    pub(super) fn check(&self) -> Result<(), Refused> {
        refuse_if(self.good == Rate(0), "states.good", "must be greater than 0 b/s")?;
        for (key, rate) in [("states.good", self.good), ("states.bad", self.bad)] {
            check_rate(rate).or_else(|why| refuse(key, why))?;
        }
        for (key, changes) in [("states.to_bad", self.to_bad), ("states.to_good", self.to_good)] {
            refuse_if(changes == PerSecond(0), key, "must be greater than 0 per s")?;
            refuse_if(changes > MOST, key, "must be at most 1 per us")?;
        }
        Ok(())
    }

    /// Return the mean rate over a long time.
    pub(super) fn long_run(&self) -> Rate {
        let (to_bad, to_good) = (u128::from(self.to_bad.0), u128::from(self.to_good.0));
        let sum = u128::from(self.good.0) * to_good + u128::from(self.bad.0) * to_bad;
        Rate((sum / (to_bad + to_good)) as u64)
    }
}

/// The states of a line, drawn one after another.
#[derive(Clone, Debug)]
pub struct DrawnStates {
    stream: Stream,
    states: States,
    is_bad: bool,
    /// The end of the latest state.
    end: u64,
}

impl DrawnStates {
    pub(super) fn new(states: &States, seed: u64, line: &str) -> DrawnStates {
        let stream = Stream::new(seed, format_args!("line.{line}.rate"));
        DrawnStates { stream, states: states.clone(), is_bad: true, end: 0 }
    }
}

impl Segments for DrawnStates {
    fn next(&mut self) -> (Option<Time>, u64) {
        self.is_bad = !self.is_bad;
        let States { good, bad, to_bad, to_good } = &self.states;
        let (rate, changes) = if self.is_bad { (bad, to_good) } else { (good, to_bad) };
        let stay = self.stream.exponential() * PS_PER_S as f64 / changes.as_f64();
        self.end = self.end.saturating_add((stay as u64).max(1));
        (Some(Time(self.end)), rate.0)
    }

    fn lap(&self) -> Option<(u64, u128)> {
        None
    }

    fn skip(&mut self, _laps: u64) {}
}
