//! Units of the only circuit that passes a port, with the instant at which each of them arrives.
//!
//! Nothing can overtake them, so the port takes them as soon as they have been sent. Where its line is slower than the
//! one before, a frame queues up behind its first cell, and passes in one go.

use super::whole::Group;
use super::{Content, Fifo};
use crate::engine::fast::Fast;
use crate::engine::fast::lanes::Party;
use crate::engine::fast::leg::Manner;
use crate::units::{Span, Time};

impl Fifo {
    /// Units come that nothing can overtake; answers those that arrive only when the present part of the run is over.
    pub(in crate::engine::fast) fn follow<'a>(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        party: Party<'a>,
    ) -> Party<'a> {
        let mut rest = party;
        while let Some(&first) = rest.arrivals.first()
            && first < engine.end
        {
            self.step(engine, port, first);
            let before = |stop: Time| rest.arrivals.partition_point(|time| *time < stop);
            let (mut now, mut later) = rest.split(before(self.begin.min(self.tick).min(engine.end)));
            if !self.pass_party(engine, port, now) {
                (now, later) = rest.split(before(self.next_stop().min(engine.end)));
                if !self.pass_as_they_come(engine, port, now) {
                    now.units().for_each(|mut arriving| self.arrive(engine, port, &mut arriving));
                }
            }
            self.done = self.done.max(now.arrivals.last().copied());
            rest = later;
        }
        rest
    }

    /// Let them pass at once, if they start one behind the other and neither they nor their circumstances matter one by
    /// one; answers whether they have passed.
    fn pass_party(&mut self, engine: &mut Fast<'_>, port: usize, party: Party<'_>) -> bool {
        let Party { unit, vc, arrivals } = party;
        let (Content::Cells { pace, .. }, [first, .., _]) = (&self.content, arrivals) else { return false };
        let train = unit.is_eom() || engine.plan.legs[port][vc as usize].manner != Manner::Singly;
        let start = self.free.not_before(*first);
        let starts = (start.time.0..).step_by(pace.whole.0 as usize);
        if self.by_unit || !train || !arrivals.iter().zip(starts).all(|(arrival, start)| arrival.0 <= start) {
            return false;
        }
        let units = arrivals.len() as u16;
        self.drop_before(engine, port, Time(first.0 + 1));
        let (gathered, before) = (self.gathered(start.time, arrivals), self.free);
        let group = Group { unit, vc, units, comes: *first, start, gathered, judged: false, ahead: 0 };
        let sum = || arrivals.iter().map(|time| u128::from(time.0)).sum();
        let (passed, last) = (self.pass_group(engine, port, &group, sum), arrivals[arrivals.len() - 1]);
        if passed && self.sample <= last {
            let taken = self.free != before;
            self.take_samples(engine, port, last, if taken { arrivals } else { &[] });
        }
        passed
    }

    /// Let them pass at once, though the line may have nothing to do between them, if neither they nor their circumstances
    /// matter one by one; answers whether they have passed.
    fn pass_as_they_come(&mut self, engine: &mut Fast<'_>, port: usize, party: Party<'_>) -> bool {
        let Party { unit, vc, arrivals } = party;
        let (Content::Cells { .. }, [first, .., last]) = (&self.content, arrivals) else { return false };
        if self.by_unit || engine.plan.legs[port][vc as usize].manner == Manner::Singly {
            return false;
        }
        self.drop_before(engine, port, Time(first.0 + 1));
        let (units, start) = (arrivals.len() as u16, self.free.not_before(*last));
        let group = Group { unit, vc, units, comes: *first, start, gathered: units, judged: false, ahead: 0 };
        self.pass_apart(engine, port, &group, arrivals)
    }

    /// How many of these cells, the first of which starts at `start`, are in the buffer at a time, beyond what is there. Not
    /// less than that, since a slot is taken for a picosecond longer where its length is no whole number of them.
    fn gathered(&self, start: Time, arrivals: &[Time]) -> u16 {
        let Content::Cells { count, ends, pace, .. } = &self.content else { return 0 };
        if count + arrivals.len() as u64 <= self.books.max {
            return arrivals.len() as u16;
        }
        let first = if *count == 0 { start.later(pace.whole) } else { ends.time };
        let (mut level, mut most, mut end) = (*count, *count, first);
        for arrival in arrivals {
            while end <= *arrival {
                (level, end) = (level - 1, end.later(pace.whole).later(Span(1)));
            }
            level += 1;
            most = most.max(level);
        }
        (most - count) as u16
    }
}
