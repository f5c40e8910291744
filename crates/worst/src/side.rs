//! One side of a comparison: its states, and what it does with arrivals and at the end of a slot.

use pushout_core::memory::decide::{Decider, Policies};
use pushout_core::memory::sharing::Variables;
use pushout_core::refused::{Refused, unfit};

/// What a side keeps: blocks with a word for each port (or circuit), then words that belong to none.
pub(crate) type Words = Box<[u16]>;

/// A side of a comparison. What a step earns is the second part of its answer.
pub(crate) trait Side {
    /// Return the number of blocks in a state.
    fn blocks(&self) -> usize {
        1
    }

    /// Return why the policy could not compute a decision, if it failed.
    fn failure(&self) -> Option<&str> {
        None
    }

    /// Return the state in which all queues are empty.
    fn start(&self) -> Words;

    /// Return the state after an arrival at a port. `takes` says whether an optimum accepts it if it can; a policy decides
    /// itself.
    fn arrive(&mut self, state: &[u16], port: usize, takes: bool) -> (Words, u8);

    /// Return the state after each queue has sent.
    fn tick(&self, state: &[u16]) -> (Words, u8);

    /// Return the lengths of the queues.
    fn lengths(&self, state: &[u16]) -> Vec<u64>;
}

/// A memory that ports share: the words of the first block are the lengths of the ports' queues, those behind it the
/// variables of the policy. A packet counts when it is sent.
#[derive(Debug)]
pub(crate) struct Memory {
    ports: usize,
    decider: Decider,
    /// The state of an empty memory.
    start: Words,
    /// Number of variables of each queue.
    each: usize,
}

/// Words of a variable.
const OF_VARIABLE: usize = 4;

impl Memory {
    /// Build a memory; the error says why its policies cannot work there.
    pub(crate) fn new(policies: &Policies, cells: u64, ports: usize) -> Result<Memory, Refused> {
        let decider = Decider::new(policies, cells, ports)?;
        if let Some(other) = decider.depends_on() {
            return unfit(format!(
                "must decide by lengths of queues and by variables with few values, not as {} does, which depends on \
                 {other}: its states cannot be enumerated",
                policies.name()
            ));
        }
        let each = decider.variables().of_queues.len() / ports;
        let mut memory = Memory { ports, decider, start: Words::default(), each };
        memory.start = memory.state();
        Ok(memory)
    }

    /// Return the present state.
    fn state(&self) -> Words {
        let Memory { ports, decider, each, .. } = self;
        let Variables { of_pool, of_queues } = decider.variables();
        let lengths = (0..*ports).map(|queue| decider.length(queue) as u16);
        let blocks = (0..*each).flat_map(|variable| {
            let value = |queue: usize| words(of_queues[queue * each + variable]);
            let values: Vec<_> = (0..*ports).map(value).collect();
            (0..OF_VARIABLE).flat_map(move |word| values.clone().into_iter().map(move |value| value[word]))
        });
        lengths.chain(blocks).chain(of_pool.into_iter().flat_map(words)).collect()
    }

    /// Bring the memory into a state.
    fn recall(&mut self, state: &[u16]) {
        let Memory { ports, decider, each, .. } = self;
        let (lengths, variables) = state.split_at(*ports);
        lengths.iter().enumerate().for_each(|(queue, &length)| decider.set_length(queue, length.into()));
        if variables.is_empty() {
            return;
        }
        let (blocks, of_pool) = variables.split_at(*each * OF_VARIABLE * *ports);
        let value = |queue: usize, variable: usize| {
            let word = |word| blocks[(variable * OF_VARIABLE + word) * *ports + queue];
            number(std::array::from_fn(word))
        };
        let of_queues = (0..*ports).flat_map(|queue| (0..*each).map(move |variable| (queue, variable)));
        let of_queues = of_queues.map(|(queue, variable)| value(queue, variable)).collect();
        let of_pool =
            of_pool.chunks(OF_VARIABLE).map(|words| number(std::array::from_fn(|word| words[word])));
        decider.set_variables(&Variables { of_pool: of_pool.collect(), of_queues });
    }
}

/// Return a variable as words.
fn words(variable: u64) -> [u16; OF_VARIABLE] {
    std::array::from_fn(|word| (variable >> (16 * word)) as u16)
}

/// Return the variable of words.
fn number(words: [u16; OF_VARIABLE]) -> u64 {
    words.into_iter().rev().fold(0, |value, word| value << 16 | u64::from(word))
}

impl Side for Memory {
    fn blocks(&self) -> usize {
        1 + self.each * OF_VARIABLE
    }

    fn failure(&self) -> Option<&str> {
        self.decider.failure()
    }

    fn start(&self) -> Words {
        self.start.clone()
    }

    fn arrive(&mut self, state: &[u16], port: usize, takes: bool) -> (Words, u8) {
        if !takes {
            return (state.into(), 0);
        }
        self.recall(state);
        self.decider.arrive(port);
        (self.state(), 0)
    }

    fn tick(&self, state: &[u16]) -> (Words, u8) {
        let mut after: Words = state.into();
        let busy = after[..self.ports].iter_mut().filter(|length| **length > 0);
        let sent = busy.map(|length| *length -= 1).count();
        (after, sent as u8)
    }

    fn lengths(&self, state: &[u16]) -> Vec<u64> {
        state[..self.ports].iter().map(|&length| length.into()).collect()
    }
}
