//! Trains that a port has taken from their lanes as soon as they began, and what of them is still to arrive.

use super::{Alone, Inbox, Inner, MergeOrder, Pace, Train};
use crate::engine::exact::spacing::Beat;
use crate::units::Time;

/// Such a train, or what of it is still to arrive.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Ahead {
    pub(in crate::engine) train: Train,
    /// Whether its units follow each other no more closely than those that the port sends.
    pub(in crate::engine) spaced: bool,
    pub(in crate::engine) lane: u32,
}

impl Inbox {
    /// The next unit and those that follow it in its train, if they arrive before `stop`, whatever comes in between.
    pub(in crate::engine) fn next_train(&self, stop: Time) -> Option<Alone> {
        let MergeOrder::Ring(_) = &self.order else { return None };
        let (time, lane) = self.order.first()?;
        let &Train { beat, unit, vc, left, begun, closed, last, .. } = self.front(lane);
        if beat.time != time || last >= stop || self.inner_ahead_of(time, lane).is_some() {
            return None;
        }
        let pace = self.lanes[lane as usize].rhythm.pace;
        Some(Alone { beat, unit, vc, units: left, begun, closed, last, pace, lane })
    }

    /// That train is taken by a port that sends at this pace.
    pub(in crate::engine) fn take_ahead(&mut self, taken: &Alone, pace: &Pace) {
        let (lane, train) = (taken.lane, *self.front(taken.lane));
        self.ahead.push(Ahead { train, spaced: !taken.pace.is_faster_than(pace), lane });
        self.pop_train();
    }

    /// The earliest of the instants before `limit` that belong to the trains for which hosts wait, none of them before the train
    /// has arrived; with many lanes, that of the next end of a train. Otherwise the limit.
    pub(in crate::engine) fn first_awaited(&self, limit: Time, instant: impl Fn(&Train) -> Time) -> Time {
        let MergeOrder::Ring(ring) = &self.order else {
            return self.order.first().map_or(limit, |(time, _)| time.min(limit));
        };
        let mut first = limit;
        for &(_, lane) in ring {
            let trains = &self.lanes[lane as usize].trains;
            for train in trains {
                if train.last >= first {
                    break; // and those behind it come later still
                }
                if train.awaited {
                    first = first.min(instant(train));
                }
            }
        }
        first
    }

    /// List what arrives behind the next unit of trains that were taken.
    pub(in crate::engine) fn list_behind_next(&mut self, rests: &mut Vec<Ahead>) {
        if self.ahead.is_empty() {
            return;
        }
        let Some((time, lane)) = self.order.first() else { return };
        let next = self.inner_ahead_of(time, lane).map_or(lane, |place| self.midst[place]);
        self.list(self.front(next).beat.time, Some(next), rests);
    }

    /// List what arrives of them from `now` on.
    pub(in crate::engine) fn list_from(&mut self, now: Time, rests: &mut Vec<Ahead>) {
        self.list(now, None, rests);
    }

    /// Let what is still to arrive of them be on its lanes again; no other unit has arrived in between.
    pub(in crate::engine) fn put_back(&mut self, rests: &[Ahead]) {
        self.ahead.clear();
        for &Ahead { train, lane, .. } in rests {
            self.lanes[lane as usize].put_back(train);
            if train.left > 1 {
                self.join_midst(lane);
            }
            if let MergeOrder::Ring(ring) = &mut self.order {
                ring.retain(|(_, other)| *other != lane);
            }
            self.expect(lane as usize, train.last);
        }
    }

    /// How many of them may still have something to arrive.
    pub(in crate::engine) fn begun(&self) -> u64 {
        self.ahead.len() as u64
    }

    /// Whether something of a circuit's train that was taken arrives after `now`.
    pub(in crate::engine) fn is_arriving(&self, vc: u32, now: Time) -> bool {
        self.ahead.iter().any(|ahead| ahead.train.vc == vc && ahead.train.last > now)
    }

    /// Whether units found on a lane follow each other no more closely than those of this pace.
    pub(in crate::engine) fn is_spaced(&self, inner: &Inner, pace: &Pace) -> bool {
        !self.lanes[inner.lane as usize].rhythm.pace.is_faster_than(pace)
    }

    /// When units found on a lane arrive.
    pub(in crate::engine) fn times(&self, inner: &Inner) -> impl Iterator<Item = Time> {
        self.lanes[inner.lane as usize].times(inner.units)
    }

    /// Whether units keep this pace on the only lane in the midst of a train, and behind the next one all of them come no
    /// earlier than those that start from a beat on.
    pub(in crate::engine) fn keeps_behind(&self, beat: Beat, pace: &Pace) -> bool {
        let [lane] = self.midst[..] else { return false };
        let train = self.front(lane);
        train.even && self.lanes[lane as usize].rhythm.pace == *pace && train.beat.next(pace) >= beat
    }

    /// The sum of the instants at which the units of a train arrive.
    pub(in crate::engine) fn arrivals_of(&self, rest: &Ahead) -> u128 {
        let Ahead { train, lane, .. } = rest;
        self.lanes[*lane as usize].rhythm.after(train.beat, train.left.into()).1
    }

    fn list(&mut self, now: Time, next: Option<u32>, rests: &mut Vec<Ahead>) {
        self.ahead.retain(|ahead| ahead.train.last >= now);
        rests.extend(
            self.ahead.iter().map(|ahead| self.rest(ahead, now, next)).filter(|rest| rest.train.left > 0),
        );
    }

    /// What of a train arrives from `now` on, or behind the unit that comes on the lane `next` then.
    fn rest(&self, ahead: &Ahead, now: Time, next: Option<u32>) -> Ahead {
        let &Ahead { mut train, spaced, lane } = ahead;
        let rhythm = &self.lanes[lane as usize].rhythm;
        let (before, beat) = rhythm.count_before(train.beat, now);
        let ties = beat.time == now && next.is_some_and(|next| self.is_before((now, lane), (now, next)));
        train.beat = if ties { beat.next(&rhythm.pace) } else { beat };
        train.advance(before as u16 + u16::from(ties));
        Ahead { train, spaced, lane }
    }
}
