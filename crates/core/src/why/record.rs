//! What a run records for the question: the frames that a port had to decide about, and what became of them.

use std::collections::{HashMap, HashSet};

use super::{Ill, Packet};
use crate::engine::reference::Offered;
use crate::network::circuit::{Circuit, Payload};
use crate::trace::{Tracer, What};
use crate::unit::{Flags, Unit};
use crate::units::Time;
use crate::units::ids::{CircuitId, IdVec};
use crate::verdict::Reason;

/// A frame at a port, about whose first unit the port had to decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The instant.
    pub time: Time,
    /// The port.
    pub port: u32,
    /// The frame.
    pub packet: Packet,
    /// Serial number of the frame on its circuit, from 0.
    pub frame: u32,
    /// The flow that sent it, and its payload.
    pub content: Option<(u32, Payload)>,
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
    /// Units in the port when the first unit of the frame arrived, without it.
    pub units: u64,
    /// Octets of these units.
    pub octets: u64,
}

/// The latest frame of a circuit at a port.
#[derive(Clone, Copy, Debug)]
struct Latest {
    packet: Packet,
    /// Its place among the decisions.
    index: usize,
    units: u64,
    octets: u64,
    had_mark: bool,
}

/// The recorder of a run.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    /// Which ports the question is about.
    scope: Vec<bool>,
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
    latest: HashMap<(u32, CircuitId), Latest>,
    /// Units and octets in each port of the question.
    held: HashMap<u32, (u64, u64)>,
    busy: usize,
}

impl Recorder {
    pub(super) fn new(scope: &[bool], ill: Ill, keeps_units: bool, warmup: Time) -> Recorder {
        Recorder {
            scope: scope.to_vec(),
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

    fn arrives(&mut self, now: Time, port: u32, unit: &Unit, circuits: &IdVec<CircuitId, Circuit>) {
        let (units, octets) = self.held.get(&port).copied().unwrap_or_default();
        if self.held.values().all(|(units, _)| *units == 0) {
            self.busy = self.decisions.len();
        }
        let packet = Packet::of(unit);
        if self.latest.get(&(port, unit.vc)).is_none_or(|latest| latest.packet != packet) {
            let content = circuits[unit.vc].frame(unit.frame).map(|frame| (frame.flow, frame.payload));
            let had_mark = unit.flags.has(Flags::CE);
            self.latest.insert(
                (port, unit.vc),
                Latest { packet, index: self.decisions.len(), units, octets, had_mark },
            );
            self.decisions.push(Decision { time: now, port, packet, frame: unit.frame, content });
        }
        self.held.insert(port, (units + 1, octets + u64::from(unit.bytes)));
        if self.keeps_units {
            self.units.push(Offered { time: now, port, unit: *unit });
        }
    }

    /// Take a unit that has left a port, or was lost there, out of its books.
    fn removed(&mut self, port: u32, unit: &Unit) {
        let (units, octets) = self.held.entry(port).or_default();
        (*units, *octets) = (*units - 1, octets.saturating_sub(u64::from(unit.bytes)));
    }

    /// Forget a frame that was lost before its port could decide about it.
    fn withdraw(&mut self, unit: &Unit) {
        let is_last = |last: &Decision| last.packet == Packet::of(unit);
        if unit.index == 0 && self.decisions.last().is_some_and(is_last) {
            self.decisions.pop();
            self.latest.retain(|_, latest| latest.index < self.decisions.len());
        }
        if self.keeps_units {
            self.units.pop();
        }
    }

    fn trouble(&mut self, now: Time, port: u32, unit: &Unit, reason: Option<Reason>) {
        let packet = Packet::of(unit);
        let Some(latest) = self.latest.get(&(port, unit.vc)).filter(|latest| latest.packet == packet) else {
            return self.trouble_of_earlier(now, port, unit, reason);
        };
        let Latest { index, units, octets, .. } = *latest;
        self.note(now, index, reason, (units, octets));
    }

    /// Note an ill of a frame after which others of its circuit have arrived.
    fn trouble_of_earlier(&mut self, now: Time, port: u32, unit: &Unit, reason: Option<Reason>) {
        let is_it = |decision: &Decision| decision.port == port && decision.packet == Packet::of(unit);
        if let Some(index) = self.decisions.iter().rposition(is_it) {
            self.note(now, index, reason, self.held.get(&port).copied().unwrap_or_default());
        }
    }

    fn note(&mut self, now: Time, index: usize, reason: Option<Reason>, (units, octets): (u64, u64)) {
        let of = self.decisions[index];
        if now < self.warmup || !self.troubled.insert(of.packet) {
            return;
        }
        let decisions = self.decisions.len();
        self.troubles.push(Trouble {
            of,
            own: index,
            time: now,
            reason,
            decisions,
            busy: self.busy,
            units,
            octets,
        });
    }

    fn leaves(&mut self, now: Time, port: u32, unit: &Unit) {
        self.removed(port, unit);
        let latest = self.latest.get(&(port, unit.vc)).filter(|latest| latest.packet == Packet::of(unit));
        let is_new = match self.ill {
            Ill::Lost => false,
            Ill::Marked => unit.flags.has(Flags::CE) && latest.is_none_or(|latest| !latest.had_mark),
            Ill::Trimmed => unit.flags.has(Flags::CUT),
            Ill::Late(most) => {
                let arrived = latest.map_or_else(
                    || self.arrival(port, unit),
                    |latest| Some(self.decisions[latest.index].time),
                );
                arrived.is_some_and(|arrived| now.since(arrived) > most)
            }
        };
        if is_new {
            self.trouble(now, port, unit, None);
        }
    }

    /// Return when the first unit of a frame arrived at a port.
    fn arrival(&self, port: u32, unit: &Unit) -> Option<Time> {
        let is_it = |decision: &&Decision| decision.port == port && decision.packet == Packet::of(unit);
        self.decisions.iter().rev().find(is_it).map(|decision| decision.time)
    }

    fn lost(&mut self, now: Time, port: u32, unit: &Unit, reason: Reason) {
        self.removed(port, unit);
        self.broken_here.entry(Packet::of(unit)).or_insert(now);
        match reason {
            Reason::Link | Reason::Policed => self.withdraw(unit),
            _ if self.ill == Ill::Lost => self.trouble(now, port, unit, Some(reason)),
            _ => {}
        }
    }
}

impl Tracer for Recorder {
    fn see(&mut self, now: Time, port: usize, unit: &Unit, what: What, circuits: &IdVec<CircuitId, Circuit>) {
        if let What::Lost(_) = what {
            self.broken.entry(Packet::of(unit)).or_insert(now);
        }
        if !self.scope[port] {
            return;
        }
        match what {
            What::Arrives => self.arrives(now, port as u32, unit, circuits),
            What::Leaves => self.leaves(now, port as u32, unit),
            What::Lost(reason) => self.lost(now, port as u32, unit, reason),
        }
    }
}
