//! A policy beside its opponent: both receive the same packets.

use crate::machine::Machine;
use crate::model::{Model, Move, State, Step};
use crate::symmetry::{MOST_PORTS, Order, orders};

/// Both sides of a comparison.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) policy: Machine,
    pub(crate) opponent: Machine,
    /// Whether the opponent may refuse a packet that it could accept: the optimum may.
    pub(crate) may_refuse: bool,
    ports: usize,
    symmetry: Symmetry,
}

/// The orders of ports under which both sides decide alike, and the states that they lead to.
#[derive(Debug)]
struct Symmetry {
    orders: Vec<Order>,
    of_policy: Vec<Vec<u32>>,
    of_opponent: Vec<Vec<u32>>,
    /// For each state of the policy the orders that lead to the state with the least number.
    least: Vec<Vec<u8>>,
}

/// The steps of each move of a graph, by the numbers of the ports in the state that stands for all orders.
pub(crate) trait Plan {
    /// Return the steps of a move.
    fn steps(&self, number: usize) -> Vec<Step>;
}

impl Plan for Pair {
    fn steps(&self, number: usize) -> Vec<Step> {
        vec![self.step(number)]
    }
}

impl Pair {
    /// Put two sides together.
    pub(crate) fn new(policy: Machine, opponent: Machine, ports: usize, may_refuse: bool) -> Pair {
        let symmetry = Symmetry::of(&policy, &opponent, ports);
        Pair { policy, opponent, may_refuse, ports, symmetry }
    }

    /// Return the number of orders of ports that count as one.
    pub(crate) fn orders(&self) -> usize {
        self.symmetry.orders.len()
    }

    /// Return the number of pairs of states, where pairs that differ only in the order of ports count once: there cannot be
    /// more states.
    pub(crate) fn most_states(&self) -> u128 {
        let Symmetry { orders, of_policy, of_opponent, .. } = &self.symmetry;
        // Burnside's lemma: the number of classes is the mean number of pairs that an order leaves as they are
        let kept = of_policy.iter().zip(of_opponent).map(|(policy, other)| unmoved(policy) * unmoved(other));
        kept.sum::<u128>() / orders.len() as u128
    }

    /// Return the octets of memory that the tables of both sides take, at most.
    pub(crate) fn octets(&self) -> usize {
        let orders = self.symmetry.orders.len();
        let of_image = orders * size_of::<u32>();
        let of_least = size_of::<Vec<u8>>() + orders;
        self.policy.octets()
            + self.opponent.octets()
            + (self.policy.len() + self.opponent.len()) * of_image
            + self.policy.len() * of_least
    }

    /// Return the states of policy and opponent.
    pub(crate) fn parts(&self, state: State) -> (usize, usize) {
        let count = self.opponent.len() as u64;
        ((state / count) as usize, (state % count) as usize)
    }

    /// Return the state that stands for all orders of the ports of a state, and the order that leads to it.
    pub(crate) fn least(&self, policy: usize, opponent: usize) -> (State, &Order) {
        let Symmetry { orders, of_policy, of_opponent, least } = &self.symmetry;
        let candidates = least[policy].iter().map(|&order| usize::from(order));
        let best =
            candidates.min_by_key(|&order| of_opponent[order][opponent]).expect("some order is the least");
        let (policy, opponent) = (of_policy[best][policy], of_opponent[best][opponent]);
        (u64::from(policy) * self.opponent.len() as u64 + u64::from(opponent), &orders[best])
    }

    /// Return the step of a move, for the ports of a state that stands for all orders.
    pub(crate) fn step(&self, number: usize) -> Step {
        match number.checked_sub(1) {
            None => Step::Tick,
            Some(arrival) => Step::Arrival { port: arrival % self.ports, takes: arrival < self.ports },
        }
    }

    /// Return the states of both sides after a step, and what opponent and policy earn.
    pub(crate) fn after(&self, (policy, opponent): (usize, usize), step: Step) -> ((usize, usize), [u8; 2]) {
        let ((policy, own), (opponent, other)) = match step {
            Step::Tick => (self.policy.ticked(policy), self.opponent.ticked(opponent)),
            Step::Arrival { port, takes } => {
                (self.policy.arrived(policy, port, true), self.opponent.arrived(opponent, port, takes))
            }
        };
        ((policy, opponent), [other, own])
    }
}

/// Return the number of states that an order of ports leaves as they are.
fn unmoved(images: &[u32]) -> u128 {
    images.iter().enumerate().filter(|&(state, &image)| state == image as usize).count() as u128
}

impl Model for Pair {
    fn start(&self) -> State {
        0
    }

    fn degree(&self) -> usize {
        1 + self.ports * if self.may_refuse { 2 } else { 1 }
    }

    fn moves(&self, state: State, moves: &mut [Move]) {
        let parts = self.parts(state);
        for (number, slot) in moves.iter_mut().enumerate() {
            let ((policy, opponent), [other, own]) = self.after(parts, self.step(number));
            *slot = Move { to: self.least(policy, opponent).0, opponent: other, policy: own };
        }
    }
}

impl Symmetry {
    /// Find the orders under which both sides decide alike: all, or none but that of the ports' numbers.
    fn of(policy: &Machine, opponent: &Machine, ports: usize) -> Symmetry {
        let orders = if ports <= MOST_PORTS { orders(ports) } else { vec![(0..ports).collect()] };
        let moved =
            |machine: &Machine| orders.iter().map(|order| machine.moved(order)).collect::<Option<Vec<_>>>();
        match (moved(policy), moved(opponent)) {
            (Some(of_policy), Some(of_opponent)) => Symmetry::with(orders, of_policy, of_opponent),
            _ => {
                let same = |machine: &Machine| vec![(0..machine.len() as u32).collect()];
                Symmetry::with(vec![(0..ports).collect()], same(policy), same(opponent))
            }
        }
    }

    fn with(orders: Vec<Order>, of_policy: Vec<Vec<u32>>, of_opponent: Vec<Vec<u32>>) -> Symmetry {
        let least = |state: usize| {
            let least = of_policy.iter().map(|images| images[state]).min();
            let leads = |&order: &usize| Some(of_policy[order][state]) == least;
            (0..orders.len()).filter(leads).map(|order| order as u8).collect()
        };
        let least = (0..of_policy[0].len()).map(least).collect();
        Symmetry { orders, of_policy, of_opponent, least }
    }
}
