//! A virtual buffer with longest queue drop: it stores sizes of packets, but no packets.

use std::collections::VecDeque;

use crate::buffer::capacity::Capacity;
use crate::buffer::context::Outlet;
use crate::buffer::pushout::longest_queue;
use crate::link::line::Line;
use crate::units::ids::{Id, IdVec};
use crate::units::{Span, Time};

/// The virtual buffer: its lines, and the length of each queue.
#[derive(Clone, Debug)]
pub(crate) struct VirtualBuffer<K> {
    rule: longest_queue::Params,
    /// Capacity of the buffer; `None` without a limit.
    capacity: Option<u64>,
    total: u64,
    lengths: IdVec<K, u64>,
    /// For each queue the number of its line.
    line_of: IdVec<K, usize>,
    lines: Vec<VirtualLine<K>>,
}

/// The packets that wait for a line, the packet in transmission, and the rate of the line.
#[derive(Clone, Debug)]
struct VirtualLine<K> {
    line: Line,
    sending: Option<(VirtualPacket<K>, Time)>,
    waiting: VecDeque<VirtualPacket<K>>,
}

/// A virtual packet.
#[derive(Clone, Copy, Debug)]
struct VirtualPacket<K> {
    queue: K,
    size: u64,
    bytes: u16,
}

impl<K: Id> VirtualBuffer<K> {
    /// Build an empty buffer with one queue for each of `outlets`; queues with one line number share this line.
    pub(crate) fn new(
        rule: longest_queue::Params,
        capacity: Capacity,
        outlets: impl Iterator<Item = Outlet>,
    ) -> VirtualBuffer<K> {
        let (mut numbers, mut lines) = (Vec::new(), Vec::new());
        let line_of = outlets.map(|outlet| {
            numbers.iter().position(|number| *number == outlet.line).unwrap_or_else(|| {
                numbers.push(outlet.line);
                let line = Line::new(outlet.rate, Span::ZERO).with_minimum(outlet.minimum);
                lines.push(VirtualLine { line, sending: None, waiting: VecDeque::new() });
                lines.len() - 1
            })
        });
        let line_of: IdVec<K, usize> = line_of.collect();
        let lengths = IdVec::filled(0, line_of.len());
        VirtualBuffer { rule, capacity: capacity.limit(), total: 0, lengths, line_of, lines }
    }

    /// Return the length of a queue.
    pub(crate) fn length(&self, queue: K) -> u64 {
        self.lengths[queue]
    }

    /// Send the units that leave by `now`.
    pub(crate) fn send_until(&mut self, now: Time) {
        for line in &mut self.lines {
            while let Some((packet, ends)) = line.sending.filter(|(_, ends)| *ends <= now) {
                self.lengths[packet.queue] -= packet.size;
                self.total -= packet.size;
                line.sending = None;
                line.start(ends);
            }
        }
    }

    /// Receive a packet of `size` in the measure of the buffer and of `bytes` octets.
    pub(crate) fn offered(&mut self, now: Time, queue: K, size: u64, bytes: u16) {
        self.send_until(now);
        self.arrive(now, queue, size, bytes);
    }

    /// Add an arriving packet to its queue. In a full buffer the longest queue first loses packets; if that is the
    /// packet's own queue, the packet is lost.
    fn arrive(&mut self, now: Time, queue: K, size: u64, bytes: u16) {
        while self.capacity.is_some_and(|capacity| self.total + size > capacity) {
            let lengths = self.lengths.pairs().map(|(queue, &length)| (queue, length));
            let Some(victim) = self.rule.victim(lengths, queue, size, |other| self.last_of(other).is_some())
            else {
                return;
            };
            self.push_out(victim);
        }
        self.lengths[queue] += size;
        self.total += size;
        let line = &mut self.lines[self.line_of[queue]];
        line.waiting.push_back(VirtualPacket { queue, size, bytes });
        line.start(now);
    }

    /// Return the index of a queue's last packet in the list of packets that wait for its line; `None` if no packet
    /// of the queue waits.
    fn last_of(&self, queue: K) -> Option<usize> {
        self.lines[self.line_of[queue]].waiting.iter().rposition(|packet| packet.queue == queue)
    }

    fn push_out(&mut self, queue: K) {
        let place = self.last_of(queue).expect("a queue that gives way has a packet");
        let packet = self.lines[self.line_of[queue]].waiting.remove(place).expect("a packet that was found");
        self.lengths[queue] -= packet.size;
        self.total -= packet.size;
    }
}

impl<K: Id> VirtualLine<K> {
    /// Start to send the next packet, if the line is free.
    fn start(&mut self, now: Time) {
        if self.sending.is_none()
            && let Some(packet) = self.waiting.pop_front()
        {
            self.sending = Some((packet, self.line.send(now, packet.bytes).ends));
        }
    }
}
