//! Two sides that receive one input, as a graph of states: what the solver and the checker need of a model.

/// A state, packed.
pub(crate) type State = u64;

/// A move from a state: an arrival, or the end of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) to: State,
    /// What the opponent earns.
    pub(crate) opponent: u8,
    /// What the policy earns.
    pub(crate) policy: u8,
}

impl Move {
    /// Build a move on which nothing is earned.
    pub(crate) fn free(to: State) -> Move {
        Move { to, opponent: 0, policy: 0 }
    }
}

/// An arrival or the end of a slot, by the numbers of the ports in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Each queue sends a packet.
    Tick,
    /// A packet arrives, which the opponent takes or refuses; a policy as opponent decides itself.
    Arrival { port: usize, takes: bool },
}

/// A model: its states, and the moves from each of them.
pub(crate) trait Model: Sync {
    /// Return the state in which all queues are empty.
    fn start(&self) -> State;

    /// Return the number of moves from each state. A move that a state does not have leads back to it for nothing.
    fn degree(&self) -> usize;

    /// Write the moves from a state into `moves`, which has the length [`degree`](Model::degree).
    fn moves(&self, state: State, moves: &mut [Move]);
}
