//! Counters of a port.

use super::durations::Durations;
use super::occupancy::Occupancy;
use super::state::Figure;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{IdVec, PortVc};
use crate::verdict::Reason;

/// A reading: what a policy that divides the line's rate has measured for a circuit; rates in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// The rate of the circuit's accepted units.
    pub rate: f64,
    /// The rate that is left for this circuit and the circuits with a greater demand in proportion to their weights,
    /// all together.
    pub part: f64,
    /// The rate that the policy grants to the circuit.
    pub granted: f64,
    /// The probability with which the policy discards a frame of the circuit.
    pub refusal: f64,
}

/// Counters of one port since the last reset.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Units that arrived, whether accepted or lost.
    pub units_in: u64,
    /// Units that were sent.
    pub units_out: u64,
    /// Octets that were sent.
    pub bytes_out: u64,
    /// Frames whose first unit arrived.
    pub frames_in: u64,
    /// Frames that were sent completely.
    pub frames_whole_out: u64,
    /// Occupancy over time.
    pub occupancy: Occupancy,
    /// Counters that most ports of a large network never use; allocated at first use.
    rare: Option<Box<RareCounters>>,
    /// For each circuit the position (frame and index) of the unit that must be sent next for its frame to be
    /// complete; [`BROKEN`] if a unit of the frame is missing.
    next: IdVec<PortVc, u64>,
}

/// Counters that most ports of a large network leave at zero: losses, marks, packets that were cut, and control frames.
#[derive(Clone, Debug, Default)]
pub struct RareCounters {
    /// Units that were lost after they had been queued.
    pub units_given_up: u64,
    /// Octets of the units in `units_given_up`.
    pub bytes_given_up: u64,
    /// Credit cells or credit messages that were sent on the line; they do not count as units.
    pub credit_cells: u64,
    /// Pause frames that were sent on the line.
    pub pause_frames: u64,
    /// Packets that were cut to their headers instead of being lost.
    pub trimmed: u64,
    /// The readings of the policy at every sample, one for each circuit, if the scenario records them.
    pub meter: Option<Vec<Reading>>,
    /// The state of the policy at every sample, if the scenario records it.
    pub state: Option<Vec<Vec<Figure>>>,
    /// How long units waited before their transmission began, if the scenario requests it.
    pub waits: Option<Durations>,
    /// When a unit was marked, and the reason, if the scenario records it.
    pub marks: Option<Vec<(Time, Reason)>>,
    lost: [u64; Reason::ALL.len()],
    marked: [u64; Reason::ALL.len()],
    /// Units on which the port was the first to set a congestion mark since the start of the run.
    newly_marked: u64,
}

/// The counters of a port whose rare counters are all zero.
static NONE: RareCounters = RareCounters {
    units_given_up: 0,
    bytes_given_up: 0,
    credit_cells: 0,
    pause_frames: 0,
    trimmed: 0,
    meter: None,
    state: None,
    waits: None,
    marks: None,
    lost: [0; Reason::ALL.len()],
    marked: [0; Reason::ALL.len()],
    newly_marked: 0,
};

impl Counters {
    /// Build counters at time zero, for a port with `vcs` circuits.
    pub fn new(vcs: usize) -> Counters {
        Counters {
            units_in: 0,
            units_out: 0,
            bytes_out: 0,
            frames_in: 0,
            frames_whole_out: 0,
            occupancy: Occupancy::new(),
            rare: None,
            next: IdVec::filled(BROKEN, vcs),
        }
    }

    /// Reset the counters; the content of the queues counts as having just arrived, so that arrivals still equal
    /// departures, losses and content. A frame whose first unit has left before counts neither as an arrived nor as a
    /// completely sent frame.
    pub fn reset(&mut self, now: Time, queued: impl Iterator<Item = Unit>, level: u64) {
        (self.units_in, self.frames_in) = (0, 0);
        self.next.fill(BROKEN);
        queued.for_each(|unit| self.arrived(&unit));
        (self.units_out, self.bytes_out, self.frames_whole_out) = (0, 0, 0);
        self.occupancy.reset(now, level);
        if let Some(rare) = &mut self.rare {
            **rare = RareCounters {
                meter: rare.meter.as_ref().map(|_| Vec::new()),
                state: rare.state.as_ref().map(|_| Vec::new()),
                waits: rare.waits.as_ref().map(Durations::fresh),
                marks: rare.marks.as_ref().map(|_| Vec::new()),
                newly_marked: rare.newly_marked,
                ..RareCounters::default()
            };
        }
    }

    /// Return the counters that most ports leave at zero.
    pub fn rare(&self) -> &RareCounters {
        self.rare.as_deref().unwrap_or(&NONE)
    }

    /// Return the rare counters for writing; the first call allocates them.
    #[inline]
    pub(crate) fn rare_mut(&mut self) -> &mut RareCounters {
        self.rare.get_or_insert_default()
    }

    /// Return the readings of the policy at every sample, if they are recorded.
    pub(crate) fn meter_mut(&mut self) -> Option<&mut Vec<Reading>> {
        self.rare.as_mut()?.meter.as_mut()
    }

    /// Return the number of units lost for one reason.
    pub fn lost_for(&self, reason: Reason) -> u64 {
        self.rare().lost[reason as usize]
    }

    /// Return the number of lost units.
    pub fn lost_total(&self) -> u64 {
        self.rare().lost.iter().sum()
    }

    /// Return the number of units marked for one reason.
    pub fn marked_for(&self, reason: Reason) -> u64 {
        self.rare().marked[reason as usize]
    }

    #[inline]
    pub(crate) fn arrived(&mut self, unit: &Unit) {
        self.units_in += 1;
        self.frames_in += u64::from(unit.begins_frame());
    }

    #[inline]
    pub(crate) fn lost(&mut self, reason: Reason) {
        self.lost_many(reason, 1);
    }

    /// Return the number of marked units.
    pub fn marked_total(&self) -> u64 {
        self.rare().marked.iter().sum()
    }

    /// Return the number of units on which the port was the first to set a congestion mark since the start of the
    /// run, warm-up included.
    pub fn newly_marked(&self) -> u64 {
        self.rare().newly_marked
    }

    /// Count a mark of a unit, which may bear the mark of another port already.
    pub(crate) fn marked(&mut self, now: Time, unit: &Unit, reason: Reason) {
        let rare = self.rare_mut();
        rare.marks.iter_mut().for_each(|marks| marks.push((now, reason)));
        rare.marked[reason as usize] += 1;
        rare.newly_marked += u64::from(!unit.is_ce());
    }

    /// Count the wait of a unit whose transmission begins, if waits are measured.
    #[inline]
    pub(crate) fn waited(&mut self, now: Time, arrived: Time) {
        if let Some(waits) = self.rare.as_mut().and_then(|rare| rare.waits.as_mut()) {
            waits.add(now.since(arrived));
        }
    }

    /// Count the loss of a unit that had been queued.
    pub(crate) fn gave_up(&mut self, unit: &Unit, reason: Reason) {
        let rare = self.rare_mut();
        rare.units_given_up += 1;
        rare.bytes_given_up += u64::from(unit.bytes);
        rare.lost[reason as usize] += 1;
    }

    /// Count `count` units lost for one reason.
    #[inline]
    pub(crate) fn lost_many(&mut self, reason: Reason, count: u64) {
        if count > 0 {
            self.rare_mut().lost[reason as usize] += count;
        }
    }

    #[inline]
    pub(crate) fn departed(&mut self, unit: &Unit, vc: PortVc) {
        self.departed_run(unit, 1, vc);
    }

    /// Count a packet sent after it was cut to its headers; it does not count as a whole frame.
    #[inline]
    pub(crate) fn departed_cut(&mut self) {
        self.frames_whole_out -= 1;
    }

    /// Count consecutive units of a frame as sent; `unit` has the marks of the first and the last.
    #[inline]
    pub(crate) fn departed_run(&mut self, unit: &Unit, units: u16, vc: PortVc) {
        self.units_out += u64::from(units);
        self.bytes_out += u64::from(units) * u64::from(unit.bytes);
        let goes_on = unit.begins_frame() || self.next[vc] == place(unit);
        self.frames_whole_out += u64::from(goes_on && unit.is_eom());
        self.next[vc] = if goes_on && !unit.is_eom() { place(unit) + u64::from(units) } else { BROKEN };
    }
}

/// A position that no unit has.
const BROKEN: u64 = u64::MAX;

/// Return the position of a unit: its frame and its index there, in one word.
#[inline]
fn place(unit: &Unit) -> u64 {
    u64::from(unit.frame) << 16 | u64::from(unit.index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;

    fn cell(frame: u32, index: u16) -> Unit {
        let flags = [Flags::FIRST, Flags::default(), Flags::EOM][usize::from(index)];
        Unit { vc: CircuitId(0), frame, identity: frame, index, bytes: 53, hop: 0, flags }
    }

    /// Count the frames of three cells that are whole, when these cells (frame, index) are sent.
    fn whole(cells: &[(u32, u16)]) -> u64 {
        let mut counters = Counters::new(1);
        cells.iter().for_each(|&(frame, index)| counters.departed(&cell(frame, index), PortVc(0)));
        counters.frames_whole_out
    }

    #[test]
    fn a_frame_counts_as_whole_only_when_every_cell_was_sent() {
        assert_eq!(whole(&[(0, 0), (0, 1), (0, 2)]), 1);
        assert_eq!(whole(&[(0, 0), (0, 2)]), 0);
        assert_eq!(whole(&[(0, 1), (0, 2)]), 0);
    }

    #[test]
    fn a_lost_eom_spoils_only_its_own_frame_here() {
        assert_eq!(whole(&[(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]), 1);
    }

    #[test]
    fn the_tail_of_one_frame_does_not_complete_the_head_of_another() {
        assert_eq!(whole(&[(0, 0), (0, 1), (1, 2), (2, 0), (2, 1), (2, 2)]), 1);
    }

    #[test]
    fn octets_are_those_of_all_units_that_were_sent() {
        let mut counters = Counters::new(1);
        counters.departed(&cell(0, 0), PortVc(0));
        counters.departed_run(&cell(0, 1), 3, PortVc(0));
        assert_eq!((counters.units_out, counters.bytes_out), (4, 4 * 53));
    }

    #[test]
    fn a_reset_forgets_losses_and_credit_cells() {
        let mut counters = Counters::new(1);
        counters.lost(Reason::Overflow);
        counters.gave_up(&cell(0, 0), Reason::PushedOut);
        counters.rare_mut().credit_cells = 7;
        let given_up = |rare: &RareCounters| (rare.units_given_up, rare.bytes_given_up);
        assert_eq!((counters.lost_total(), given_up(counters.rare())), (2, (1, 53)));
        counters.reset(Time(10), std::iter::empty(), 0);
        assert_eq!((counters.lost_total(), given_up(counters.rare())), (0, (0, 0)));
        assert_eq!(counters.rare().credit_cells, 0);
    }

    #[test]
    fn after_a_reset_no_more_frames_leave_than_have_come() {
        let mut counters = Counters::new(1);
        counters.departed(&cell(0, 0), PortVc(0));
        counters.reset(Time(10), [cell(0, 1), cell(0, 2), cell(1, 0)].into_iter(), 3);
        assert_eq!((counters.units_in, counters.frames_in), (3, 1), "frame 0 began before, frame 1 waits");
        [cell(0, 1), cell(0, 2)].iter().for_each(|unit| counters.departed(unit, PortVc(0)));
        assert_eq!(counters.frames_whole_out, 0, "frame 0 counts neither here nor there");
        [cell(1, 0), cell(1, 1), cell(1, 2)].iter().for_each(|unit| counters.departed(unit, PortVc(0)));
        assert_eq!(counters.frames_whole_out, 1);
    }
}
