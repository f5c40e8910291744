//! What a port counts.

use super::occupancy::Occupancy;
use crate::buffer::verdict::Reason;
use crate::unit::Unit;
use crate::units::Time;

/// Counters of one port since the last reset.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Units that arrived, whatever became of them.
    pub units_in: u64,
    /// Units that were sent.
    pub units_out: u64,
    /// Octets that were sent.
    pub bytes_out: u64,
    /// Frames whose first unit arrived.
    pub frames_in: u64,
    /// Frames of which every unit was sent.
    pub frames_whole_out: u64,
    /// Occupancy over time.
    pub occupancy: Occupancy,
    lost: [u64; Reason::ALL.len()],
    progress: Vec<Progress>,
}

/// How much of a circuit's current frame has been sent without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// So many units from the first on.
    Sent(u16),
    /// One is missing.
    Gap,
}

impl Counters {
    /// Counters at time zero, for a port with `vcs` circuits.
    pub fn new(vcs: usize) -> Counters {
        Counters {
            units_in: 0,
            units_out: 0,
            bytes_out: 0,
            frames_in: 0,
            frames_whole_out: 0,
            occupancy: Occupancy::new(),
            lost: [0; Reason::ALL.len()],
            progress: vec![Progress::Sent(0); vcs],
        }
    }

    /// Start again; what is queued counts as having just arrived, so that the books go on balancing.
    pub fn reset(&mut self, now: Time, queued: u64, level: u64) {
        self.units_in = queued;
        (self.units_out, self.bytes_out, self.frames_in, self.frames_whole_out) = (0, 0, 0, 0);
        self.lost.fill(0);
        self.occupancy.reset(now, level);
    }

    /// Losses under one reason.
    pub fn lost_for(&self, reason: Reason) -> u64 {
        self.lost[reason as usize]
    }

    /// All losses.
    pub fn lost_total(&self) -> u64 {
        self.lost.iter().sum()
    }

    #[inline]
    pub(crate) fn arrived(&mut self, unit: &Unit) {
        self.units_in += 1;
        self.frames_in += u64::from(unit.is_first());
    }

    #[inline]
    pub(crate) fn lost(&mut self, reason: Reason) {
        self.lost[reason as usize] += 1;
    }

    /// So many were lost for one reason.
    pub(crate) fn lost_many(&mut self, reason: Reason, count: u64) {
        self.lost[reason as usize] += count;
    }

    #[inline]
    pub(crate) fn departed(&mut self, unit: &Unit, vc: usize) {
        self.units_out += 1;
        self.bytes_out += u64::from(unit.bytes);
        let progress = match self.progress[vc] {
            _ if unit.is_first() => Progress::Sent(1),
            Progress::Sent(n) if n == unit.index => Progress::Sent(n + 1),
            _ => Progress::Gap,
        };
        self.frames_whole_out += u64::from(unit.is_eom() && progress != Progress::Gap);
        self.progress[vc] = if unit.is_eom() { Progress::Sent(0) } else { progress };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;

    fn cell(index: u16, flags: Flags) -> Unit {
        Unit { vc: 0, frame: 0, index, bytes: 53, hop: 0, flags }
    }

    #[test]
    fn a_frame_counts_as_whole_only_when_every_cell_was_sent() {
        let mut counters = Counters::new(1);
        let (first, middle, last) = (Flags::FIRST, Flags::default(), Flags::EOM);
        for unit in [cell(0, first), cell(1, middle), cell(2, last)] {
            counters.departed(&unit, 0);
        }
        assert_eq!(counters.frames_whole_out, 1);
        for unit in [cell(0, first), cell(2, last)] {
            counters.departed(&unit, 0);
        }
        assert_eq!(counters.frames_whole_out, 1);
        for unit in [cell(0, first), cell(0, first), cell(1, last)] {
            counters.departed(&unit, 0);
        }
        assert_eq!(counters.frames_whole_out, 2, "a lost EOM spoils only its own frame here");
    }
}
