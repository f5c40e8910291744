//! The packets at ports that judge every packet, in the order in which they arrived at each step.
//!
//! # What it assumes
//! Only few steps have packets at a time.
//!
//! # What it skips
//! A list for each step: the packets of all steps share one list, where numbers link the packets of a step.
//!
//! # Why that is exact
//! The order of packets at each step is that of a separate list: see the test.
//!
//! # What it saves
//! Memory: on a leaf-spine a step takes 8 octets instead of 32 and the capacity of its list.

use crate::engine::packets::route::Packet;

/// A number that no packet has.
const NONE: u32 = u32::MAX;

/// The packets that have arrived at ports that judge every packet; a packet is removed when it, or a later packet of
/// its step, is sent.
#[derive(Debug)]
pub(super) struct WaitingPackets {
    /// For each step its first packet and its last one.
    ends: Vec<[u32; 2]>,
    packets: Vec<Packet>,
    /// For each packet the next one of its step; for each free place the next free place.
    next: Vec<u32>,
    free: u32,
}

impl WaitingPackets {
    /// Build an empty list for `steps` steps.
    pub(super) fn new(steps: usize) -> WaitingPackets {
        WaitingPackets { ends: vec![[NONE; 2]; steps], packets: Vec::new(), next: Vec::new(), free: NONE }
    }

    /// Add a packet that arrives at a step.
    #[inline]
    pub(super) fn push(&mut self, at: u32, packet: Packet) {
        let place = self.take_place(packet);
        let [first, last] = &mut self.ends[at as usize];
        match *last {
            NONE => *first = place,
            before => self.next[before as usize] = place,
        }
        *last = place;
    }

    /// Remove and return the first packet of a step.
    #[inline]
    pub(super) fn pop(&mut self, at: u32) -> Option<Packet> {
        let [first, last] = &mut self.ends[at as usize];
        let place = *first;
        if place == NONE {
            return None;
        }
        *first = self.next[place as usize];
        if *first == NONE {
            *last = NONE;
        }
        Some(self.give_place(place))
    }

    /// Remove and return the packet of a frame from a step, if it is there.
    pub(super) fn remove(&mut self, at: u32, frame: u32) -> Option<Packet> {
        let [first, _] = self.ends[at as usize];
        let (mut before, mut place) = (NONE, first);
        while place != NONE && self.packets[place as usize].head.frame != frame {
            (before, place) = (place, self.next[place as usize]);
        }
        if before == NONE || place == NONE {
            return if place == NONE { None } else { self.pop(at) };
        }
        self.next[before as usize] = self.next[place as usize];
        if self.next[before as usize] == NONE {
            self.ends[at as usize][1] = before;
        }
        Some(self.give_place(place))
    }

    #[inline]
    fn take_place(&mut self, packet: Packet) -> u32 {
        let place = self.free;
        if place == NONE {
            self.packets.push(packet);
            self.next.push(NONE);
            return self.next.len() as u32 - 1;
        }
        self.free = std::mem::replace(&mut self.next[place as usize], NONE);
        self.packets[place as usize] = packet;
        place
    }

    #[inline]
    fn give_place(&mut self, place: u32) -> Packet {
        self.next[place as usize] = std::mem::replace(&mut self.free, place);
        self.packets[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::packets::route::Head;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_holds_what_a_list_for_each_step_would_hold(
            acts in prop::collection::vec((0u32..3, 0u32..3, 0usize..6), 0..300),
        ) {
            let (mut waiting, mut lists) = (WaitingPackets::new(3), vec![VecDeque::<u32>::new(); 3]);
            for (frame, (at, what, place)) in (0..).zip(acts) {
                let list = &mut lists[at as usize];
                match what {
                    0 => {
                        let head = Head { frame, ..Head::default() };
                        waiting.push(at, Packet { head, ..Packet::default() });
                        list.push_back(frame);
                    }
                    1 => prop_assert_eq!(waiting.pop(at).map(|packet| packet.head.frame), list.pop_front()),
                    _ => {
                        let wanted = list.get(place).copied().unwrap_or(u32::MAX);
                        let removed = waiting.remove(at, wanted).map(|packet| packet.head.frame);
                        prop_assert_eq!(removed, list.remove(place));
                    }
                }
            }
            for (at, list) in (0..).zip(lists) {
                let rest: Vec<u32> = std::iter::from_fn(|| waiting.pop(at)).map(|packet| packet.head.frame).collect();
                prop_assert_eq!(rest, Vec::from(list));
            }
        }
    }
}
