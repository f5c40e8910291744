//! What becomes of some frames in a run that differs from another in a few refusals.

use std::collections::HashMap;

use super::{Ill, Packet};
use crate::network::circuit::Circuit;
use crate::trace::{Tracer, What};
use crate::unit::{Flags, Unit};
use crate::units::Time;
use crate::units::ids::{CircuitId, IdVec, LineId};

/// A frame that is refused at a port.
pub(super) type Refusal = (LineId, Packet);

/// A frame whose fate is observed.
#[derive(Clone, Copy, Debug)]
struct Watched {
    port: LineId,
    arrived: Option<Time>,
    had_mark: bool,
    fate: Fate,
}

/// What has become of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It has not yet passed the port, and nothing has happened to it.
    Open,
    /// It has passed the port without the ill.
    Saved,
    /// The ill happened to it again, or another one before its port.
    Lost,
}

/// The observer of such a run.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    ill: Ill,
    refused: Vec<Refusal>,
    watched: HashMap<Packet, Watched>,
    open: usize,
    /// Frames that have lost a unit since something has been refused or observed, and when the first: at any port, or at
    /// those of `scope`.
    pub(super) broken: HashMap<Packet, Time>,
    scope: Option<IdVec<LineId, bool>>,
}

impl Watch {
    /// Observe nothing yet; `scope` limits the losses that are counted to some ports.
    pub(super) fn new(ill: Ill, scope: Option<IdVec<LineId, bool>>) -> Watch {
        Watch { ill, refused: Vec::new(), watched: HashMap::new(), open: 0, broken: HashMap::new(), scope }
    }

    /// Refuse one more frame.
    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.refused.push(refusal);
    }

    /// Observe frames, each at its port.
    pub(super) fn follow(&mut self, frames: impl IntoIterator<Item = (LineId, Packet)>) {
        for (port, packet) in frames {
            let watched = Watched { port, arrived: None, had_mark: false, fate: Fate::Open };
            self.open += usize::from(self.watched.insert(packet, watched).is_none());
        }
    }

    /// Return whether the fate of a frame is still open.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0
    }

    /// Return what has become of a frame.
    pub(super) fn fate(&self, packet: Packet) -> Fate {
        self.watched[&packet].fate
    }

    fn decide(&mut self, packet: Packet, fate: Fate) {
        if let Some(watched) = self.watched.get_mut(&packet).filter(|watched| watched.fate == Fate::Open) {
            watched.fate = fate;
            self.open -= 1;
        }
    }

    fn leaves(&mut self, now: Time, port: LineId, unit: &Unit) {
        let packet = Packet::of(unit);
        let Some(&Watched { port: at, arrived, had_mark, .. }) = self.watched.get(&packet) else { return };
        if at != port {
            return;
        }
        let happened = match self.ill {
            Ill::Lost => false,
            Ill::Marked => unit.flags.has(Flags::CE) && !had_mark,
            Ill::Trimmed => unit.flags.has(Flags::CUT),
            Ill::Late(most) => arrived.is_some_and(|arrived| now.since(arrived) > most),
        };
        if happened {
            self.decide(packet, Fate::Lost);
        } else if unit.flags.has(Flags::EOM) {
            self.decide(packet, Fate::Saved);
        }
    }
}

impl Tracer for Watch {
    fn see(&mut self, now: Time, port: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        let packet = Packet::of(unit);
        match what {
            What::Arrives => {
                if let Some(watched) = self.watched.get_mut(&packet).filter(|each| each.port == port)
                    && watched.arrived.is_none()
                {
                    (watched.arrived, watched.had_mark) = (Some(now), unit.flags.has(Flags::CE));
                }
            }
            What::Leaves => self.leaves(now, port, unit),
            What::Lost(_) => {
                self.decide(packet, Fate::Lost);
                let is_counted = !self.refused.is_empty() || !self.watched.is_empty();
                if is_counted && self.scope.as_ref().is_none_or(|scope| scope[port]) {
                    self.broken.entry(packet).or_insert(now);
                }
            }
        }
    }

    fn refuses(&self, port: LineId, unit: &Unit) -> bool {
        !self.refused.is_empty() && self.refused.contains(&(port, Packet::of(unit)))
    }
}
