//! Whose cell comes next where streams meet.

use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event};
use crate::units::Time;

/// The next cell of every stream, in the order of [`crate::kernel`], around a circle.
///
/// Whose cell has come is as a rule the one to wait for longest, so that nothing moves but the place where the circle begins.
#[derive(Debug)]
pub(crate) struct Order {
    circle: Vec<Next>,
    /// Where the cell stands that comes first, and when the one comes that is last.
    first: usize,
    last: Time,
    ties: Ties,
}

/// When the next cell of a stream comes, and over which line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    pub(crate) time: Time,
    pub(crate) stream: u32,
    pub(crate) line: u32,
}

impl Order {
    /// Nobody's cells.
    pub(crate) fn new(seed: u64) -> Order {
        Order { circle: Vec::new(), first: 0, last: Time::ZERO, ties: Ties::new(seed) }
    }

    /// A stream's first cell.
    pub(crate) fn add(&mut self, next: Next) {
        assert_eq!(self.first, 0, "streams are added before any cell comes");
        self.circle.push(next);
        self.sort_in(self.circle.len() - 1);
    }

    /// The cell that comes first.
    #[inline]
    pub(crate) fn first(&self) -> Option<Next> {
        self.circle.get(self.first).copied()
    }

    /// It has come, and the next one of its stream comes at `time`.
    #[inline]
    pub(crate) fn follow(&mut self, time: Time) {
        let place = self.first;
        self.circle[place].time = time;
        self.first = if place + 1 == self.circle.len() { 0 } else { place + 1 };
        if time > self.last { self.last = time } else { self.sort_in(place) }
    }

    /// It has come and is the last one of its stream.
    pub(crate) fn end(&mut self) {
        self.circle.rotate_left(self.first);
        self.circle.remove(0);
        self.first = 0;
    }

    /// The cell at this place, the last one around the circle, moves ahead of those that come after it.
    fn sort_in(&mut self, mut place: usize) {
        let end = place;
        while place != self.first {
            let before = place.checked_sub(1).unwrap_or(self.circle.len() - 1);
            if !self.precedes(self.circle[place], self.circle[before]) {
                break;
            }
            self.circle.swap(place, before);
            place = before;
        }
        self.last = self.circle[end].time;
    }

    /// At the same instant the ranks of lines decide.
    fn precedes(&self, one: Next, other: Next) -> bool {
        let key = |Next { time, line, .. }| {
            Event { time, class: Class::Arrive, rank: self.ties.rank(time, line), entity: line }.key()
        };
        if one.time == other.time { key(one) < key(other) } else { one.time < other.time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_come_in_the_order_of_the_kernel(
            gaps in prop::collection::vec(prop::collection::vec(0u64..40, 1..30), 1..8)
        ) {
            let times = |gaps: &[u64]| gaps.iter().scan(0, |now, gap| { *now += gap; Some(Time(*now)) }).collect();
            let times: Vec<Vec<Time>> = gaps.iter().map(|gaps| times(gaps)).collect();
            let ties = Ties::new(7);
            let cells = times.iter().enumerate().flat_map(|(line, times)| times.iter().map(move |time| (line, *time)));
            let key = |(line, time): (usize, Time)| (time, ties.rank(time, line as u32), line);
            let mut expected: Vec<_> = cells.map(key).collect();
            expected.sort();
            let (mut order, mut sent) = (Order::new(7), vec![1; times.len()]);
            for (line, times) in times.iter().enumerate() {
                order.add(Next { time: times[0], stream: line as u32, line: line as u32 });
            }
            for expected in expected {
                let Next { time, stream, .. } = order.first().unwrap();
                let stream = stream as usize;
                prop_assert_eq!(key((stream, time)), expected);
                match times[stream].get(sent[stream]) {
                    Some(&next) => order.follow(next),
                    None => order.end(),
                }
                sent[stream] += 1;
            }
            prop_assert!(order.first().is_none());
        }
    }
}
