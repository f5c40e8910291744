//! Units on a line behind which some are held back, so that others pass them.
//!
//! # What it assumes
//! Each unit has an event for its arrival; so has each departure from the port of the line.

use std::collections::BTreeMap;

use crate::unit::Unit;
use crate::units::Time;

/// The units on such a line, by arrival; those of one instant in the order in which they were sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Crossing {
    units: BTreeMap<(Time, u64), Unit>,
    sent: u64,
}

impl Crossing {
    /// Add a unit, which arrives at `time`.
    pub(super) fn add(&mut self, time: Time, unit: Unit) {
        self.units.insert((time, self.sent), unit);
        self.sent += 1;
    }

    /// Remove the unit that arrives first.
    pub(super) fn take(&mut self) -> Unit {
        let (_, unit) = self.units.pop_first().expect("an arriving unit was on the line");
        unit
    }

    /// Return the units, in the order of their arrivals.
    pub(super) fn units(&self) -> impl Iterator<Item = &Unit> {
        self.units.values()
    }
}
