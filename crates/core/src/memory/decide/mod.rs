//! Decisions of a memory about packets of one cell, without a network: for analyses that visit states of its queues.
//!
//! A [`Decider`] is a memory with one pool and one queue for each port, as ports share it by default. Its decisions are
//! those of a run, since it calls `Memory::offer` and `Memory::victim` as the ports of a network do. A port with a
//! packet always sends: the first packet of each queue is in transmission, so push-out cannot remove it.

pub mod lossless;

use serde_json::{Map, Value as Json};

use super::pushout::{Content, Cut, Piece, PushOut};
use super::sharing::{Context, Sharing, Variables};
use super::{Account, Charge, Leaving, Memory, MemoryParts, SharedPool, SharedQueue, ThresholdCheck};
use super::{pushout, sharing};
use crate::buffer::capacity::Capacity;
use crate::buffer::context::{Outlet, QueueTerms};
use crate::buffer::pushout::pushout_3::LastEom;
use crate::buffer::size::{CellSize, Measure};
use crate::language::spec::Field;
use crate::language::tree::{Fault, Node};
use crate::refused::Refused;
use crate::rng::UNNAMED;
use crate::unit::{Flags, Unit};
use crate::units::ids::{CircuitId, LineId, PoolQueue};
use crate::units::{Rate, Time};

/// Octets of a packet, which fills a cell of the memory.
pub const PACKET: u16 = 1250;

/// The policies of a memory, by the keys that a scenario has in `[memory.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Policies {
    /// The scheme that divides the memory.
    pub admission: sharing::Spec,
    /// The policy that makes room for packets without room, if there is one.
    pub pushout: Option<pushout::Spec>,
}

impl Policies {
    /// Read a table with `admission` and perhaps `pushout`.
    pub fn read(table: &Node) -> Result<Policies, Fault> {
        let admission = table.get("admission").map(|node| sharing::Spec::read(node, "admission"));
        let pushout = table.get("pushout").map(|node| pushout::Spec::read(node, "pushout"));
        let shared = || sharing::Spec::CompleteSharing(sharing::complete_sharing::Params {});
        Ok(Policies {
            admission: admission.transpose()?.unwrap_or_else(shared),
            pushout: pushout.transpose()?,
        })
    }

    /// Return the names of the policies, as in "dynamic-threshold with longest-queue"; complete sharing beside push-out needs
    /// no name, and a program has its own.
    pub fn name(&self) -> String {
        let scheme = match &self.admission {
            sharing::Spec::Program(program) => &program.name,
            scheme => scheme.name(),
        };
        let pushout = self.pushout.as_ref().map(|pushout| match pushout {
            pushout::Spec::Program(program) => &program.name,
            pushout => pushout.name(),
        });
        match pushout {
            None => scheme.to_string(),
            Some(name) if self.admission.kind() == sharing::Kind::CompleteSharing => name.to_string(),
            Some(name) => format!("{scheme} with {name}"),
        }
    }

    /// Return the policies as a scenario writes them in `[memory.NAME]`.
    pub fn write(&self) -> Json {
        let keys = [
            ("admission", Some(self.admission.write())),
            ("pushout", self.pushout.as_ref().map(Field::write)),
        ];
        keys.into_iter()
            .filter_map(|(key, value)| Some((key.to_string(), value?)))
            .collect::<Map<_, _>>()
            .into()
    }
}

/// A memory of which each port has one queue, and in which every packet takes one cell.
#[derive(Clone, Debug)]
pub struct Decider {
    memory: Memory,
    unit: Unit,
}

/// The queues of a memory whose ports are sending.
struct Sending;

impl Content for Sending {
    fn has(&self, queues: &[SharedQueue], Cut { queue, piece }: Cut) -> bool {
        // a packet of one cell ends with an EOM
        piece != Piece::Tail(LastEom::Stays) && queues[queue].held() > 1
    }

    fn in_transmission(&self, queues: &[SharedQueue], queue: usize) -> u64 {
        queues[queue].held().min(1)
    }
}

impl Decider {
    /// Build an empty memory of `cells` cells for `ports` ports; the error says why a policy cannot work there.
    pub fn new(policies: &Policies, cells: u64, ports: usize) -> Result<Decider, Refused> {
        let scheme = build(&policies.admission, cells, ports)?;
        let queue = |number| {
            SharedQueue::new(
                Default::default(),
                LineId::new(number),
                outlet(number).rate,
                0,
                PoolQueue::new(number),
            )
        };
        let memory = Memory::new(MemoryParts {
            cells,
            check: ThresholdCheck::Before,
            pools: vec![SharedPool::new(cells, ports, 0, scheme)],
            queues: (0..ports).map(queue).collect(),
            pushout: policies.pushout.as_ref().map(|pushout| make_room(pushout, cells, ports)).transpose()?,
        });
        Ok(Decider { memory, unit: packet() })
    }

    /// Return the number of packets in a queue.
    pub fn length(&self, queue: usize) -> u64 {
        self.memory.queues[queue].held()
    }

    /// Change the number of packets in a queue, as departures and earlier decisions have left them.
    pub fn set_length(&mut self, queue: usize, length: u64) {
        while self.length(queue) > length {
            self.leave(queue, true);
        }
        while self.length(queue) < length {
            self.memory.take_in(Time::ZERO, account(queue), Charge::Shared, 1);
        }
    }

    /// Return what the decisions depend on besides the lengths of queues and the variables of the scheme.
    pub fn depends_on(&self) -> Option<&str> {
        let of_pushout = self.memory.pushout.as_ref().and_then(PushOut::depends_on);
        self.scheme().depends_on().or(of_pushout)
    }

    /// Return the variables of the scheme.
    pub fn variables(&self) -> Variables {
        self.scheme().variables()
    }

    /// Change the variables of the scheme, as earlier decisions have left them.
    pub fn set_variables(&mut self, variables: &Variables) {
        self.memory.pools[0].scheme_mut().set_variables(variables);
    }

    /// Return why a policy could not compute a decision, if it failed.
    pub fn failure(&self) -> Option<&str> {
        self.memory.failure().map(|failure| failure.why.as_str())
    }

    fn scheme(&self) -> &sharing::Policy {
        self.memory.pools[0].scheme()
    }

    /// Let a packet for a queue arrive; return whether the memory accepts it, in the place of others if it pushes out.
    pub fn arrive(&mut self, queue: usize) -> bool {
        let (now, account, unit) = (Time::ZERO, account(queue), self.unit);
        let mut charge = self.memory.offer(now, account, 1, &unit);
        while charge.is_none() {
            let Some(cut) = self.memory.victim(now, account, 1, &unit, &Sending) else {
                return false;
            };
            self.leave(cut.queue, false);
            charge = self.memory.admits(now, account, 1, &unit);
        }
        self.memory.take_in(now, account, Charge::Shared, 1);
        true
    }

    /// Remove a packet from a queue.
    fn leave(&mut self, queue: usize, sent: bool) {
        let unit = self.unit;
        self.memory.release(account(queue), &Leaving { now: Time::ZERO, unit: &unit, size: 1, sent });
    }
}

/// Build the scheme of the only pool, with this shared room and a queue for each of these lines.
fn build(scheme: &sharing::Spec, cells: u64, lines: usize) -> Result<sharing::Policy, Refused> {
    let terms: Vec<_> =
        (0..lines).map(|line| QueueTerms { alpha: None, priority: 0, outlet: outlet(line) }).collect();
    let measure = Measure::MemoryCells(CellSize { octets: PACKET, header: 0 });
    let (capacity, name) = (Capacity::limited(cells), ["shared", "all"]);
    scheme.build(&Context { capacity, measure, queues: &terms, seed: 0, name, circuits: &UNNAMED })
}

/// Build the push-out policy of such a memory.
fn make_room(pushout: &pushout::Spec, cells: u64, lines: usize) -> Result<pushout::Policy, Refused> {
    let rates: Vec<Rate> = (0..lines).map(|line| outlet(line).rate).collect();
    let (measure, name) = (Measure::MemoryCells(CellSize { octets: PACKET, header: 0 }), "shared");
    pushout.build(&pushout::Context { cells, measure, rates: &rates, seed: 0, name, circuits: &UNNAMED })
}

/// Return the line over which a queue sends.
fn outlet(line: usize) -> Outlet {
    Outlet { line: LineId::new(line), rate: Rate(10_000_000_000), minimum: 0 }
}

/// Return a packet.
fn packet() -> Unit {
    Unit { vc: CircuitId(0), bytes: PACKET, flags: Flags::FIRST.with(Flags::EOM), ..Unit::default() }
}

fn account(queue: usize) -> Account {
    Account::new(queue, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::read::{Format, read};

    fn decider(policies: &str, cells: u64, ports: usize) -> Decider {
        let policies = Policies::read(&read(policies, Format::Json).unwrap()).unwrap();
        Decider::new(&policies, cells, ports).unwrap()
    }

    /// Offer packets to these queues; returns which were accepted, and the lengths.
    fn offer(decider: &mut Decider, queues: &[usize]) -> (Vec<bool>, Vec<u64>) {
        let accepted = queues.iter().map(|&queue| decider.arrive(queue)).collect();
        (accepted, (0..decider.memory.queues.len()).map(|queue| decider.length(queue)).collect())
    }

    #[test]
    fn a_dynamic_threshold_blocks_the_queue_that_has_reached_it() {
        let mut decider = decider(r#"{"admission": {"policy": "dynamic-threshold", "alpha": 1}}"#, 6, 2);
        assert_eq!(offer(&mut decider, &[0, 0, 0, 0]), (vec![true, true, true, false], vec![3, 0]));
        decider.set_length(0, 0);
        decider.set_length(1, 2);
        assert_eq!(offer(&mut decider, &[1]), (vec![true], vec![0, 3]), "2 < 6 - 2");
    }

    #[test]
    fn the_longest_queue_loses_a_packet_that_is_not_in_transmission() {
        let mut lqd = decider(r#"{"pushout": {"policy": "longest-queue"}}"#, 4, 2);
        assert_eq!(offer(&mut lqd, &[0, 0, 0, 0, 1, 1, 1]).0, [true, true, true, true, true, true, false]);
        assert_eq!(offer(&mut lqd, &[]).1, [2, 2]);
        let text = r#"{"pushout": {"policy": "longest-queue", "counts_arrival": false}}"#;
        assert_eq!(
            offer(&mut decider(text, 1, 2), &[0, 1]),
            (vec![true, false], vec![1, 0]),
            "it is being sent"
        );
    }
}
