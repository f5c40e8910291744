//! The floor: the cost of a cell if nothing is simulated except its buffer, for `pushout bench`.
//!
//! Ten circuits in turn send frames at 1.1 times the rate of the line into a ring of 3000 cells with early packet
//! discard at 2500, the port of workload W1. A cell is counted, judged, put into the ring and taken out again; there is
//! no clock, no event, no line and no host. No simulator that handles every cell can be faster.
//!
//! All frames have one length, and arrivals one rate. This loop runs no scenario: it is a yardstick for the engines.

/// Circuits that share the port.
const CIRCUITS: usize = 10;
/// Number of cells of a frame: 2048 octets of data with TCP and IP headers over AAL5.
const FRAME: u32 = 44;
/// Capacity of the buffer in cells.
const CAPACITY: usize = 3000;
/// The occupancy from which on frames are refused.
const THRESHOLD: usize = 2500;
/// Slots of the ring: the next power of two, so that positions wrap by a mask.
const SLOTS: usize = CAPACITY.next_power_of_two();
/// Number of cells that leave while `ARRIVING` cells arrive.
const SERVED: u32 = 10;
const ARRIVING: u32 = 11;

/// One circuit: its counts of cells, its position in the present frame, and whether the rest of this frame is
/// discarded.
#[derive(Clone, Copy, Debug, Default)]
pub struct FloorCircuit {
    /// Cells that arrived.
    pub arrived: u64,
    /// Cells that were refused or found no room.
    pub lost: u64,
    /// Cells that were sent.
    pub sent: u64,
    position: u32,
    broken: bool,
}

/// Pass `cells` cells through the port; returns the counts of every circuit and the number of cells that still wait.
pub fn floor(cells: u64) -> ([FloorCircuit; CIRCUITS], u64) {
    let mut circuits = [FloorCircuit::default(); CIRCUITS];
    let mut ring = vec![0u8; SLOTS];
    let (mut head, mut tail, mut due, mut turn) = (0usize, 0usize, 0u32, 0usize);
    for _ in 0..cells {
        if circuits[turn].admits(tail - head) {
            ring[tail % SLOTS] = turn as u8;
            tail += 1;
        }
        turn = if turn + 1 == CIRCUITS { 0 } else { turn + 1 };
        due += SERVED;
        if due >= ARRIVING {
            due -= ARRIVING;
            if head != tail {
                circuits[usize::from(ring[head % SLOTS])].sent += 1;
                head += 1;
            }
        }
    }
    (circuits, (tail - head) as u64)
}

impl FloorCircuit {
    /// Count an arriving cell that meets `occupancy` cells, and return whether it is queued.
    #[inline]
    fn admits(&mut self, occupancy: usize) -> bool {
        self.arrived += 1;
        if self.position == 0 {
            self.broken = occupancy >= THRESHOLD;
        }
        self.broken |= occupancy >= CAPACITY;
        self.position = if self.position + 1 == FRAME { 0 } else { self.position + 1 };
        self.lost += u64::from(self.broken);
        !self.broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_books_balance_and_frames_are_refused_whole() {
        let cells = 100 * 10 * u64::from(FRAME);
        let (circuits, waiting) = floor(cells);
        let total = |count: fn(&FloorCircuit) -> u64| circuits.iter().map(count).sum::<u64>();
        assert_eq!(total(|circuit| circuit.arrived), cells);
        assert_eq!(cells, total(|circuit| circuit.sent) + total(|circuit| circuit.lost) + waiting);
        assert!(circuits.iter().all(|circuit| circuit.lost.is_multiple_of(u64::from(FRAME))), "{circuits:?}");
    }

    #[test]
    fn the_line_is_kept_busy_and_the_buffer_is_never_overrun() {
        let (circuits, waiting) = floor(1_100_000);
        assert!((THRESHOLD as u64 - 500..=CAPACITY as u64).contains(&waiting), "{waiting}");
        let sent: u64 = circuits.iter().map(|circuit| circuit.sent).sum();
        assert_eq!(sent, 1_000_000, "ten of eleven");
    }
}
