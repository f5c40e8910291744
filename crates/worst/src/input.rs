//! The input that shows the worst case: slots of arrivals, from empty queues through laps of the cycle to empty queues.

use crate::graph::Graph;
use crate::model::Step;
use crate::pair::{Pair, Plan};
use crate::ratio::Ratio;
use crate::side::{Side, Words};
use crate::solve::Cycle;
use crate::{Failure, Question};

/// Laps of the cycle in a counter-example.
pub(crate) const LAPS: usize = 3;

/// A packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number of the port.
    pub port: usize,
    /// Whether the optimum takes it. A policy as opponent decides itself.
    pub takes: bool,
}

/// The arrivals of each slot; at its end each queue with packets sends one.
pub type Input = Vec<Vec<Arrival>>;

/// One slot of a played input: the queues of both sides before they send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Queues of the policy.
    pub policy: Vec<u64>,
    /// Queues of the opponent.
    pub opponent: Vec<u64>,
}

/// The inputs of a cycle, with the numbers of the ports.
#[derive(Debug)]
pub(crate) struct Unrolled {
    /// From empty queues to the cycle.
    before: Vec<Step>,
    /// Laps of the cycle; after all of them the state repeats, with the same numbers of ports.
    laps: Vec<Vec<Step>>,
}

/// A walk through the states of a pair, with the numbers of the ports.
struct Walk<'a> {
    pair: &'a Pair,
    plan: &'a dyn Plan,
    at: (usize, usize),
}

impl Walk<'_> {
    /// Return whether it makes a difference that the opponent takes a packet: an optimum without room refuses it.
    fn has_room(&self, port: usize) -> bool {
        let after = |takes| self.pair.opponent.arrived(self.at.1, port, takes);
        !self.pair.may_refuse || after(true) != after(false)
    }

    /// Make a move of a graph; returns its steps with the numbers of the ports.
    fn go(&mut self, number: u8) -> Vec<Step> {
        let order = self.pair.least(self.at.0, self.at.1).1;
        let steps = self.plan.steps(number.into()).into_iter().map(|step| {
            let step = match step {
                Step::Tick => Step::Tick,
                Step::Arrival { port, takes } => {
                    let port =
                        order.iter().position(|&place| place == port).expect("an order has every place");
                    Step::Arrival { port, takes: takes && self.has_room(port) }
                }
            };
            self.at = self.pair.after(self.at, step).0;
            step
        });
        steps.collect()
    }
}

impl Unrolled {
    /// Unroll a cycle of a graph, which is not empty.
    pub(crate) fn new(pair: &Pair, plan: &dyn Plan, graph: &Graph, cycle: &Cycle) -> Unrolled {
        let path = graph.path(&cycle.states);
        let end = path.iter().fold(0, |state, &number| graph.targets(state)[usize::from(number)] as usize);
        let first =
            cycle.states.iter().position(|&state| state as usize == end).expect("the path leads there");
        let lap: Vec<u8> = [&cycle.moves[first..], &cycle.moves[..first]].concat();
        let mut walk = Walk { pair, plan, at: (0, 0) };
        let mut before: Vec<Step> = path.iter().flat_map(|&number| walk.go(number)).collect();
        let (mut entries, mut laps) = (vec![walk.at], Vec::<Vec<Step>>::new());
        loop {
            laps.push(lap.iter().flat_map(|&number| walk.go(number)).collect());
            // a lap leads to the entry with the ports in another order, and some number of laps later to an order again
            if let Some(first) = entries.iter().position(|&entry| entry == walk.at) {
                before.extend(laps.drain(..first).flatten());
                break;
            }
            entries.push(walk.at);
        }
        Unrolled { before, laps }
    }

    /// Return the input with `laps` laps, and slots at the end in which `cells` cells have time to drain.
    pub(crate) fn input(&self, laps: usize, cells: u64) -> Input {
        let laps = self.laps.iter().cycle().take(laps).flatten();
        let drain = (0..=cells).map(|_| &Step::Tick);
        slots(self.before.iter().chain(laps).chain(drain))
    }

    /// Verify that the cycle attains a ratio: play it with the policies themselves, and see it repeat.
    pub(crate) fn verify(&self, question: &Question, ratio: Ratio) -> Result<(), Failure> {
        let mut sides = Sides::new(question)?;
        let entry = sides.run(self.before.iter()).map(|_| sides.states());
        let exit = sides.run(self.laps.iter().flatten()).map(|sums| (sums, sides.states()));
        let holds = match (entry, exit) {
            (Some(entry), Some(([opponent, policy], exit))) => {
                entry == exit && opponent + policy > 0 && Ratio::new(opponent, policy) == ratio
            }
            _ => false,
        };
        if holds { Ok(()) } else { Err(Failure::Certificate("lower")) }
    }

    /// Return what opponent and policy send in one lap, its slots and its arrivals.
    pub(crate) fn lap(&self) -> (usize, usize) {
        let ticks = self.laps[0].iter().filter(|step| **step == Step::Tick).count();
        (ticks, self.laps[0].len() - ticks)
    }
}

/// Return the input of moves from empty queues.
pub(crate) fn of_moves(pair: &Pair, moves: &[u8]) -> Input {
    let mut walk = Walk { pair, plan: pair, at: (0, 0) };
    let steps: Vec<Step> = moves.iter().flat_map(|&number| walk.go(number)).collect();
    slots(steps.iter())
}

/// Divide steps into slots.
pub(crate) fn slots<'a>(steps: impl Iterator<Item = &'a Step>) -> Input {
    let mut input = Vec::new();
    let mut slot = Vec::new();
    for step in steps {
        match *step {
            Step::Tick => input.push(std::mem::take(&mut slot)),
            Step::Arrival { port, takes } => slot.push(Arrival { port, takes }),
        }
    }
    input
}

/// Both sides, which receive packets one by one. They are built anew and share no tables with the solver.
pub(crate) struct Sides {
    policy: Live,
    opponent: Live,
    may_refuse: bool,
}

/// A side and its present state.
struct Live {
    side: Box<dyn Side>,
    state: Words,
}

impl Live {
    fn new(side: Box<dyn Side>) -> Live {
        Live { state: side.start(), side }
    }

    /// Go to the next state; returns what that earns.
    fn go(&mut self, (state, earned): (Words, u8)) -> u64 {
        self.state = state;
        earned.into()
    }

    fn lengths(&self) -> Vec<u64> {
        self.side.lengths(&self.state)
    }
}

impl Sides {
    /// Build both sides with empty queues.
    pub(crate) fn new(question: &Question) -> Result<Sides, Failure> {
        let [policy, opponent] = question.sides()?.map(Live::new);
        Ok(Sides { policy, opponent, may_refuse: question.may_refuse() })
    }

    /// Take a step; returns what opponent and policy earn, or `None` if the optimum has no room for what it takes.
    fn step(&mut self, step: Step) -> Option<[u64; 2]> {
        let Sides { policy, opponent, may_refuse } = self;
        match step {
            Step::Tick => {
                let [other, own] = [&*opponent, &*policy].map(|live| live.side.tick(&live.state));
                Some([opponent.go(other), policy.go(own)])
            }
            Step::Arrival { port, takes } => {
                let own = policy.side.arrive(&policy.state, port, true);
                let other = opponent.side.arrive(&opponent.state, port, takes || !*may_refuse);
                if *may_refuse && takes && other == opponent.side.arrive(&opponent.state, port, false) {
                    return None;
                }
                Some([opponent.go(other), policy.go(own)])
            }
        }
    }

    /// Take steps; returns the sums of what opponent and policy send.
    fn run<'a>(&mut self, mut steps: impl Iterator<Item = &'a Step>) -> Option<[u64; 2]> {
        steps.try_fold([0, 0], |sums, step| {
            let sent = self.step(*step)?;
            Some([sums[0] + sent[0], sums[1] + sent[1]])
        })
    }

    /// Return the states of both sides.
    fn states(&self) -> [Words; 2] {
        [self.policy.state.clone(), self.opponent.state.clone()]
    }

    /// Return the queues of both sides.
    fn played(&self) -> Played {
        Played { policy: self.policy.lengths(), opponent: self.opponent.lengths() }
    }

    /// Play an input; returns what opponent and policy send, and their queues in each slot.
    pub(crate) fn play(&mut self, input: &Input) -> Result<([u64; 2], Vec<Played>), Failure> {
        let mut sums = [0, 0];
        let mut played = Vec::new();
        for slot in input {
            let mut earn = |sides: &mut Sides, step| {
                let earned = sides.step(step).ok_or(Failure::Certificate("lower"))?;
                sums = [sums[0] + earned[0], sums[1] + earned[1]];
                Ok::<_, Failure>(())
            };
            for &Arrival { port, takes } in slot {
                earn(self, Step::Arrival { port, takes })?;
            }
            played.push(self.played());
            earn(self, Step::Tick)?;
        }
        Ok((sums, played))
    }
}
