//! Records the latest units at some ports, and the losses at all ports: the data of an animation.

use std::collections::{BTreeSet, VecDeque};

use super::{Tracer, What};
use crate::network::circuit::Circuit;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{CircuitId, IdVec, LineId};
use crate::verdict::Reason;

/// Record of an event of a unit at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Instant of the event.
    pub time: Time,
    /// Port of the event.
    pub port: LineId,
    /// Kind of the event.
    pub what: What,
    /// The unit as it was at this event.
    pub unit: Unit,
}

/// Records of the selected ports since the last call of `take`. There is room for a fixed number of records: when it
/// is used up, the oldest records are dropped and counted.
#[derive(Clone, Debug)]
pub struct RecordRing {
    wanted: IdVec<LineId, bool>,
    room: usize,
    records: VecDeque<Record>,
    missed: u64,
    /// Losses by port and reason since the start of the run.
    lost: IdVec<LineId, [u64; Reason::ALL.len()]>,
    /// Incomplete frames in flight: (circuit, frame).
    broken: BTreeSet<(CircuitId, u32)>,
    /// Size of `broken` above which frames that are no longer in flight are removed from it.
    most: usize,
}

impl RecordRing {
    /// Build an empty ring for `room` records of the ports `wanted`, out of `ports` ports.
    pub fn new(ports: usize, wanted: &[LineId], room: usize) -> RecordRing {
        assert!(room > 0, "a ring has room");
        RecordRing {
            wanted: (0..ports).map(|port| wanted.contains(&LineId::new(port))).collect(),
            room,
            records: VecDeque::new(),
            missed: 0,
            lost: IdVec::filled([0; Reason::ALL.len()], ports),
            broken: BTreeSet::new(),
            most: FEW,
        }
    }

    /// Remove and return the records, oldest first, with the number dropped before them.
    pub fn take(&mut self) -> (Vec<Record>, u64) {
        (self.records.drain(..).collect(), std::mem::take(&mut self.missed))
    }

    /// Return the losses at a port since the start of the run, in the order of [`Reason::ALL`].
    pub fn lost(&self, port: LineId) -> &[u64; Reason::ALL.len()] {
        &self.lost[port]
    }

    /// Return whether a frame in flight has lost a unit.
    pub fn is_broken(&self, vc: CircuitId, frame: u32) -> bool {
        self.broken.contains(&(vc, frame))
    }

    fn note_loss(&mut self, port: LineId, unit: &Unit, reason: Reason, circuits: &IdVec<CircuitId, Circuit>) {
        self.lost[port][reason as usize] += 1;
        self.broken.insert((unit.vc, unit.frame));
        if self.broken.len() > self.most {
            self.broken.retain(|&(vc, frame)| circuits[vc].frame(frame).is_some());
            self.most = FEW.max(2 * self.broken.len());
        }
    }
}

impl Tracer for RecordRing {
    fn see(
        &mut self,
        now: Time,
        port: LineId,
        unit: &Unit,
        what: What,
        circuits: &IdVec<CircuitId, Circuit>,
    ) {
        if let What::Lost(reason) = what {
            self.note_loss(port, unit, reason, circuits);
        }
        if !self.wanted[port] {
            return;
        }
        if self.records.len() == self.room {
            self.records.pop_front();
            self.missed += 1;
        }
        self.records.push_back(Record { time: now, port, what, unit: *unit });
    }
}

/// Number of broken frames that are stored before the first removal.
const FEW: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::reference::Stepper;
    use crate::scenario::load;
    use crate::units::Span;

    const LAN: &str = include_str!("../../../../scenarios/lan.toml");

    /// A run of 300 ms with a ring of this size at its bottleneck, and the number of that port.
    fn lan(room: usize) -> (Stepper<RecordRing>, LineId) {
        of_buffer("8192 cells", room)
    }

    fn of_buffer(buffer: &str, room: usize) -> (Stepper<RecordRing>, LineId) {
        let buffer = format!("port.bottleneck.buffer={buffer}");
        let sets = ["duration=300 ms".to_string(), buffer];
        let scenario = load(LAN, "lan.toml", &sets).unwrap();
        let port = scenario.lines.position(|line| line.name == "bottleneck").unwrap();
        (Stepper::new(&scenario, true, RecordRing::new(scenario.lines.len(), &[port], room)), port)
    }

    #[test]
    fn records_of_a_port_are_its_counters_and_the_log_of_losses() {
        let (mut stepper, port) = lan(usize::MAX);
        let mut records = Vec::new();
        while stepper.now() < stepper.end() {
            stepper.advance(stepper.now() + Span::millis(10));
            let (more, missed) = stepper.tracer_mut().take();
            assert_eq!(missed, 0);
            records.extend(more);
        }
        let counts = |wanted: fn(&What) -> bool| records.iter().filter(|it| wanted(&it.what)).count() as u64;
        let counters = stepper.network().ports[port].counters().clone();
        assert_eq!(counts(|what| *what == What::Arrives), counters.units_in);
        assert_eq!(counts(|what| *what == What::Leaves), counters.units_out);
        assert!(records.is_sorted_by_key(|record| record.time));
        let lost = *stepper.tracer().lost(port);
        assert!(lost[Reason::Early as usize] > 0);
        assert!(Reason::ALL.iter().all(|&reason| lost[reason as usize] == counters.lost_for(reason)));
        let is_lost = |record: &&Record| matches!(record.what, What::Lost(_));
        let seen =
            records.iter().filter(is_lost).map(|record| (record.time, record.unit.vc, record.unit.frame));
        let (outcome, _) = stepper.finish();
        let logged = outcome.losses.iter().filter(|loss| loss.port == port);
        assert!(seen.eq(logged.map(|loss| (loss.time, loss.vc, loss.frame))));
    }

    #[test]
    fn what_finds_no_room_is_counted_and_the_latest_stay() {
        let ((mut small, _), (mut large, _)) = (lan(100), lan(usize::MAX));
        for stepper in [&mut small, &mut large] {
            stepper.advance(Time::ZERO + Span::millis(20));
        }
        let ((kept, missed), (all, _)) = (small.tracer_mut().take(), large.tracer_mut().take());
        assert_eq!((kept.len(), missed), (100, all.len() as u64 - 100));
        assert_eq!(kept, all[all.len() - 100..]);
        assert_eq!(small.tracer_mut().take(), (Vec::new(), 0));
    }

    #[test]
    fn a_frame_is_broken_from_its_first_loss_for_as_long_as_it_is_on_its_way() {
        let (mut stepper, port) = of_buffer("500 cells", usize::MAX);
        let mut lost: BTreeSet<(CircuitId, u32)> = BTreeSet::new();
        while stepper.now() < stepper.end() {
            stepper.advance(stepper.now() + Span::millis(1));
            for record in stepper.tracer_mut().take().0 {
                if let What::Lost(_) = record.what {
                    lost.insert((record.unit.vc, record.unit.frame));
                }
            }
            for unit in stepper.network().ports[port].waiting() {
                let is_broken = stepper.tracer().is_broken(unit.vc, unit.frame);
                assert_eq!(is_broken, lost.contains(&(unit.vc, unit.frame)));
            }
        }
        assert!(lost.len() > FEW, "{} frames lost a unit", lost.len());
        assert!(stepper.tracer().broken.len() < lost.len(), "what has arrived is forgotten");
    }
}
