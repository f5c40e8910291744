//! The processor of a host, which needs time for every segment.
//!
//! *Source*: D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR", 1998 (paper 003),
//! section 4.1, on the NIST ATM network simulator: sending or receiving a segment or an acknowledgement takes 300 µs
//! ± 10 µs. The processor at each end of a connection handles segments one after another, in the order in which they
//! come. So, with an acknowledgement for each segment of 2048 octets, a connection gets at most 2048 · 8 / 600 µs =
//! 27.31 Mb/s, which the paper's tables 7 and 8 confirm. A constant delay of an end system, during which it handles
//! other segments as well, is modelled by the latency of its node.

use std::collections::VecDeque;

use super::end::{End, Uplink};
use crate::rng::{Keyed, Subject};
use crate::scenario::model::{Flow, Scenario};
use crate::transport::Transport;
use crate::transport::cargo::{Cargo, Wire};
use crate::transport::tcp::{Segment, SegmentOutlet};
use crate::units::ids::{CircuitId, FlowId};
use crate::units::{Span, Time};

/// Circuits and header size of the packets of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowCircuits {
    pub(super) flow: FlowId,
    /// Circuits of the data and of the acknowledgements; only TCP uses the second.
    pub(super) vcs: [CircuitId; 2],
    /// Octets of IP and transport headers, options included.
    pub(super) headers: u32,
}

impl FlowCircuits {
    /// Return the circuits of flow number `index` of a scenario.
    pub(super) fn of(flow: &Flow, index: FlowId) -> FlowCircuits {
        let headers = flow.transport.header_bytes() + flow.transport.option_bytes();
        FlowCircuits { flow: index, vcs: [flow.vc, flow.back.unwrap_or(flow.vc)], headers }
    }
}

/// The outlet of a transport to the network: through the host's processor if segments take time, otherwise directly.
#[derive(Debug)]
pub(super) struct Interfaces<'a, U> {
    pub(super) flow_circuits: FlowCircuits,
    pub(super) now: Time,
    pub(super) processors: Option<&'a mut [Processor; 2]>,
    pub(super) uplink: &'a mut U,
}

impl<U: Uplink> Interfaces<'_, U> {
    /// Send a packet of `bytes` octets, IP header included, to the flow's other end.
    #[inline(always)] // see `Circuit::emit`
    pub(super) fn send(&mut self, bytes: u32, cargo: Cargo) {
        let is_back = cargo.is_back();
        if let Some(processors) = &mut self.processors {
            let end = if is_back { End::Sink } else { End::Source };
            return processors[end as usize].add(self.now, Task::Send(bytes, cargo));
        }
        let FlowCircuits { flow, vcs, .. } = self.flow_circuits;
        self.uplink.send(vcs[usize::from(is_back)], flow, bytes, cargo);
    }
}

impl<U: Uplink> SegmentOutlet for Interfaces<'_, U> {
    #[inline(always)] // see `Circuit::emit`
    fn put(&mut self, segment: Segment) {
        self.send(self.flow_circuits.headers + u32::from(segment.len), segment.pack());
    }
}

/// A task of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// A packet has arrived: hand it to the transport.
    Receive(Cargo),
    /// The transport has written a packet of this length in octets: hand it to the network interface.
    Send(u32, Cargo),
}

impl Task {
    /// Return the task's packet, for which random numbers are drawn.
    fn subject(&self) -> Subject {
        match self {
            Task::Receive(cargo) => Subject::unit(0, cargo.identity(0), 0),
            Task::Send(_, cargo) => Subject::unit(1, cargo.identity(0), 0),
        }
    }
}

/// The processor at one end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Processor {
    least: Span,
    spread: Span,
    keyed: Keyed,
    /// Time at which the processor will have finished all tasks.
    free: Time,
    /// Tasks in order, each with the time at which the processor finishes it.
    tasks: VecDeque<(Time, Task)>,
}

impl Processor {
    /// Build the processors of a flow at its source and at its sink, unless segments take no time.
    pub(super) fn both(scenario: &Scenario, flow: &Flow) -> Option<Box<[Processor; 2]>> {
        let one = |end: &str| {
            let keyed = Keyed::new(scenario.seed, format_args!("flow.{}.{end}.processing", flow.name));
            Processor::new(flow.processing, flow.processing_variation, keyed)
        };
        (flow.processing > Span::ZERO).then(|| Box::new([one("source"), one("sink")]))
    }

    fn new(mean: Span, variation: Span, keyed: Keyed) -> Processor {
        let (least, spread) = (mean - variation, variation + variation);
        Processor { least, spread, keyed, free: Time::ZERO, tasks: VecDeque::new() }
    }

    /// Append a task to the processor's tasks.
    pub(super) fn add(&mut self, now: Time, task: Task) {
        self.free = self.free.max(now) + self.least + Span(self.keyed.up_to(task.subject(), self.spread.0));
        self.tasks.push_back((self.free, task));
    }

    /// Return when the next task will be done.
    pub(super) fn next(&self) -> Option<Time> {
        self.tasks.front().map(|&(done, _)| done)
    }

    /// Remove and return the next task if it is finished by `now`.
    pub(super) fn take(&mut self, now: Time) -> Option<Task> {
        let &(done, task) = self.tasks.front()?;
        if done > now {
            return None;
        }
        self.tasks.pop_front();
        Some(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processor(mean: u64, variation: u64) -> Processor {
        Processor::new(Span(mean), Span(variation), Keyed::new(1, "test"))
    }

    fn task(seq: u64) -> Task {
        Task::Send(0, Segment { seq, ..Segment::default() }.pack())
    }

    #[test]
    fn tasks_are_done_one_after_another_in_the_order_in_which_they_come() {
        let mut processor = processor(300, 0);
        processor.add(Time(1000), task(1));
        processor.add(Time(1100), task(2));
        assert_eq!((processor.next(), processor.take(Time(1299))), (Some(Time(1300)), None));
        assert_eq!((processor.take(Time(1300)), processor.next()), (Some(task(1)), Some(Time(1600))));
        assert_eq!((processor.take(Time(1600)), processor.next()), (Some(task(2)), None));
    }

    #[test]
    fn a_processor_that_has_nothing_to_do_starts_at_once() {
        let mut processor = processor(300, 0);
        processor.add(Time(0), task(1));
        processor.take(Time(300));
        processor.add(Time(5000), task(2));
        assert_eq!(processor.next(), Some(Time(5300)));
    }

    #[test]
    fn times_lie_evenly_around_their_mean() {
        let mut processor = processor(300, 10);
        let mut last = Time::ZERO;
        let mut times = Vec::new();
        for seq in 0..21_000 {
            processor.add(Time::ZERO, task(seq));
            let (done, _) = *processor.tasks.back().unwrap();
            times.push(done.since(last).0);
            last = done;
        }
        assert_eq!((times.iter().min(), times.iter().max()), (Some(&290), Some(&310)));
        let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
        assert!((mean - 300.0).abs() < 0.2, "{mean}");
    }
}
