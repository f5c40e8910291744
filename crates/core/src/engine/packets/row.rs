//! A row: a queue whose places are filled where they are.

/// Packets under way, or what is remembered of them, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Row<T> {
    /// A power of two of places, or none yet.
    places: Vec<T>,
    first: usize,
    len: usize,
}

impl<T: Clone + Default> Row<T> {
    /// The place of one more packet, to be filled: whoever does so part by part writes each where it stays, while a whole
    /// that is put together first and copied then has to wait until all parts have been written.
    #[inline(always)]
    pub(crate) fn add(&mut self) -> &mut T {
        if self.len == self.places.len() {
            self.grow();
        }
        let place = (self.first + self.len) & (self.places.len() - 1);
        self.len += 1;
        &mut self.places[place]
    }

    /// The first packet.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.places.get(self.first) }
    }

    /// The first packet is taken.
    #[inline(always)]
    pub(crate) fn drop_first(&mut self) {
        self.len -= 1;
        // places that were used a moment ago are still in the cache
        self.first = if self.len == 0 { 0 } else { (self.first + 1) & (self.places.len() - 1) };
    }

    /// All places are taken: twice as many.
    #[cold]
    fn grow(&mut self) {
        self.places.rotate_left(self.first);
        self.first = 0;
        self.places.resize((2 * self.len).max(FEW), T::default());
    }
}

/// Places of a row to begin with.
const FEW: usize = 8;

#[cfg(test)]
mod tests {
    use super::super::agenda::Arrival;
    use super::*;
    use crate::units::Time;

    #[test]
    fn packets_leave_in_the_order_in_which_they_came_whenever_the_row_grows() {
        let mut row: Row<Arrival> = Row::default();
        let (mut added, mut taken) = (0, 0);
        for round in 0..50 {
            for _ in 0..round {
                row.add().time = Time(added);
                added += 1;
            }
            for _ in 0..round / 2 {
                assert_eq!(row.first().map(|arrival| arrival.time), Some(Time(taken)));
                row.drop_first();
                taken += 1;
            }
        }
        assert_eq!(row.len as u64, added - taken);
    }
}
