//! A picture of a queue in text, for the output of a test.

use pushout_net::{Path, Port, Time};

/// The content of a queue over time, in slots of equal length.
#[derive(Clone, Debug)]
pub struct Picture {
    port: Port,
    slot: u64,
    /// The most octets in each slot.
    most: Vec<u64>,
    /// Octets times picoseconds so far, and the latest instant with its octets.
    area: u128,
    last: (Time, u64),
}

impl Picture {
    /// Draw the queue of a port, with a column for each `millis` milliseconds.
    pub fn new(port: Port, millis: u64) -> Picture {
        Picture { port, slot: millis * 1_000_000_000, most: Vec::new(), area: 0, last: (Time::ZERO, 0) }
    }

    /// Look at the queue now.
    pub fn see(&mut self, path: &Path) {
        let (now, octets) = (path.now(), path.queue(self.port).octets);
        let (since, before) = self.last;
        self.area += u128::from(before) * u128::from(now.picos() - since.picos());
        self.last = (now, octets);
        let slot = (now.picos() / self.slot) as usize;
        self.most.resize(self.most.len().max(slot + 1), 0);
        self.most[slot] = self.most[slot].max(octets);
    }

    /// Return the mean octets in the queue.
    pub fn mean(&self) -> f64 {
        self.area as f64 / self.last.0.picos().max(1) as f64
    }

    /// Return the picture: eight rows, the highest column at the top, with the octets of a full column.
    pub fn text(&self) -> String {
        let top = self.most.iter().copied().max().unwrap_or(0).max(1);
        let row = |row: u64| -> String {
            self.most.iter().map(|octets| if octets * 8 > top * row { '#' } else { ' ' }).collect::<String>()
                + "\n"
        };
        (0..8).rev().map(row).collect::<String>()
            + &format!("a full column is {top} octets, each {} ms wide\n", self.slot / 1_000_000_000)
    }
}
