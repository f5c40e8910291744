//! Facts that the policies of a port may use before the run: the port itself, and the contracts of its circuits.

use super::capacity::Capacity;
use super::size::{Level, Measure};
use crate::refused::{Refused, refuse, unfit};
use crate::rng::{Dice, Keyed, NameKeys, UNNAMED};
use crate::transport::fec::Budget;
use crate::units::ids::{CircuitId, IdSlice, LineId, PortVc};
use crate::units::{CELL_BYTES, Quantity, Rate};

/// Facts about a port that its policies may use before the run.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Capacity B of the buffer, in the port's measure.
    pub capacity: Capacity,
    /// Unit in which the port counts.
    pub measure: Measure,
    /// Rate of the line.
    pub rate: Rate,
    /// Least octets of a unit on the line.
    pub minimum: u16,
    /// The contract of every circuit, by its number within the port.
    pub contracts: IdSlice<'a, PortVc, Contract>,
    /// The class into which the policer of the port puts packets, and its priority, if it does.
    pub lowered: Option<(Class, u32)>,
    /// Seed of the run.
    pub seed: u64,
    /// Name of the port.
    pub port: &'a str,
    /// Keys of the circuits of the network, by their names.
    pub circuits: &'a NameKeys,
}

/// A class of traffic at a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Number of the class in the scenario.
    pub number: u32,
    /// Weight of the class for schedulers of classes.
    pub weight: f64,
    /// Whether its packets are marked when they leave, and not when they arrive.
    pub marks_leaving: bool,
    /// Whether the scheduler has it in the group below strict priority.
    pub grouped: bool,
    /// Rate that it gets before other classes, if it has one, and the octets with which it may catch up.
    pub minimum: Option<Rate>,
    /// These octets.
    pub burst: u64,
}

/// The contract of a circuit, and the form of its frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contract {
    /// Number of the circuit in the network.
    pub circuit: CircuitId,
    /// Minimum cell rate of the circuit; zero without a promise. The scheduler defines which cells count.
    pub mcr: Rate,
    /// Weight or share of the circuit; 1 if none was given.
    pub weight: f64,
    /// Priority: a lower number goes first.
    pub priority: u32,
    /// A full frame, in the port's measure.
    pub frame: u64,
    /// A full frame, in octets on the line.
    pub octets: u64,
    /// Application octets in a full frame; none if the circuit only carries acknowledgements.
    pub payload: Option<u64>,
    /// The class of the circuit.
    pub class: Class,
    /// The cells and frames that may be lost, if the circuit carries packets with parity.
    pub budget: Option<Budget>,
}

/// Facts that a scheme of sharing may use about a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueTerms {
    /// Factor α of the queue's dynamic threshold, if its class has its own.
    pub alpha: Option<f64>,
    /// Priority of the queue's class.
    pub priority: u32,
    /// The line that the queue feeds.
    pub outlet: Outlet,
}

/// A line by which a queue drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlet {
    /// Number of the line in the scenario.
    pub line: LineId,
    /// Rate of the line.
    pub rate: Rate,
    /// Least octets of a unit on the line.
    pub minimum: u16,
}

impl Context<'_> {
    /// Return the number of circuits through the port.
    pub fn vcs(&self) -> usize {
        self.contracts.len()
    }

    /// Return the greatest number of queues of the port.
    pub fn queues(&self) -> usize {
        self.vcs().max(2) + usize::from(self.lowered.is_some())
    }

    /// Return the policy's own random numbers at this port, each keyed by the unit or circuit about which it decides.
    pub fn keyed(&self, policy: &str) -> Keyed {
        Keyed::new(self.seed, format_args!("port.{}.{policy}", self.port)).about_circuits(self.circuits)
    }

    /// Like [`keyed`](Context::keyed), for a policy that may draw several numbers for one unit.
    pub fn dice(&self, policy: &str) -> Dice {
        Dice::new(self.keyed(policy))
    }

    /// Return the sum of all minimum cell rates, in bits per second; refuse a sum above the rate of the line.
    pub fn promised(&self) -> Result<u64, Refused> {
        let sum = self.contracts.iter().fold(0u64, |sum, contract| sum.saturating_add(contract.mcr.0));
        match sum <= self.rate.0 {
            true => Ok(sum),
            false => {
                unfit(format!("the minimum cell rates add up to {} on a line of {}", Rate(sum), self.rate))
            }
        }
    }

    /// Return the occupancy that the parameter `key` stands for; the error says why it has no meaning here.
    pub fn level(&self, key: &'static str, level: Level) -> Result<u64, Refused> {
        level.within(self.measure, self.capacity).or_else(|why| {
            let largest = self.contracts.iter().map(|contract| contract.octets).max();
            let octets =
                largest.filter(|_| self.measure == Measure::Bytes).and_then(|largest| level.octets(largest));
            let instead = octets.map_or(String::new(), |octets| format!("; write {:?}", octets.show()));
            refuse(key, why + &instead)
        })
    }

    /// Build the context of a single port of `capacity` cells at 155.52 Mb/s, with frames of 32 cells, for tests of
    /// policies.
    pub fn alone(capacity: u64, vcs: usize) -> Context<'static> {
        const PLAIN: Contract = Contract {
            circuit: CircuitId(0),
            mcr: Rate(0),
            weight: 1.0,
            priority: 0,
            frame: 32,
            octets: 32 * CELL_BYTES,
            payload: Some(1460),
            class: Class {
                number: 0,
                weight: 1.0,
                marks_leaving: false,
                grouped: false,
                minimum: None,
                burst: 0,
            },
            budget: None,
        };
        static CONTRACTS: [Contract; 64] = {
            let mut contracts = [PLAIN; 64];
            let mut circuit = 0;
            while circuit < contracts.len() {
                contracts[circuit].circuit = CircuitId::new(circuit);
                circuit += 1;
            }
            contracts
        };
        Context {
            capacity: Capacity::limited(capacity),
            measure: Measure::Cells,
            rate: Rate(155_520_000),
            minimum: 0,
            contracts: IdSlice::new(&CONTRACTS[..vcs]),
            lowered: None,
            seed: 1,
            port: "alone",
            circuits: &UNNAMED,
        }
    }
}
