//! Lanes in the midst of a train, and whose unit comes next.
//!
//! Where units pass one by one, the lanes stand in line: one that has had its turn goes to the back, and nobody looks at the
//! others. Where units pass many at a time, or where there are few lanes, that would cost more than it saves, so they line up
//! only when the next unit is wanted twice in a row.

use super::{Arriving, Inbox, LinedUp};
use crate::units::Time;

/// Lanes that are as soon looked at as put in order.
const FEW: usize = 3;

impl Inbox {
    /// Put the lanes in order, if that is worth it.
    #[inline]
    pub(in crate::engine) fn line_up(&mut self) {
        match self.lined_up {
            LinedUp::Yes => {}
            LinedUp::No => self.lined_up = LinedUp::Sought,
            LinedUp::Sought if self.midst.len() <= FEW => {}
            LinedUp::Sought => {
                let mut midst = std::mem::take(&mut self.midst);
                midst.sort_unstable_by_key(|lane| {
                    let time = self.front(*lane).beat.time;
                    std::cmp::Reverse((time, self.rank(time, *lane)))
                });
                (self.midst, self.lined_up) = (midst, LinedUp::Yes);
            }
        }
    }

    /// A lane is in the midst of a train, wherever that puts it.
    pub(in crate::engine) fn join_midst(&mut self, lane: u32) {
        self.midst.push(lane);
        self.lined_up = LinedUp::No;
    }

    /// A lane is in the midst of a train, and in line if the others are.
    #[inline]
    pub(in crate::engine) fn join_midst_in_turn(&mut self, lane: u32) {
        if self.lined_up != LinedUp::Yes {
            return self.midst.push(lane);
        }
        let at = |lane: u32| (self.front(lane).beat.time, lane);
        let ahead = self.midst.iter().position(|other| self.is_before(at(*other), at(lane)));
        self.midst.insert(ahead.unwrap_or(self.midst.len()), lane);
    }

    /// Where in the list the lane is whose inner unit is the first of all, if it comes before the end of a train that is
    /// first in the order.
    #[inline]
    pub(in crate::engine) fn inner_ahead_of(&self, time: Time, lane: u32) -> Option<usize> {
        let last = self.midst.len().saturating_sub(1);
        let from = if self.lined_up == LinedUp::Yes { last } else { 0 };
        let (mut first, mut ahead) = ((time, lane), None);
        for (place, &lane) in self.midst.iter().enumerate().skip(from) {
            let time = self.front(lane).beat.time;
            if self.is_before((time, lane), first) {
                (first, ahead) = ((time, lane), Some(place));
            }
        }
        ahead
    }

    /// The next unit of a lane in the midst of a train, if it arrives before `limit`.
    pub(in crate::engine) fn pop_inner(&mut self, place: usize, limit: Time) -> Option<Arriving> {
        let index = self.midst[place];
        let lane = &mut self.lanes[index as usize];
        if lane.front().beat.time >= limit {
            return None;
        }
        let (arriving, train) = lane.take();
        if self.lined_up == LinedUp::Yes {
            self.midst.pop(); // the first of all stands last
            if train.left > 1 {
                self.join_midst_in_turn(index);
            }
        } else if train.left == 1 {
            self.midst.swap_remove(place);
        }
        Some(arriving)
    }

    /// Whether the first unit arrives before the second, each given by its instant and its lane.
    #[inline]
    pub(in crate::engine) fn is_before(
        &self,
        (time, lane): (Time, u32),
        (other, second): (Time, u32),
    ) -> bool {
        time < other || time == other && self.rank(time, lane) < self.rank(time, second)
    }

    /// The place of a lane among those on which units arrive at the same instant.
    pub(in crate::engine) fn rank(&self, time: Time, lane: u32) -> (u32, u32) {
        let line = self.lanes[lane as usize].line;
        (self.ties.rank(time, line), line)
    }
}
