//! Frames of several cells at one FIFO port: a frame counts if the port queues all of its cells.
//!
//! Circuits send frames of a fixed length, interleaved in any way, any number of cells in a slot; then the port sends one
//! cell. The word of a circuit has the cells of its frame that came, and what became of them; the last word of a state is
//! the occupancy. The policy is that of the simulator: its frame rule is brought into the state of a circuit by cells that
//! it accepts or loses. So it must be one that looks at the occupancy and at the frame alone ([`Rule`]).

use pushout_core::buffer::admission::{Admission, Arrival, Policy, Rule, Shortcuts, Spec};
use pushout_core::buffer::capacity::Capacity;
use pushout_core::buffer::context::Context;
use pushout_core::buffer::pool::Pool;
use pushout_core::buffer::queue::Queue;
use pushout_core::refused::{Refused, unfit};
use pushout_core::unit::{Flags, Unit};
use pushout_core::units::Time;
use pushout_core::units::ids::{PortVc, QueueId};
use pushout_core::verdict::Verdict;

use crate::side::{Side, Words};

/// The frames of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frames {
    /// Cells of a frame: L.
    pub(crate) length: u16,
    /// Number of circuits: V.
    pub(crate) circuits: usize,
    /// Cells that the buffer holds: B.
    pub(crate) cells: u64,
}

/// What became of the cells of a frame that have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// All are queued.
    Whole,
    /// The first is queued, and a later one was lost.
    Broken,
    /// The first was lost.
    Refused,
}

/// A frame that is arriving: its cells so far, and their fate.
#[derive(Clone, Copy, Debug)]
struct Open {
    cells: u16,
    fate: Fate,
}

impl Open {
    fn read(word: u16) -> Open {
        let fate = [Fate::Whole, Fate::Broken, Fate::Refused][usize::from(word % 3)];
        Open { cells: word / 3, fate }
    }

    /// Return the word of the frame after a further cell, and whether the frame is complete and whole.
    fn after(self, accepted: bool, length: u16) -> (u16, u8) {
        let fate = match self.fate {
            Fate::Whole if accepted => Fate::Whole,
            Fate::Whole if self.cells == 0 => Fate::Refused,
            Fate::Whole => Fate::Broken,
            lost => lost,
        };
        match self.cells + 1 == length {
            true => (0, u8::from(fate == Fate::Whole)),
            false => (3 * (self.cells + 1) + fate as u16, 0),
        }
    }
}

impl Frames {
    fn start(self) -> Words {
        vec![0; self.circuits + 1].into()
    }

    /// Return the state after a cell of a circuit, and the frames that it completes.
    fn after(self, state: &[u16], circuit: usize, accepted: bool) -> (Words, u8) {
        let mut after: Words = state.into();
        let (word, frames) = Open::read(state[circuit]).after(accepted, self.length);
        after[circuit] = word;
        after[self.circuits] += u16::from(accepted);
        (after, frames)
    }

    fn tick(self, state: &[u16]) -> (Words, u8) {
        let mut after: Words = state.into();
        after[self.circuits] = after[self.circuits].saturating_sub(1);
        (after, 0)
    }

    fn lengths(self, state: &[u16]) -> Vec<u64> {
        vec![state[self.circuits].into()]
    }
}

/// The optimum, which may give a frame up at any cell and takes no cell of a frame that it has given up.
#[derive(Debug)]
pub(crate) struct Optimum(pub(crate) Frames);

impl Side for Optimum {
    fn start(&self) -> Words {
        self.0.start()
    }

    fn arrive(&mut self, state: &[u16], port: usize, takes: bool) -> (Words, u8) {
        let has_room = u64::from(state[self.0.circuits]) < self.0.cells;
        let is_whole = Open::read(state[port]).fate == Fate::Whole;
        self.0.after(state, port, takes && has_room && is_whole)
    }

    fn tick(&self, state: &[u16]) -> (Words, u8) {
        self.0.tick(state)
    }

    fn lengths(&self, state: &[u16]) -> Vec<u64> {
        self.0.lengths(state)
    }
}

/// A port with a policy for frames.
#[derive(Debug)]
pub(crate) struct Port {
    frames: Frames,
    policy: Policy,
    pool: Pool,
    queue: Queue,
}

impl Port {
    /// Build a port; the error says why its policy cannot work there.
    pub(crate) fn new(policy: &Spec, frames: Frames) -> Result<Port, Refused> {
        let built = policy.build(&Context::alone(frames.cells, frames.circuits))?;
        if !matches!(built.rule(), Some(Rule::Fits | Rule::Frames { .. })) {
            let name = policy.name();
            return unfit(format!(
                "must decide by the occupancy and by frames alone, as tail-drop, ppd and epd do, not as {name} does: its \
                 states cannot be enumerated"
            ));
        }
        let pool = Pool::new(Capacity::limited(frames.cells), frames.circuits);
        Ok(Port { frames, policy: built, pool, queue: Queue::default() })
    }

    /// Return whether the policy accepts cell `index` of a frame at this occupancy.
    fn judge(&mut self, circuit: usize, index: u16, occupancy: u64) -> bool {
        self.pool.hold(occupancy);
        let mut flags = if index == 0 { Flags::FIRST } else { Flags::default() };
        if index + 1 == self.frames.length {
            flags = flags.with(Flags::EOM);
        }
        let unit = Unit { index, bytes: 53, flags, ..Unit::default() };
        let verdict = self.policy.judge(&mut Arrival {
            now: Time::ZERO,
            unit: &unit,
            vc: PortVc(circuit as u32),
            size: 1,
            pool: &self.pool,
            queue: &self.queue,
            place: QueueId::new(0),
            waiting: 0,
            elastic: false,
        });
        matches!(verdict, Verdict::Accept)
    }

    /// Bring the frame rule of a circuit into the state of a frame that is arriving.
    fn recall(&mut self, circuit: usize, open: Open) {
        let full = self.frames.cells;
        if open.cells > 0 {
            self.judge(circuit, 0, if open.fate == Fate::Refused { full } else { 0 });
        }
        if open.fate == Fate::Broken {
            self.judge(circuit, 1, full);
        }
    }
}

impl Side for Port {
    fn start(&self) -> Words {
        self.frames.start()
    }

    fn arrive(&mut self, state: &[u16], port: usize, _: bool) -> (Words, u8) {
        let open = Open::read(state[port]);
        self.recall(port, open);
        let accepted = self.judge(port, open.cells, state[self.frames.circuits].into());
        self.frames.after(state, port, accepted)
    }

    fn tick(&self, state: &[u16]) -> (Words, u8) {
        self.frames.tick(state)
    }

    fn lengths(&self, state: &[u16]) -> Vec<u64> {
        self.frames.lengths(state)
    }
}
