//! Short trains that cross each other pass a port at once, though its line has nothing else to do.
//!
//! So do acknowledgements on their way back: a cell or two each, on a line that is mostly idle. Each of their cells begins or
//! ends a train, and when it starts depends on those that come just before it. But if all of them are taken, which is
//! known beforehand, nothing has to be decided: they are put in order, start when they can, and each train is handed on once.

use super::CellFifo;
use super::whole::{Fate, Group};
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{Inner, MOST_CROSSING};
use crate::engine::exact::spacing::Beat;
use crate::units::Time;

impl CellFifo {
    /// Let trains pass that cross the next one, and that one, if they arrive before `stop` with nothing else in between, and
    /// all of their cells are taken; answers whether they have passed.
    pub(in crate::engine) fn pass_crossing(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        stop: Time,
    ) -> bool {
        let mut trains = std::mem::take(&mut self.inner);
        let last = self.inputs.crossing(stop, &mut trains);
        let passes = last.is_some_and(|last| self.takes_all(engine, port, &trains, last));
        if passes {
            self.take_crossing(engine, port, &trains);
        }
        trains.clear();
        self.inner = trains;
        passes
    }

    /// Whether all cells of these trains are taken, the last of which arrives at `last`, and the measured time neither begins
    /// nor ends before they have left.
    fn takes_all(&mut self, engine: &mut Fast<'_>, port: usize, trains: &[Inner], last: Time) -> bool {
        let cells = trains.iter().map(|train| train.units).sum();
        let certain = engine.log.is_none()
            && !self.rule.may_refuse(self.content.level() + cells)
            && self.fits(self.free.not_before(last), cells);
        certain
            && trains.iter().all(|train| matches!(self.fate(engine, port, &group(train)), Some(Fate::Taken)))
    }

    /// They pass in the order of their cells.
    fn take_crossing(&mut self, engine: &mut Fast<'_>, port: usize, trains: &[Inner]) {
        let (mut order, mut passed) = (std::mem::take(&mut self.order), [0; MOST_CROSSING]);
        self.inputs.in_order(trains, &mut order);
        trains.iter().for_each(|_| self.inputs.pop_train());
        for &(time, place) in &order {
            let (train, passed) = (&trains[place as usize], &mut passed[place as usize]);
            let start = self.pass_each(engine, port, std::iter::once((train.vc, time)));
            *passed += 1;
            if *passed == train.units {
                self.take_group(engine, port, &group(train), |_, _| start);
            }
        }
        self.order = order;
    }
}

/// All cells of a train together.
fn group(train: &Inner) -> Group {
    let &Inner { unit, vc, comes, .. } = train;
    let (units, start) = (train.units as u16, Beat::at(comes));
    Group { unit, vc, units, comes, start, gathered: units, judged: false, ahead: 0 }
}
