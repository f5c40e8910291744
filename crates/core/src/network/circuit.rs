//! A virtual circuit: its path, its frames in flight, and the reassembly at the far end.

use std::collections::{BTreeMap, VecDeque};

use super::branches::{Branches, Hop};
use crate::adaptation::aal5::{Reassembled, Reassembly};
use crate::adaptation::coded::Collection;
use crate::adaptation::{Framing, MAX_PACKET, Shape};
use crate::police::{self, Conformance, EvenRun, Police};
use crate::rng::Subject;
use crate::scenario::contract::{Passing, carried};
use crate::scenario::model::{Scenario, Vc};
use crate::transport::cargo::Cargo;
use crate::transport::udp::Datagram;
use crate::unit::{Boundary, Flags, Unit};
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, LineId};
use crate::verdict::Reason;

/// A frame that has been sent and may still arrive.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The flow whose frame it is.
    pub flow: FlowId,
    /// Number of units of the frame.
    pub units: u16,
    /// What it carries.
    pub cargo: Cargo,
}

/// A frame that a host hands to its network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// The circuit.
    pub vc: CircuitId,
    /// Serial number of the frame on the circuit.
    pub frame: u32,
    /// Name of its packet, see `Cargo::identity`.
    pub identity: u32,
    /// Number and size of the frame's units.
    pub shape: Shape,
    /// Marks of each unit.
    pub marks: Flags,
}

impl Emission {
    /// Return the frame's first unit, for which random numbers are drawn.
    pub fn subject(&self) -> Subject {
        Subject::unit(self.vc.0, self.identity, 0)
    }

    /// Return the units in order.
    pub fn units(self) -> impl Iterator<Item = Unit> {
        self.shape.units(self.vc, self.frame, self.identity, self.marks)
    }
}

/// Counts of frames at the destination of a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Frames reassembled.
    pub whole: u64,
    /// Frames with a number of cells that does not match the AAL5 trailer, or too few cells for the code to restore
    /// them.
    pub wrong_length: u64,
    /// Frames whose cells have a wrong CRC.
    pub wrong_crc: u64,
}

/// Counts of all units of a circuit since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Units handed to the first port.
    pub sent: u64,
    /// Units that arrived at the destination.
    pub arrived: u64,
    /// Units lost at a port.
    pub lost: u64,
}

impl Tally {
    /// Return the number of units in a port or on a line.
    pub fn under_way(&self) -> u64 {
        self.sent - self.arrived - self.lost
    }
}

/// Counts of units with a congestion mark since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Marked units that arrived at the destination.
    pub arrived: u64,
    /// Marked units lost at a port.
    pub lost: u64,
}

/// A circuit: fields that every packet uses come first, since with a thousand circuits memory access dominates.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Circuit {
    frames: VecDeque<Frame>,
    oldest: u32,
    vc: CircuitId,
    tally: Tally,
    framing: Framing,
    received: Received,
    hops: Vec<Hop>,
    reassembly: Reassembly,
    collection: Collection,
    police: Option<Box<Policer>>,
    marks: Marks,
    overtaking: Option<Box<Overtaking>>,
    branches: Option<Box<Branches>>,
}

/// Return whether packets of a circuit may overtake each other, because it has several routes or because a port on
/// its way, or the line behind it, reorders packets.
fn lets_overtake(scenario: &Scenario, spec: &Vc) -> bool {
    let reorders = |line: LineId| scenario.lines[line].port.lets_overtake() || scenario.reorders_on(line);
    spec.spread.is_some() || spec.path.iter().any(|&line| reorders(line))
}

/// Frames in flight on a circuit whose packets may overtake each other.
#[derive(Clone, Debug, Default)]
struct Overtaking {
    /// The serial number of the next frame.
    next: u32,
    under_way: BTreeMap<u32, Frame>,
}

/// The policer of a circuit, and the boundaries of frames after it.
#[derive(Clone, Debug)]
struct Policer {
    policy: police::Policy,
    boundary: Boundary,
}

/// Consecutive units of a frame on which a policer has passed one verdict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicedUnits {
    /// The first unit, with the marks of the first and the last.
    pub(crate) unit: Unit,
    pub(crate) units: u16,
    /// The reason for which they are lost, if they are.
    pub(crate) lost: Option<Reason>,
}

impl Overtaking {
    /// Add a frame that leaves its host; returns its serial number.
    #[inline(never)]
    fn add(&mut self, frame: Frame) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.under_way.insert(number, frame);
        number
    }
}

impl Policer {
    /// Police a unit: return the unit, possibly marked; the error is the reason for which it is lost.
    fn judge(&mut self, now: Time, unit: Unit) -> Result<Unit, Reason> {
        let unit = self.policy.judge(now, &unit).apply(unit)?;
        Ok(self.boundary.pass(unit))
    }

    /// Police consecutive units of a frame; `unit` has the marks of the first and the last.
    fn judge_run(&mut self, unit: Unit, run: &EvenRun) -> PolicedUnits {
        let (verdict, units) = self.policy.judge_run(&unit, run);
        let eom = if units < run.units { Flags::EOM } else { Flags::default() };
        let unit = Unit { flags: unit.flags.without(eom), ..unit };
        match verdict.apply(unit) {
            Ok(passing) => PolicedUnits { unit: self.boundary.pass(passing), units, lost: None },
            Err(reason) => PolicedUnits { unit, units, lost: Some(reason) },
        }
    }
}

impl Circuit {
    /// Build circuit number `vc` of a scenario, at time zero.
    pub fn new(scenario: &Scenario, spec: &Vc, vc: CircuitId, passing: &Passing) -> Circuit {
        let hop = |&line: &LineId| Hop { port: line, vc: passing.number(line, vc) };
        let police = carried(scenario, vc).and_then(|flow| {
            let context = police::Context { seed: scenario.seed, flow: &spec.name };
            let policer = flow.police.as_ref()?.build(&context);
            let policy = policer.expect("a checked scenario can be built");
            Some(Box::new(Policer { policy, boundary: Boundary::default() }))
        });
        let hops = |path: &[LineId]| -> Vec<Hop> { path.iter().map(hop).collect() };
        Circuit {
            hops: hops(&spec.path),
            branches: spec.spread.as_ref().map(|spread| Box::new(Branches::new(spread, hops))),
            framing: spec.framing,
            vc,
            frames: VecDeque::new(),
            oldest: 0,
            reassembly: Reassembly::default(),
            collection: Collection::default(),
            police,
            received: Received::default(),
            tally: Tally::default(),
            marks: Marks::default(),
            overtaking: lets_overtake(scenario, spec).then(Box::default),
        }
    }

    /// Return the port that a unit reaches at its hop, or `None` at its destination.
    #[inline]
    pub fn hop(&self, unit: &Unit) -> Option<Hop> {
        self.route(unit.frame).get(usize::from(unit.hop)).copied()
    }

    /// Return the ports on the route of a frame.
    #[inline]
    pub fn route(&self, frame: u32) -> &[Hop] {
        match &self.branches {
            None => &self.hops,
            Some(branches) => branches.route(frame),
        }
    }

    /// Return the ports on each route of the circuit.
    pub(crate) fn routes(&self) -> impl Iterator<Item = &[Hop]> {
        let only = self.branches.is_none().then_some(&self.hops[..]);
        only.into_iter().chain(self.branches.iter().flat_map(|branches| branches.routes()))
    }

    /// Record that a frame leaves its host, which decides which route its units take.
    #[inline]
    pub fn depart(&mut self, now: Time, frame: u32) {
        if let Some(branches) = &mut self.branches {
            branches.depart(now, frame);
        }
    }

    /// Return the number of the route of a frame among all routes of the circuit.
    pub(crate) fn route_number(&self, frame: u32) -> usize {
        self.branches.as_ref().map_or(0, |branches| branches.number(frame))
    }

    /// Return the counts of the destination since the last reset.
    pub fn received(&self) -> Received {
        self.received
    }

    /// Return whether no unit is in a port or on a line.
    pub(crate) fn is_quiet(&self) -> bool {
        self.tally.under_way() == 0
    }

    /// Return the counts of all units since the start of the run.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Police a unit that arrives at the end of a line: it may be marked or lost.
    #[inline]
    pub fn police(&mut self, now: Time, unit: Unit) -> Result<Unit, Reason> {
        match &mut self.police {
            Some(policer) if unit.hop == police::HOP => policer.judge(now, unit),
            _ => Ok(unit),
        }
    }

    /// Return whether the policer, if there is one, draws about units.
    pub(crate) fn policer_draws(&self) -> bool {
        self.police.as_ref().is_some_and(|policer| policer.policy.draws())
    }

    /// Police units that arrive at the first switch, up to the first one with another verdict; `unit` is the first of
    /// them, with the marks of the first and the last.
    pub(crate) fn police_run(&mut self, unit: Unit, run: &EvenRun) -> PolicedUnits {
        match &mut self.police {
            Some(policer) => policer.judge_run(unit, run),
            None => PolicedUnits { unit, units: run.units, lost: None },
        }
    }

    /// Return the counts of units with a congestion mark since the start of the run.
    pub fn marks(&self) -> Marks {
        self.marks
    }

    /// Count a unit that was lost at a port.
    pub fn lost(&mut self, unit: &Unit) {
        self.lost_many(unit, 1);
    }

    /// Count `units` units like this one that were lost at a port.
    pub(crate) fn lost_many(&mut self, unit: &Unit, units: u64) {
        self.tally.lost += units;
        self.marks.lost += if unit.is_ce() { units } else { 0 };
        if let Some(overtaking) = &mut self.overtaking {
            overtaking.under_way.remove(&unit.frame);
        }
    }

    /// Add counts that an engine has kept itself: all units, units with a congestion mark, and `whole` frames
    /// received in the measured time.
    pub(crate) fn enter(&mut self, tally: Tally, marks: Marks, whole: u64) {
        (self.tally, self.marks, self.received.whole) = (tally, marks, whole);
    }

    /// Reset the counters of frames; the counts of units and of marks cover the whole run.
    pub fn reset_counters(&mut self) {
        self.received = Received::default();
    }

    /// Return the octets of the longest packet that the circuit can carry, IP header included.
    pub(crate) fn longest_packet(&self) -> u32 {
        MAX_PACKET as u32 - self.framing.added()
    }

    /// Send a packet of `bytes` octets, IP header included.
    #[inline(always)] // a packet that has just been written is slow to copy
    pub fn emit(&mut self, flow: FlowId, bytes: u32, cargo: Cargo) -> Emission {
        let shape = self.framing.shape(bytes);
        self.tally.sent += u64::from(shape.units);
        let frame = self.number(Frame { flow, units: shape.units, cargo });
        Emission { vc: self.vc, frame, identity: cargo.identity(frame), shape, marks: cargo.marks() }
    }

    /// Send `cells` frames of one unit each, of which the engine stores what arrives; returns the number of the first.
    pub(crate) fn emit_singles(&mut self, cells: u32) -> u32 {
        let first = self.oldest.wrapping_add(self.frames.len() as u32);
        self.frames.clear();
        self.oldest = first.wrapping_add(cells);
        self.tally.sent += u64::from(cells);
        first
    }

    /// Remove a frame of one unit, a datagram, of which the engine stores what arrives; returns the instant at which it
    /// was written.
    pub(crate) fn take_single(&mut self, number: u32) -> Option<Time> {
        while self.oldest != number {
            self.pass();
        }
        let datagram: Datagram = self.frames.front()?.cargo.open()?;
        self.pass();
        Some(datagram.sent)
    }

    /// Police single cells that arrive at the first switch at these instants; `unit` is the first of them. Append the
    /// numbers of those in excess.
    pub(crate) fn police_singles(
        &mut self,
        unit: Unit,
        arrivals: impl Iterator<Item = Time>,
        excess: &mut Vec<u32>,
    ) {
        let Some(policer) = &mut self.police else { return };
        for (place, time) in (0..).zip(arrivals) {
            let number = unit.frame.wrapping_add(place);
            let unit = Unit { frame: number, identity: number, ..unit };
            if policer.policy.judge(time, &unit) != Conformance::Conforming {
                excess.push(number);
            }
        }
    }

    /// Count frames of one unit that have arrived.
    pub(crate) fn count_singles(&mut self, frames: u64) {
        self.tally.arrived += frames;
        self.received.whole += frames;
    }

    /// Give a frame that leaves its host the next serial number, and return this number.
    #[inline(always)]
    fn number(&mut self, frame: Frame) -> u32 {
        if let Some(overtaking) = &mut self.overtaking {
            return overtaking.add(frame);
        }
        self.frames.push_back(frame);
        self.oldest.wrapping_add(self.frames.len() as u32 - 1)
    }

    /// Return the frame in flight with this serial number.
    pub fn frame(&self, number: u32) -> Option<&Frame> {
        match &self.overtaking {
            Some(overtaking) => overtaking.under_way.get(&number),
            None => self.frames.get(number.wrapping_sub(self.oldest) as usize),
        }
    }

    /// Receive a unit at the destination; returns the frame that the unit completes, if it completes one.
    pub fn receive(&mut self, unit: &Unit) -> Option<Frame> {
        self.receive_run(unit, 1).then(|| self.take())
    }

    /// Receive consecutive units of a frame; `unit` has the marks of the first and the last. Returns whether these
    /// units complete the frame.
    ///
    /// Most circuits keep the order of their frames, so all frames sent before this one have arrived or are lost; on
    /// other circuits a frame may overtake earlier ones.
    #[inline]
    pub fn receive_run(&mut self, unit: &Unit, units: u16) -> bool {
        self.tally.arrived += u64::from(units);
        self.marks.arrived += if unit.is_ce() { units.into() } else { 0 };
        self.reach(unit.frame);
        let sent = self.current().units;
        let parity = self.framing.parity();
        if parity > 0 {
            assert_eq!(units, 1, "frames that repair themselves arrive cell by cell");
            return self.collect(unit, sent - parity);
        }
        let collected = self.reassembly.push(unit, units, sent);
        match collected {
            None => {}
            Some(Reassembled::Whole) => {
                self.received.whole += u64::from(!self.reassembly.marks().has(Flags::CUT));
            }
            Some(Reassembled::WrongLength) => self.received.wrong_length += 1,
            Some(Reassembled::WrongCrc) => self.received.wrong_crc += 1,
        }
        matches!(collected, Some(Reassembled::Whole))
    }

    /// Remove the frame that the latest unit has completed. A frame with parity cells stays in the list, since more
    /// of its cells may follow.
    #[inline]
    pub fn take(&mut self) -> Frame {
        let mut frame = *self.current();
        if self.framing.parity() == 0 {
            self.pass();
        }
        let marks = self.reassembly.marks();
        if marks != Flags::default() {
            frame.cargo = frame.cargo.marked_by(marks);
        }
        frame
    }

    /// Return the frame of the latest unit that arrived.
    #[inline]
    fn current(&self) -> &Frame {
        self.frames.front().expect("a unit belongs to a frame that was sent")
    }

    /// Drop the frame at the head, since no more of its units are expected.
    #[inline]
    fn pass(&mut self) {
        self.frames.pop_front();
        self.oldest = self.oldest.wrapping_add(1);
    }

    /// Remove the frames before this number from the list, since they have arrived or are lost; where frames may
    /// overtake each other, put only this frame into the list.
    #[inline]
    fn reach(&mut self, number: u32) {
        if let Some(overtaking) = &mut self.overtaking {
            self.frames.clear();
            self.frames.extend(overtaking.under_way.remove(&number));
            self.oldest = number;
        }
        while self.oldest != number {
            self.pass();
        }
    }

    /// Collect a cell whose frame can be restored from any `needed` cells; returns whether the frame is now complete.
    fn collect(&mut self, unit: &Unit, needed: u16) -> bool {
        let collected = self.collection.push(unit, needed);
        self.received.wrong_length += u64::from(collected.given_up);
        self.received.whole += u64::from(collected.whole);
        collected.whole
    }
}
