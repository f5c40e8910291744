//! What a port is told, besides the units that come over lines.

use std::collections::VecDeque;

use super::earliest::Earliest;
use super::key::{Key, NEVER};
use crate::link::credit::Credit;
use crate::network::circuit::Emission;

/// What a port is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Note {
    /// The host sends a frame.
    Frame(Emission),
    /// A credit has to be sent.
    Due(Credit),
    /// A credit has come back.
    Credit(Credit),
}

/// Notes to one port, in rows each of which is in order by itself.
#[derive(Clone, Debug)]
pub(super) struct Notes {
    rows: Vec<VecDeque<(Key, Note)>>,
    earliest: Earliest,
}

impl Notes {
    /// So many rows without notes.
    pub(super) fn new(rows: usize) -> Notes {
        Notes { rows: vec![VecDeque::new(); rows], earliest: Earliest::new(rows) }
    }

    /// The place of the first one.
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.earliest.first()
    }

    /// One more note.
    pub(super) fn push(&mut self, row: u32, key: Key, note: Note) {
        let notes = &mut self.rows[row as usize];
        if notes.is_empty() {
            self.earliest.set(row as usize, key);
        }
        notes.push_back((key, note));
    }

    /// Take the first one.
    pub(super) fn pop(&mut self) -> Note {
        let (row, _) = self.earliest.leader();
        let notes = &mut self.rows[row];
        let (_, note) = notes.pop_front().expect("a note that comes is there");
        self.earliest.set(row, notes.front().map_or(NEVER, |(key, _)| *key));
        note
    }
}
