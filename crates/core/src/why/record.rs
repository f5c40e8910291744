//! What a run records for the question: the frames that a port had to decide about, and what became of them.

use std::collections::{HashMap, HashSet};

use super::{Ill, Packet};
use crate::engine::reference::Offered;
use crate::network::circuit::Circuit;
use crate::trace::{Tracer, What};
use crate::transport::cargo::Cargo;
use crate::unit::{Flags, Unit};
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId};
use crate::verdict::Reason;

/// A frame at a port, about whose first unit the port had to decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The instant.
    pub time: Time,
    /// The port.
    pub port: LineId,
    /// The frame.
    pub packet: Packet,
    /// Serial number of the frame on its circuit, from 0.
    pub frame: u32,
    /// The flow that sent it, and what it carries.
    pub content: Option<(FlowId, Cargo)>,
    /// Units in the port when its first unit arrived, without it.
    pub units: u64,
    /// Octets of these units.
    pub octets: u64,
    /// Whether this unit had a congestion mark already.
    pub had_mark: bool,
}

/// A frame to which the ill happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trouble {
    /// The frame, when it arrived at the port.
    pub of: Decision,
    /// Number of its decision.
    pub own: usize,
    /// The instant of the ill.
    pub time: Time,
    /// The reason for which the frame was lost or marked; none if it was late, or cut without one.
    pub reason: Option<Reason>,
    /// Number of decisions before the ill.
    pub decisions: usize,
    /// The first decision of the busy period: before it nothing was in the port, or in its memory.
    pub busy: usize,
}

/// The recorder of a run.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    /// Which ports the question is about.
    scope: IdVec<LineId, bool>,
    ill: Ill,
    /// Whether all units are recorded, so that they can be offered again.
    keeps_units: bool,
    warmup: Time,
    pub(super) decisions: Vec<Decision>,
    pub(super) units: Vec<Offered>,
    pub(super) troubles: Vec<Trouble>,
    /// When each frame lost its first unit, at any port of the network, or at those of the question.
    pub(super) broken: HashMap<Packet, Time>,
    pub(super) broken_here: HashMap<Packet, Time>,
    troubled: HashSet<Packet>,
    /// The latest frame of each circuit at each port, and its number among the decisions.
    latest: HashMap<(LineId, CircuitId), (Packet, usize)>,
    /// Units and octets in each port of the question.
    held: HashMap<LineId, (u64, u64)>,
    busy: usize,
}

impl Recorder {
    pub(super) fn new(scope: &IdVec<LineId, bool>, ill: Ill, keeps_units: bool, warmup: Time) -> Recorder {
        Recorder {
            scope: scope.clone(),
            ill,
            keeps_units,
            warmup,
            decisions: Vec::new(),
            units: Vec::new(),
            troubles: Vec::new(),
            broken: HashMap::new(),
            broken_here: HashMap::new(),
            troubled: HashSet::new(),
            latest: HashMap::new(),
            held: HashMap::new(),
            busy: 0,
        }
    }

    fn arrives(&mut self, now: Time, port: LineId, unit: &Unit, circuits: &IdVec<CircuitId, Circuit>) {
        let (units, octets) = self.held.get(&port).copied().unwrap_or_default();
        if self.held.values().all(|(units, _)| *units == 0) {
            self.busy = self.decisions.len();
        }
        let packet = Packet::of(unit);
        if self.latest.get(&(port, unit.vc)).is_none_or(|(latest, _)| *latest != packet) {
            let content = circuits[unit.vc].frame(unit.frame).map(|frame| (frame.flow, frame.cargo));
            let had_mark = unit.flags.has(Flags::CE);
            self.latest.insert((port, unit.vc), (packet, self.decisions.len()));
            let decision =
                Decision { time: now, port, packet, frame: unit.frame, content, units, octets, had_mark };
            self.decisions.push(decision);
        }
        self.held.insert(port, (units + 1, octets + u64::from(unit.bytes)));
        if self.keeps_units {
            self.units.push(Offered { time: now, port, unit: *unit });
        }
    }

    /// Take a unit that has left a port, or was lost there, out of its books.
    fn removed(&mut self, port: LineId, unit: &Unit) {
        let (units, octets) = self.held.entry(port).or_default();
        (*units, *octets) = (*units - 1, octets.saturating_sub(u64::from(unit.bytes)));
    }

    /// Forget a frame that was lost before its port could decide about it.
    fn withdraw(&mut self, unit: &Unit) {
        let is_last = |last: &Decision| last.packet == Packet::of(unit);
        if unit.index == 0 && self.decisions.last().is_some_and(is_last) {
            self.decisions.pop();
            self.latest.retain(|_, (_, index)| *index < self.decisions.len());
        }
        if self.keeps_units {
            self.units.pop();
        }
    }

    /// Return the number of the decision about the frame of a unit at a port.
    fn index_of(&self, port: LineId, unit: &Unit) -> Option<usize> {
        let packet = Packet::of(unit);
        match self.latest.get(&(port, unit.vc)) {
            Some((latest, index)) if *latest == packet => Some(*index),
            _ => self.decisions.iter().rposition(|each| each.port == port && each.packet == packet),
        }
    }

    fn trouble(&mut self, now: Time, index: usize, reason: Option<Reason>) {
        let of = self.decisions[index];
        if now < self.warmup || !self.troubled.insert(of.packet) {
            return;
        }
        let (decisions, busy) = (self.decisions.len(), self.busy);
        self.troubles.push(Trouble { of, own: index, time: now, reason, decisions, busy });
    }

    fn leaves(&mut self, now: Time, port: LineId, unit: &Unit) {
        self.removed(port, unit);
        let may_be = match self.ill {
            Ill::Lost => false,
            Ill::Marked => unit.flags.has(Flags::CE),
            Ill::Trimmed => unit.flags.has(Flags::CUT),
            Ill::Late(_) => true,
        };
        let Some(index) = may_be.then(|| self.index_of(port, unit)).flatten() else { return };
        let Decision { time, had_mark, .. } = self.decisions[index];
        let is_new = match self.ill {
            Ill::Marked => !had_mark,
            Ill::Late(most) => now.since(time) > most,
            Ill::Lost | Ill::Trimmed => true,
        };
        if is_new {
            self.trouble(now, index, None);
        }
    }

    fn lost(&mut self, now: Time, port: LineId, unit: &Unit, reason: Reason) {
        self.removed(port, unit);
        self.broken_here.entry(Packet::of(unit)).or_insert(now);
        match reason {
            Reason::Link | Reason::Policed => self.withdraw(unit),
            _ if self.ill == Ill::Lost => {
                let index = self.index_of(port, unit);
                index.into_iter().for_each(|index| self.trouble(now, index, Some(reason)));
            }
            _ => {}
        }
    }
}

impl Tracer for Recorder {
    fn see(
        &mut self,
        now: Time,
        port: LineId,
        unit: &Unit,
        what: What,
        circuits: &IdVec<CircuitId, Circuit>,
    ) {
        if let What::Lost(_) = what {
            self.broken.entry(Packet::of(unit)).or_insert(now);
        }
        if !self.scope[port] {
            return;
        }
        match what {
            What::Arrives => self.arrives(now, port, unit, circuits),
            What::Leaves => self.leaves(now, port, unit),
            What::Lost(reason) => self.lost(now, port, unit, reason),
        }
    }
}
