//! Decisions of a memory whose queues stop their senders, without a network.
//!
//! The memory has one pool on the ingress side, in which each sender has a queue. Its decisions, and whether a sender is
//! stopped, are those of a run; when the sender obeys is up to the caller.

use super::{account, build, outlet, packet};
use crate::memory::pause::{QueuePause, Stopped};
use crate::memory::sharing::{self, Sharing, Variables};
use crate::memory::{
    Charge, Leaving, Memory, MemoryParts, QueueLimits, SharedPool, SharedQueue, ThresholdCheck,
};
use crate::refused::{Refused, refuse, unfit};
use crate::units::ids::{LineId, PoolQueue};
use crate::units::{Span, Time};

/// Room beyond the thresholds, in packets of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// What each queue may take.
    pub xoff: u64,
    /// What a queue may hold when its sender goes on.
    pub xon: u64,
    /// What all queues may take together.
    pub all: u64,
}

/// What a queue holds, and whether it has stopped its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Packets in shared room.
    pub shared: u64,
    /// Packets in headroom.
    pub headroom: u64,
    /// Whether the sender is stopped.
    pub is_stopped: bool,
}

/// A memory with a queue for each sender, in which every packet takes one cell.
#[derive(Clone, Debug)]
pub struct LosslessDecider {
    empty: Memory,
    memory: Memory,
}

impl LosslessDecider {
    /// Build a memory of `cells` cells, headroom included; the error says why the scheme cannot work there.
    pub fn new(
        scheme: &sharing::Spec,
        cells: u64,
        senders: usize,
        headroom: Headroom,
    ) -> Result<LosslessDecider, Refused> {
        let Headroom { xoff, xon, all } = headroom;
        let Some(shared) = cells.checked_sub(all).filter(|&shared| shared > 0) else {
            return refuse("memory", format!("must be more than the {all} packets of headroom, not {cells}"));
        };
        let built = build(scheme, shared, senders)?;
        if let Some(other) = built.depends_on() {
            return unfit(format!("must decide by lengths of queues, not by {other}"));
        }
        if built.variables() != Variables::default() {
            return unfit("must decide by lengths of queues alone, without variables");
        }
        let pause = QueuePause { class: 0, xoff, xon, xon_offset: None, response: Span::ZERO };
        let limits = QueueLimits { pause: Some(pause), ..QueueLimits::default() };
        let queue = |number| {
            SharedQueue::new(limits, LineId::new(number), outlet(number).rate, 0, PoolQueue::new(number))
        };
        let empty = Memory::new(MemoryParts {
            cells,
            check: ThresholdCheck::Before,
            pools: vec![SharedPool::new(shared, senders, all, built)],
            queues: (0..senders).map(queue).collect(),
            pushout: None,
        });
        Ok(LosslessDecider { memory: empty.clone(), empty })
    }

    /// Bring the memory into a state: what each queue holds.
    pub fn recall(&mut self, held: impl Iterator<Item = Held>) {
        self.memory.clone_from(&self.empty);
        let (memory, mut stopped) = (&mut self.memory, Vec::new());
        for (queue, Held { shared, headroom, is_stopped }) in held.enumerate() {
            (0..shared).for_each(|_| memory.take_in(Time::ZERO, account(queue), Charge::Shared, 1));
            (0..headroom).for_each(|_| memory.take_in(Time::ZERO, account(queue), Charge::Headroom, 1));
            if is_stopped {
                stopped.push(Stopped { queue, repeat: Time::ZERO });
            }
        }
        memory.stopped = stopped;
    }

    /// Return what a queue holds.
    pub fn held(&self, queue: usize) -> Held {
        let own = &self.memory.queues[queue];
        Held { shared: own.shared(), headroom: own.headroom(), is_stopped: self.memory.is_stopped(queue) }
    }

    /// Let a packet of a sender arrive; return whether the memory accepts it.
    pub fn arrive(&mut self, queue: usize) -> bool {
        let charge = self.memory.offer(Time::ZERO, account(queue), 1, &packet());
        if let Some(charge) = charge {
            self.memory.take_in(Time::ZERO, account(queue), charge, 1);
        }
        charge.is_some()
    }

    /// Let the first packet of a queue leave.
    pub fn send(&mut self, queue: usize) {
        let unit = packet();
        self.memory.release(account(queue), &Leaving { now: Time::ZERO, unit: &unit, size: 1, sent: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::read::{Format, read};
    use crate::language::spec::Field;

    #[test]
    fn the_first_packet_of_headroom_stops_its_sender_until_the_queue_is_short() {
        let node = read(r#"{"policy": "dynamic-threshold", "alpha": 1}"#, Format::Json).unwrap();
        let scheme = sharing::Spec::read(&node, "policy").unwrap();
        let headroom = Headroom { xoff: 2, xon: 1, all: 4 };
        let mut decider = LosslessDecider::new(&scheme, 8, 2, headroom).unwrap();
        let held = |shared, headroom, is_stopped| Held { shared, headroom, is_stopped };
        // 4 packets of shared room, alpha 1: the third meets a queue of 2 and 2 packets of room
        assert_eq!([0; 5].map(|queue| decider.arrive(queue)), [true, true, true, true, false]);
        assert_eq!([0, 1].map(|queue| decider.held(queue)), [held(2, 2, true), held(0, 0, false)]);
        decider.send(0);
        decider.send(0);
        assert_eq!(decider.held(0), held(2, 0, true), "it holds more than xon");
        decider.send(0);
        assert_eq!(decider.held(0), held(1, 0, false));
        decider.recall([held(1, 1, true), held(2, 0, true)].into_iter());
        assert_eq!([0, 1].map(|queue| decider.held(queue)), [held(1, 1, true), held(2, 0, true)]);
    }
}
