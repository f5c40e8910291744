//! Priority flow control: a node stops the port at the other end of an incoming line from sending a class of traffic, and
//! later lets it resume.
//!
//! *Source*: IEEE 802.1Qbb (now in IEEE 802.1Q, clause 36). A pause frame of 64 octets travels on the line in the
//! other direction, behind the unit in transmission there and before all that waits. The frame takes effect when its
//! last bit has arrived, or when the port has had the time that it needs to respond; a unit in transmission is completed. A class stands for a priority of the standard, which
//! has eight. By the standard a pause lasts at most 65535 quanta of 512 bit times unless another frame comes before.
//! The node repeats the frame after half of this time, so here a pause lasts until a frame ends it.
//!
//! Pauses also come from outside (`storm.rs`), and a watchdog may overrule those that last too long (`watchdog.rs`).

use serde_json::{Map, Value as Json};

use super::storm::{Awaited, OUTSIDE};
use super::watchdog::Watchdog;
use super::{Build, Gate, Policy, Site};
use crate::language::spec::Nested;
use crate::link::control::{Control, PauseFrame};
use crate::unit::Unit;
use crate::units::ids::{IdVec, MemoryId, PortVc};
use crate::units::{Rate, Span, Time};
use crate::verdict::Reason;

/// Greatest number of classes that can be paused: the priorities of Ethernet.
pub const MOST_CLASSES: usize = 8;

/// Return the time after which a memory repeats the frame that stops a class: half of the longest pause.
pub fn refresh(rate: Rate) -> Span {
    Span(rate.time_of_bits(65_535 * 512 / 2).0)
}

/// The classes that a port must not send now.
#[derive(Clone, Debug)]
pub struct Paused {
    /// Class of every circuit of the port.
    of: IdVec<PortVc, u32>,
    /// The stopped classes, each with the memory that has stopped it.
    stopped: Vec<(u32, u32)>,
    awaited: Awaited,
    /// The times after which it obeys frames, where it needs any: the class, the memory and the time.
    responses: Vec<(u32, u32, Span)>,
    watchdog: Option<Watchdog>,
    /// Instant up to which `total` counts pauses.
    since: Time,
    /// The total duration of pauses so far.
    total: Span,
    /// When classes were stopped or resumed since the last reset, if the scenario records it.
    log: Option<Vec<Change>>,
}

/// A class is stopped by the first memory, or resumed by the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) time: Time,
    pub(crate) class: u32,
    pub(crate) stops: bool,
}

impl Paused {
    /// Build the gate of a port with circuits of these classes; no class is stopped.
    pub fn new(of: IdVec<PortVc, u32>) -> Paused {
        let (awaited, responses, watchdog) = (Awaited::default(), Vec::new(), None);
        let (since, total, log) = (Time::ZERO, Span::ZERO, None);
        Paused { of, stopped: Vec::new(), awaited, responses, watchdog, since, total, log }
    }

    /// Return the pause gate among the gates of a port, if the port can be paused.
    pub fn among(gates: &[Policy]) -> Option<&Paused> {
        gates.iter().find_map(|gate| if let Policy::Pause(paused) = gate { Some(paused) } else { None })
    }

    /// Return whether a class is stopped.
    pub fn stops(&self, class: u32) -> bool {
        self.stopped.iter().any(|(stopped, _)| *stopped == class)
    }

    /// Return the memories that have stopped a class.
    pub(crate) fn memories(&self, class: u32) -> impl Iterator<Item = MemoryId> {
        let own = self.stopped.iter().filter(move |(stopped, memory)| *stopped == class && *memory < OUTSIDE);
        own.map(|(_, memory)| MemoryId(*memory))
    }

    /// Return when classes were stopped and resumed since the last reset, if it was recorded.
    pub(crate) fn log(&self) -> &[Change] {
        self.log.as_deref().unwrap_or_default()
    }

    /// Stop or resume a class, as a pause frame requests.
    fn obey(&mut self, now: Time, frame: PauseFrame) {
        self.close(now);
        let of = (frame.class, frame.memory);
        let before = self.stops(frame.class);
        self.stopped.retain(|stopped| *stopped != of);
        if frame.stops {
            self.stopped.push(of);
        }
        let stops = self.stops(frame.class);
        if let Some(log) = self.log.as_mut().filter(|_| stops != before) {
            log.push(Change { time: now, class: frame.class, stops });
        }
        self.watchdog.iter_mut().for_each(|watchdog| watchdog.note(now, frame.class, stops));
    }

    /// Return whether the units of a class may be sent.
    pub(crate) fn lets_class(&self, class: u32) -> bool {
        self.stopped.is_empty() || !self.stops(class) || self.forwards(class)
    }

    fn forwards(&self, class: u32) -> bool {
        self.watchdog.as_ref().is_some_and(|watchdog| watchdog.forwards(class))
    }
}

impl Build for Paused {
    fn build(site: &Site<'_>) -> Option<Self> {
        (site.is_paused || !site.storms.is_empty()).then(|| Paused {
            awaited: Awaited::new(site.storms, site.classes),
            responses: site.responses.to_vec(),
            watchdog: site.keys.watchdog.as_ref().map(|Nested(params)| Watchdog::new(params.clone())),
            log: site.logs_pauses.then(Vec::new),
            ..Paused::new(site.classes.clone())
        })
    }
}

impl Gate for Paused {
    fn enters(&mut self, _now: Time, unit: Unit, vc: PortVc) -> Result<Unit, Reason> {
        if self.refuses(vc) { Err(Reason::Watchdog) } else { Ok(unit) }
    }

    fn holds(&self) -> bool {
        true
    }

    fn is_open(&self) -> bool {
        self.stopped.is_empty() && self.watchdog.is_none()
    }

    #[inline]
    fn opens(&self, now: Time, _unit: &Unit, vc: PortVc) -> Time {
        if self.lets_class(self.of[vc]) { now } else { Time::NEVER }
    }

    fn receives(&mut self, now: Time, control: Control) {
        if let Control::Pause(frame) = control {
            let own =
                |(class, memory, _): &&(u32, u32, Span)| (*class, *memory) == (frame.class, frame.memory);
            match self.responses.iter().find(own) {
                Some((_, _, response)) => self.awaited.add(now + *response, frame),
                None => self.obey(now, frame),
            }
        }
    }

    fn next_action(&self) -> Option<Time> {
        self.awaited.next().into_iter().chain(self.watchdog.as_ref().and_then(Watchdog::next)).min()
    }

    fn act(&mut self, now: Time) -> bool {
        while let Some(frame) = self.awaited.due(now) {
            self.obey(now, frame);
        }
        self.watchdog.as_mut().is_some_and(|watchdog| watchdog.act(now))
    }

    fn refuses(&self, vc: PortVc) -> bool {
        self.watchdog.as_ref().is_some_and(|watchdog| watchdog.drops(self.of[vc]))
    }

    /// Report the time since the last reset in which a class was stopped, up to the last call of `close`.
    fn report(&self, figures: &mut Map<String, Json>) {
        figures.insert("paused_s".to_string(), self.total.as_secs_f64().into());
        if let Some(watchdog) = &self.watchdog {
            let (detected, restored) = watchdog.counts();
            figures.insert("storms_detected".to_string(), detected.into());
            figures.insert("storms_restored".to_string(), restored.into());
        }
    }

    /// Add the time of the present pause up to `now` to the total.
    fn close(&mut self, now: Time) {
        if !self.stopped.is_empty() {
            self.total = self.total + now.since(self.since);
        }
        self.since = now;
    }

    fn reset(&mut self, now: Time) {
        (self.since, self.total) = (now, Span::ZERO);
        if let Some(log) = &mut self.log {
            let mut classes: Vec<u32> = self.stopped.iter().map(|(class, _)| *class).collect();
            classes.sort_unstable();
            classes.dedup();
            *log = classes.into_iter().map(|class| Change { time: now, class, stops: true }).collect();
        }
        self.watchdog.iter_mut().for_each(Watchdog::reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;

    /// Return whether a packet of a circuit may be sent.
    fn lets(paused: &Paused, vc: PortVc) -> bool {
        let flags = Flags::default();
        let unit = Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 1500, hop: 0, flags };
        paused.opens(Time::ZERO, &unit, vc) == Time::ZERO
    }

    #[test]
    fn a_port_counts_the_time_in_which_any_of_its_classes_is_stopped() {
        let frame = |class, stops| PauseFrame { class, memory: 0, stops };
        let mut paused = Paused::new([0, 1, 0].into());
        paused.obey(Time(10), frame(0, true));
        assert_eq!([0, 1, 2].map(|vc| lets(&paused, PortVc(vc))), [false, true, false]);
        paused.obey(Time(15), frame(0, true)); // repeated
        paused.obey(Time(20), frame(1, true));
        paused.obey(Time(30), frame(0, false));
        assert_eq!([0, 1, 2].map(|vc| lets(&paused, PortVc(vc))), [true, false, true]);
        paused.obey(Time(40), frame(1, false));
        paused.close(Time(100));
        assert_eq!(paused.total, Span(30));
        paused.obey(Time(110), frame(1, true));
        paused.reset(Time(120));
        paused.close(Time(125));
        assert_eq!(paused.total, Span(5));
    }

    #[test]
    fn a_class_goes_on_when_every_memory_that_has_stopped_it_lets_it() {
        let mut paused = Paused::new([0].into());
        for (memory, stops, waits) in [(0, true, true), (1, true, true), (0, false, true), (1, false, false)]
        {
            paused.obey(Time::ZERO, PauseFrame { class: 0, memory, stops });
            assert_eq!(lets(&paused, PortVc(0)), !waits);
        }
    }

    #[test]
    fn at_100_gigabits_a_pause_is_repeated_after_168_microseconds() {
        assert_eq!(refresh(Rate(100_000_000_000)), Span(167_769_600));
    }
}
