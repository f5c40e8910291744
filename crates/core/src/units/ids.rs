//! Ids: each kind of number is a type, so that a circuit's number in the network cannot index a table of a port.
//!
//! The ids of a kind are numbered from 0 without gaps, so that a table by id is an array: an [`IdVec`] accepts only
//! its own kind of id as key.
//!
//! ```
//! use pushout_core::units::ids::{IdVec, PortVc};
//!
//! let held: IdVec<PortVc, u64> = IdVec::filled(0, 4);
//! assert_eq!(held[PortVc(2)], 0);
//! ```
//!
//! ```compile_fail
//! use pushout_core::units::ids::{CircuitId, IdVec, PortVc};
//!
//! let held: IdVec<PortVc, u64> = IdVec::filled(0, 4);
//! assert_eq!(held[CircuitId(2)], 0); // the number in the network is no number at the port
//! ```
//!
//! Plain integers remain for: event entities, which number items of several kinds (ports, memories, ends of flows);
//! the place of a step, which is a port, a host or a memory; the memory of a pause frame, which may be a storm; ranges
//! of transfers, because a range of ids is no iterator; queues and pools of one memory.

use core::fmt;
use core::iter::Enumerate;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

/// A kind of id: a number, from 0, that names a circuit, a queue or another item.
pub trait Id: Copy + Ord {
    /// Return the id with this number, which must be below 2³².
    fn new(index: usize) -> Self;
    /// Return the number, as an index into an array.
    fn index(self) -> usize;
}

macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// Return the id with this number, which must be below 2³².
            #[inline(always)]
            pub const fn new(index: usize) -> $name {
                debug_assert!(index <= u32::MAX as usize, "a scenario has fewer than 2³² of anything");
                $name(index as u32)
            }

            /// Return the number, as an index into an array.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            #[inline(always)]
            fn new(index: usize) -> $name {
                $name::new(index)
            }

            #[inline(always)]
            fn index(self) -> usize {
                $name::index(self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A node's place in the list of the scenario, from 0.
    NodeId
}

id! {
    /// A station's number, by which the packet engine groups the events of a day: the number of a port, or beyond
    /// those of ports the number of a memory.
    StationId
}

id! {
    /// A line's place in the list of the scenario, from 0, which is also the number of its sending port: a line has
    /// one port, and a port one line.
    LineId
}

id! {
    /// A flow's place in the list of the scenario, from 0. Units and frames on the way contain it.
    FlowId
}

id! {
    /// A memory's place in the list of the scenario, from 0.
    MemoryId
}

id! {
    /// A circuit's number in the network: its place in the list of the scenario, from 0. Units and frames contain it.
    CircuitId
}

id! {
    /// A circuit's number at one port: its place among the circuits that pass there, in the order of [`CircuitId`],
    /// from 0. A circuit has such a number at each of its ports, and policies of a port use no other.
    PortVc
}

id! {
    /// A queue's number at its port, from 0.
    QueueId
}

id! {
    /// A queue's number in its pool of a memory, from 0: policies of a pool use no other.
    PoolQueue
}

id! {
    /// A level of priority at a port that has several, from 0, which is served first.
    Level
}

impl LineId {
    /// Return the station of a port that has events of its own.
    #[inline(always)]
    pub const fn station(self) -> StationId {
        StationId(self.0)
    }
}

impl PortVc {
    /// Return the circuit's queue at a port where each circuit has its own.
    #[inline(always)]
    pub const fn queue(self) -> QueueId {
        QueueId(self.0)
    }
}

impl QueueId {
    /// Return the circuit of this queue at a port where each circuit has its own.
    #[inline(always)]
    pub const fn vc(self) -> PortVc {
        PortVc(self.0)
    }
}

/// A table of constant length with an entry for every id from 0.
#[derive(Clone, PartialEq)]
pub struct IdVec<K, T> {
    entries: Box<[T]>,
    keys: PhantomData<fn(K)>,
}

impl<K: Id, T> IdVec<K, T> {
    /// Build a table of `len` entries equal to `entry`.
    pub fn filled(entry: T, len: usize) -> IdVec<K, T>
    where
        T: Clone,
    {
        vec![entry; len].into()
    }

    /// Return a view of the table, which is cheap to copy.
    #[inline(always)]
    pub fn view(&self) -> IdSlice<'_, K, T> {
        IdSlice::new(&self.entries)
    }

    /// Return the number of entries.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Return whether the table has no entry.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Return all ids with an entry, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + Clone + use<K, T> {
        (0..self.len()).map(K::new)
    }

    /// Return the entry of an id, if the table has one.
    #[inline(always)]
    pub fn get(&self, key: K) -> Option<&T> {
        self.entries.get(key.index())
    }

    /// Like [`get`](IdVec::get), for writing.
    #[inline(always)]
    pub fn get_mut(&mut self, key: K) -> Option<&mut T> {
        self.entries.get_mut(key.index())
    }

    /// Return the entries, in the order of their ids.
    pub fn iter(&self) -> core::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// Like [`iter`](IdVec::iter), for writing.
    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, T> {
        self.entries.iter_mut()
    }

    /// Return the ids with their entries, in order.
    pub fn pairs(&self) -> Pairs<'_, K, T> {
        self.view().pairs()
    }

    /// Like [`pairs`](IdVec::pairs), for writing.
    pub fn pairs_mut(&mut self) -> impl Iterator<Item = (K, &mut T)> {
        self.entries.iter_mut().enumerate().map(|(index, entry)| (K::new(index), entry))
    }

    /// Return the first id whose entry fulfils a condition.
    pub fn position(&self, fulfils: impl FnMut(&T) -> bool) -> Option<K> {
        self.entries.iter().position(fulfils).map(K::new)
    }

    /// Return the entries as a slice, in the order of their ids.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        &self.entries
    }

    /// Return the entries as a slice, for writing.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.entries
    }

    /// Set every entry to `entry`.
    pub fn fill(&mut self, entry: T)
    where
        T: Clone,
    {
        self.entries.fill(entry);
    }
}

impl<K, T> From<Vec<T>> for IdVec<K, T> {
    fn from(entries: Vec<T>) -> IdVec<K, T> {
        IdVec { entries: entries.into(), keys: PhantomData }
    }
}

impl<K, T, const N: usize> From<[T; N]> for IdVec<K, T> {
    fn from(entries: [T; N]) -> IdVec<K, T> {
        IdVec { entries: entries.into(), keys: PhantomData }
    }
}

impl<K, T> FromIterator<T> for IdVec<K, T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> IdVec<K, T> {
        IdVec { entries: entries.into_iter().collect(), keys: PhantomData }
    }
}

/// The default is a table without entries.
impl<K, T> Default for IdVec<K, T> {
    fn default() -> IdVec<K, T> {
        Vec::new().into()
    }
}

impl<K, T: fmt::Debug> fmt::Debug for IdVec<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.fmt(f)
    }
}

impl<K: Id, T> Index<K> for IdVec<K, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, key: K) -> &T {
        &self.entries[key.index()]
    }
}

impl<K: Id, T> IndexMut<K> for IdVec<K, T> {
    #[inline(always)]
    fn index_mut(&mut self, key: K) -> &mut T {
        &mut self.entries[key.index()]
    }
}

impl<K, T> IntoIterator for IdVec<K, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_vec().into_iter()
    }
}

impl<'a, K, T> IntoIterator for &'a IdVec<K, T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

/// A view of a table with an entry for every id from 0.
#[derive(Debug)]
pub struct IdSlice<'a, K, T> {
    entries: &'a [T],
    keys: PhantomData<fn(K)>,
}

impl<K, T> Clone for IdSlice<'_, K, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, T> Copy for IdSlice<'_, K, T> {}

impl<'a, K: Id, T> IdSlice<'a, K, T> {
    /// Build a view of entries in the order of their ids.
    #[inline(always)]
    pub const fn new(entries: &'a [T]) -> IdSlice<'a, K, T> {
        IdSlice { entries, keys: PhantomData }
    }

    /// Return the number of entries.
    #[inline(always)]
    pub const fn len(self) -> usize {
        self.entries.len()
    }

    /// Return whether the table has no entry.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.entries.is_empty()
    }

    /// Return all ids with an entry, in order.
    pub fn keys(self) -> impl DoubleEndedIterator<Item = K> + use<K, T> {
        (0..self.len()).map(K::new)
    }

    /// Return the entries, in the order of their ids.
    pub fn iter(self) -> core::slice::Iter<'a, T> {
        self.entries.iter()
    }

    /// Return the ids with their entries, in order.
    pub fn pairs(self) -> Pairs<'a, K, T> {
        Pairs { entries: self.entries.iter().enumerate(), keys: PhantomData }
    }
}

impl<'a, T> IdSlice<'a, QueueId, T> {
    /// Convert a table by queue to a table by circuit, for a port where each circuit has its own queue.
    #[inline(always)]
    pub const fn by_circuit(self) -> IdSlice<'a, PortVc, T> {
        IdSlice::new(self.entries)
    }
}

impl<K: Id, T> Index<K> for IdSlice<'_, K, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, key: K) -> &T {
        &self.entries[key.index()]
    }
}

impl<'a, K, T> IntoIterator for IdSlice<'a, K, T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

/// An iterator over ids with their entries, in order.
#[derive(Clone, Debug)]
pub struct Pairs<'a, K, T> {
    entries: Enumerate<core::slice::Iter<'a, T>>,
    keys: PhantomData<fn(K)>,
}

impl<'a, K: Id, T> Iterator for Pairs<'a, K, T> {
    type Item = (K, &'a T);

    #[inline]
    fn next(&mut self) -> Option<(K, &'a T)> {
        self.entries.next().map(|(index, entry)| (K::new(index), entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_as_long_as_its_number() {
        assert_eq!((size_of::<CircuitId>(), size_of::<Option<IdVec<PortVc, u8>>>()), (4, 16));
    }

    #[test]
    fn a_table_gives_each_id_its_entry() {
        let mut table: IdVec<PortVc, char> = "abc".chars().collect();
        table[PortVc(1)] = 'd';
        assert_eq!((table[PortVc(0)], table[PortVc(1)]), ('a', 'd'));
        assert_eq!((table.get(PortVc(2)), table.get(PortVc(3))), (Some(&'c'), None));
        assert_eq!(table.keys().collect::<Vec<_>>(), [PortVc(0), PortVc(1), PortVc(2)]);
        assert!(table.pairs().eq([(PortVc(0), &'a'), (PortVc(1), &'d'), (PortVc(2), &'c')]));
    }
}
