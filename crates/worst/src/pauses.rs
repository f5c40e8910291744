//! Senders that a memory stops: does it ever lose a packet of a lossless class?
//!
//! Each sender sends at most one packet a slot, to an output of its own. In a slot first senders send, in any order, then
//! outputs send or not, as the input says: so the answer holds for every order of service, and for outputs that others
//! stop. The memory counts on the ingress side, a queue for each sender, and stops and resumes a sender as in a run
//! ([`LosslessDecider`]). A sender obeys `response` slots later: after the slot in which the memory stops it, it can still
//! send in as many.
//!
//! The words of a sender in a state are the shared room and the headroom that its queue holds, and bits: whether it has
//! sent in this slot, whether its output has, and whether the memory stops it now and did so at the ends of the last slots. The last word
//! of a state says that a packet was lost; nothing follows that.

use std::array;

use pushout_core::memory::decide::lossless::{Headroom, Held, LosslessDecider};
use pushout_core::memory::sharing;
use pushout_core::refused::Refused;
use serde_json::{Value as Json, json};

use crate::model::Step;
use crate::side::{Side, Words};

/// Most slots after which a sender obeys: a bit each has to fit into a word.
pub(crate) const MOST_RESPONSE: u64 = 11;

/// The pauses of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pauses {
    /// Packets of headroom, and of a queue whose sender goes on.
    pub headroom: Headroom,
    /// Slots in which a sender still sends after the one in which the memory has stopped it.
    pub response: u64,
}

const HAS_SENT: u16 = 1;
const HAS_SERVED: u16 = 2;
const STOPPED: u16 = 4;

/// Words of a sender.
const WORDS: usize = 3;

/// A memory and its senders. The first ports are the senders, the others their outputs: an arrival there is a packet that leaves.
#[derive(Debug)]
pub(crate) struct Senders {
    decider: LosslessDecider,
    senders: usize,
    response: u32,
}

impl Senders {
    /// Build the memory; the error says why a scheme cannot work there.
    pub(crate) fn new(
        scheme: &sharing::Spec,
        cells: u64,
        senders: usize,
        pauses: Pauses,
    ) -> Result<Senders, Refused> {
        let decider = LosslessDecider::new(scheme, cells, senders, pauses.headroom)?;
        Ok(Senders { decider, senders, response: pauses.response as u32 })
    }

    /// Return the words of a sender: shared room, headroom and bits.
    fn of(&self, state: &[u16], sender: usize) -> [u16; WORDS] {
        array::from_fn(|word| state[word * self.senders + sender])
    }

    /// Return whether a sender obeys a stop in this slot.
    fn obeys(&self, bits: u16) -> bool {
        bits >> (self.response + 1) & STOPPED > 0
    }

    /// Return whether a sender, or an output, can send now: once a slot, in the order of the model.
    fn can_send(&self, state: &[u16], port: usize) -> bool {
        let bits = |sender: usize| self.of(state, sender)[2];
        match port.checked_sub(self.senders) {
            None => {
                let is_early = (0..self.senders).all(|sender| bits(sender) & HAS_SERVED == 0);
                is_early && bits(port) & HAS_SENT == 0 && !self.obeys(bits(port))
            }
            Some(output) => {
                let [shared, headroom, _] = self.of(state, output);
                shared + headroom > 0 && (output..self.senders).all(|later| bits(later) & HAS_SERVED == 0)
            }
        }
    }

    /// Bring the memory into a state.
    fn recall(&mut self, state: &[u16]) {
        let Senders { decider, senders, .. } = self;
        let held = |sender: usize| {
            let [shared, headroom, bits] = array::from_fn(|word| state[word * *senders + sender]);
            Held { shared: shared.into(), headroom: headroom.into(), is_stopped: bits & STOPPED > 0 }
        };
        decider.recall((0..*senders).map(held));
    }

    /// Return the state after a step, in which the memory is now and this sender or output has sent.
    fn state(&self, before: &[u16], port: usize, is_lost: bool) -> Words {
        let mut after: Words = before.into();
        for sender in 0..self.senders {
            let Held { shared, headroom, is_stopped } = self.decider.held(sender);
            let bits = &mut after[2 * self.senders + sender];
            *bits = *bits & !STOPPED | if is_stopped { STOPPED } else { 0 };
            after[sender] = shared as u16;
            after[self.senders + sender] = headroom as u16;
        }
        let has = if port < self.senders { HAS_SENT } else { HAS_SERVED };
        after[2 * self.senders + port % self.senders] |= has;
        *after.last_mut().expect("the last word is there") = is_lost.into();
        after
    }
}

/// Return whether a packet was lost before a state.
pub(crate) fn has_lost(state: &[u16]) -> bool {
    state.last() == Some(&1)
}

impl Side for Senders {
    fn start(&self) -> Words {
        vec![0; WORDS * self.senders + 1].into()
    }

    fn arrive(&mut self, state: &[u16], port: usize, _: bool) -> (Words, u8) {
        if has_lost(state) || !self.can_send(state, port) {
            return (state.into(), 0);
        }
        self.recall(state);
        let is_kept = match port.checked_sub(self.senders) {
            None => self.decider.arrive(port),
            Some(output) => {
                self.decider.send(output);
                true
            }
        };
        (self.state(state, port, !is_kept), 0)
    }

    fn tick(&self, state: &[u16]) -> (Words, u8) {
        let mut after: Words = state.into();
        if !has_lost(state) {
            let kept = (STOPPED << (self.response + 2)) - 1;
            for bits in &mut after[2 * self.senders..3 * self.senders] {
                let now = *bits & STOPPED;
                *bits = (*bits & !(HAS_SENT | HAS_SERVED)) << 1 & kept | now;
            }
        }
        (after, 0)
    }

    fn lengths(&self, state: &[u16]) -> Vec<u64> {
        let held = |sender| {
            let [shared, headroom, _] = self.of(state, sender);
            u64::from(shared) + u64::from(headroom)
        };
        (0..self.senders).map(held).collect()
    }
}

/// A slot of an input on which a packet is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The senders that send, in their order, and whether the packet is kept.
    pub arrivals: Vec<(usize, bool)>,
    /// What the queue of each sender holds after the arrivals.
    pub held: Vec<u64>,
    /// The headroom in that.
    pub headroom: Vec<u64>,
    /// Senders that obey a stop in this slot.
    pub stopped: Vec<usize>,
    /// Outputs that send, after the arrivals.
    pub sends: Vec<usize>,
}

impl Slot {
    /// Return the slot as a document.
    pub(crate) fn document(&self) -> Json {
        json!({
            "arrivals": self.arrivals.iter().map(|&(sender, kept)| json!([sender, kept])).collect::<Json>(),
            "policy": self.held,
            "headroom": self.headroom,
            "stopped": self.stopped,
            "sends": self.sends,
        })
    }
}

impl Senders {
    /// Play steps from the empty memory, and return their slots; `None` if one of them cannot be made.
    pub(crate) fn play(&mut self, steps: &[Step]) -> Option<Vec<Slot>> {
        let mut state = self.start();
        let mut slots = vec![self.slot(&state)];
        for step in steps {
            let slot = slots.last_mut()?;
            match *step {
                Step::Tick => {
                    state = self.tick(&state).0;
                    slots.push(self.slot(&state));
                }
                Step::Arrival { port, .. } if !self.can_send(&state, port) => return None,
                Step::Arrival { port, .. } => {
                    state = self.arrive(&state, port, true).0;
                    match port.checked_sub(self.senders) {
                        None => {
                            slot.arrivals.push((port, !has_lost(&state)));
                            let now = self.slot(&state);
                            (slot.held, slot.headroom) = (now.held, now.headroom);
                        }
                        Some(output) => slot.sends.push(output),
                    }
                }
            }
        }
        Some(slots)
    }

    /// Return a slot that begins in a state.
    fn slot(&self, state: &[u16]) -> Slot {
        let senders = 0..self.senders;
        Slot {
            held: self.lengths(state),
            headroom: senders.clone().map(|sender| self.of(state, sender)[1].into()).collect(),
            stopped: senders.filter(|&sender| self.obeys(self.of(state, sender)[2])).collect(),
            ..Slot::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::never::Event;
    use crate::tests::{GO_ON, question};
    use crate::{Failure, Proof, Question, Subject};
    use pushout_core::language::read::{Format, read};
    use pushout_core::language::spec::Field;

    /// Ask whether senders that obey after `response` slots ever lose a packet.
    fn ask(
        scheme: &str,
        [senders, cells]: [u64; 2],
        [xoff, xon, all]: [u64; 3],
        response: u64,
    ) -> Result<Proof, Failure> {
        let scheme = sharing::Spec::read(&read(scheme, Format::Json).unwrap(), "policy").unwrap();
        let pauses = Pauses { headroom: Headroom { xoff, xon, all }, response };
        let subject = Subject::Pauses { scheme, pauses };
        Question { subject, ..question("{}", senders as usize, cells) }.never(Event::LosslessDrop, GO_ON)
    }

    const SHARING: &str = r#"{"policy": "complete-sharing"}"#;
    const DYNAMIC: &str = r#"{"policy": "dynamic-threshold", "alpha": 1}"#;

    #[test]
    fn a_sender_needs_headroom_for_the_packet_that_stops_it_and_for_its_response() {
        for scheme in [SHARING, DYNAMIC] {
            for (senders, response) in [(1, 1), (1, 3), (1, 5), (2, 1), (2, 2)] {
                let need = response + 1;
                for xon in [0, 1] {
                    let with = |xoff| {
                        let cells = senders * xoff + 3;
                        ask(scheme, [senders, cells], [xoff, xon, senders * xoff], response).unwrap()
                    };
                    let (enough, short) = (with(need), with(need - 1));
                    assert_eq!(enough.example, None, "{scheme}, {senders} senders, response {response}");
                    let slots = short.example.expect("a packet is lost").pauses;
                    let lost: Vec<_> =
                        slots.iter().flat_map(|slot| &slot.arrivals).filter(|(_, kept)| !kept).collect();
                    assert_eq!(lost.len(), 1, "{scheme}, {senders} senders, response {response}");
                }
            }
        }
    }
}
