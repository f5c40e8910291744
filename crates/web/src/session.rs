//! A run under inspection: forward, back, and to the next event of a kind.

use pushout_core::engine::reference::Stepper;
use pushout_core::scenario::model::Scenario;
use pushout_core::trace::What;
use pushout_core::trace::ring::{Record, RecordRing};
use pushout_core::units::ids::{FlowId, LineId};
use pushout_core::units::{Span, Time};

use crate::history::History;

/// A run with one port in view.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) scenario: Scenario,
    pub(crate) port: LineId,
    pub(crate) stepper: Stepper<RecordRing>,
    pub(crate) history: History,
    /// The search for an event that has not been found so far.
    scout: Option<Scout>,
    /// Clones at growing instants, the first one at the start of the run: to go back is to continue from one of them.
    kept: Vec<Stepper<RecordRing>>,
}

/// Events at the port on the way to an instant.
#[derive(Debug, Default)]
pub(crate) struct RecentEvents {
    pub(crate) records: Vec<Record>,
    /// Earlier ones that found no room.
    pub(crate) missed: u64,
}

/// A copy of a run that goes ahead to find an event.
#[derive(Debug)]
struct Scout {
    /// The instant of the run at which the search began.
    from: Time,
    event: Event,
    ahead: Stepper<RecordRing>,
}

/// What a search has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The instant just after the event.
    pub(crate) time: Option<Time>,
    /// The instant up to which the search has gone: without an event, the end of the run if none follows.
    pub(crate) seen: Time,
}

/// Data of a flow that wait for an acknowledgement.
struct InFlight {
    flow: FlowId,
    /// Octets that the flow had sent when the search began.
    sent: u64,
}

impl InFlight {
    fn has_ended(&self, stepper: &Stepper<RecordRing>) -> bool {
        stepper.network().flows[self.flow].sender().is_some_and(|sender| sender.acked() >= self.sent)
    }

    /// Return when the data are acknowledged: in steps, then by halves of the last one.
    fn acknowledged(&self, before: &mut Stepper<RecordRing>, until: Time) -> Option<Time> {
        let mut step = STEP;
        while before.now() < until && step > Span::ZERO {
            let mut after = before.clone();
            after.advance(before.now() + step);
            if self.has_ended(&after) {
                step = Span(step.0 / 2);
            } else {
                *before = after;
            }
        }
        (step == Span::ZERO).then(|| before.now() + Span(1))
    }
}

/// An event to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A unit has been sent.
    Unit,
    /// The last unit of a frame has been sent.
    Frame,
    /// A unit is lost.
    Drop,
    /// A unit that bears a congestion mark has been sent.
    Mark,
    /// All data that the first TCP flow with data on their way has sent so far are acknowledged.
    RoundTrip,
}

impl Event {
    /// The names.
    pub(crate) const WORDS: [&str; 5] = ["unit", "frame", "drop", "mark", "round-trip"];

    /// The event of this name.
    pub(crate) fn of(word: &str) -> Option<Event> {
        Some(match word {
            "unit" => Event::Unit,
            "frame" => Event::Frame,
            "drop" => Event::Drop,
            "mark" => Event::Mark,
            "round-trip" => Event::RoundTrip,
            _ => return None,
        })
    }

    fn is(self, record: &Record) -> bool {
        match self {
            Event::Unit => record.what == What::Leaves,
            Event::Frame => record.what == What::Leaves && record.unit.is_eom(),
            Event::Drop => matches!(record.what, What::Lost(_)),
            Event::Mark => record.what == What::Leaves && record.unit.is_ce(),
            Event::RoundTrip => false,
        }
    }
}

impl Session {
    /// A run at its start, with this port in view.
    pub(crate) fn new(scenario: Scenario, port: LineId) -> Session {
        let stepper = stepper(&scenario, port, ROOM);
        let mut history = History::new(&scenario, port);
        history.take(&stepper, port);
        Session { kept: vec![stepper.clone()], scout: None, history, stepper, scenario, port }
    }

    /// Go to an instant, forward or back.
    pub(crate) fn go(&mut self, time: Time) -> RecentEvents {
        self.stepper.tracer_mut().take(); // what was seen on another way
        if time < self.stepper.now() {
            let at = self.kept.partition_point(|kept| kept.now() <= time) - 1;
            self.stepper = self.kept[at].clone();
        }
        let time = time.min(self.stepper.end());
        while self.stepper.now() < time {
            self.stepper.advance(self.next_stop().min(time));
            self.history.take(&self.stepper, self.port);
            self.keep();
        }
        let (records, missed) = self.stepper.tracer_mut().take();
        RecentEvents { records, missed }
    }

    /// Refuse a picture after a decision that the policy of a port could not compute, as a run is refused.
    pub(crate) fn complete(&self) -> Result<(), String> {
        self.stepper.network().complete_so_far(&self.scenario)
    }

    /// Search for the next event of a kind at the port, up to `until`; a search that ended there continues from there.
    pub(crate) fn when(&mut self, event: Event, until: Time) -> Found {
        let mut ahead = self.resumed(event);
        let until = until.min(ahead.end());
        let time = match event {
            Event::RoundTrip => match self.in_flight() {
                Some(flight) => flight.acknowledged(&mut ahead, until),
                None => return Found { time: None, seen: ahead.end() },
            },
            _ => recorded(event, &mut ahead, until),
        };
        let seen = ahead.now();
        self.scout = time.is_none().then(|| Scout { from: self.stepper.now(), event, ahead });
        Found { time, seen }
    }

    /// Return the copy of an earlier search from this instant, or a new one.
    fn resumed(&mut self, event: Event) -> Stepper<RecordRing> {
        let now = self.stepper.now();
        let scout = self.scout.take().filter(|scout| scout.from == now && scout.event == event);
        scout.map_or_else(|| self.ahead(), |scout| scout.ahead)
    }

    /// Return the data in flight of the first flow that has any.
    fn in_flight(&self) -> Option<InFlight> {
        let senders = self
            .scenario
            .flows
            .keys()
            .filter_map(|flow| Some((flow, self.stepper.network().flows[flow].sender()?)));
        let mut waiting = senders.filter(|(_, sender)| sender.acked() < sender.sent());
        waiting.next().map(|(flow, sender)| InFlight { flow, sent: sender.sent() })
    }

    /// A copy that goes ahead, and has seen nothing yet.
    fn ahead(&self) -> Stepper<RecordRing> {
        let mut ahead = self.stepper.clone();
        ahead.tracer_mut().take();
        ahead
    }

    /// The next instant at which something is kept.
    fn next_stop(&self) -> Time {
        let now = self.stepper.now();
        [self.history.next(), self.next_kept()]
            .into_iter()
            .filter(|time| *time > now)
            .min()
            .unwrap_or(Time::NEVER)
    }

    fn next_kept(&self) -> Time {
        Time::ZERO + Span((self.scenario.duration.0 / CLONES).max(1) * self.kept.len() as u64)
    }

    fn keep(&mut self) {
        if self.stepper.now() >= self.next_kept() {
            let mut kept = self.stepper.clone();
            kept.tracer_mut().take();
            self.kept.push(kept);
        }
    }
}

/// Return the instant just after the first record of an event; the copy goes on to `until`.
fn recorded(event: Event, ahead: &mut Stepper<RecordRing>, until: Time) -> Option<Time> {
    let mut step = STEP;
    while ahead.now() < until {
        let kept = ahead.clone();
        ahead.advance(ahead.now() + step);
        let (records, missed) = ahead.tracer_mut().take();
        if missed > 0 && step > Span(2) {
            (*ahead, step) = (kept, Span(step.0 / 2));
        } else if let Some(found) = records.iter().find(|record| event.is(record)) {
            return Some(found.time + Span(1));
        }
    }
    None
}

/// A run at its start, with room for `room` records of a port.
pub(crate) fn stepper(scenario: &Scenario, port: LineId, room: usize) -> Stepper<RecordRing> {
    Stepper::new(scenario, false, RecordRing::new(scenario.lines.len(), &[port], room))
}

/// Step of the search for an event.
const STEP: Span = Span::millis(1);
/// Records between two pictures: more than this cannot be seen in one.
const ROOM: usize = 4096;
/// Clones of a whole run.
const CLONES: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use pushout_core::scenario::load;
    use pushout_core::view::{Queued, queued};

    const LAN: &str = include_str!("../../../scenarios/lan.toml");

    fn lan() -> Session {
        let sets = ["duration=300 ms", "warmup=100 ms"].map(String::from);
        let scenario = load(LAN, "lan.toml", &sets).unwrap();
        let port = scenario.lines.position(|line| line.name == "bottleneck").unwrap();
        Session::new(scenario, port)
    }

    fn buffer(session: &Session) -> Vec<Queued> {
        queued(&session.stepper.network().ports[session.port]).collect()
    }

    fn go_to_next(session: &mut Session, event: Event) -> RecentEvents {
        let time = session.when(event, Time::NEVER).time.unwrap();
        session.go(time)
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::micros(micros)
    }

    #[test]
    fn going_back_and_forth_shows_the_same_at_the_same_instant() {
        let mut straight = lan();
        let instants = [7_000, 150_000, 151_234, 299_000];
        let shown: Vec<_> =
            instants.iter().map(|&time| (straight.go(at(time)), buffer(&straight)).1).collect();
        assert!(shown[1..].iter().all(|units| units.len() > 100));
        let mut scrubbed = lan();
        for index in [3, 0, 2, 1, 3, 1] {
            scrubbed.go(at(instants[index]));
            assert_eq!(buffer(&scrubbed), shown[index]);
            assert_eq!(scrubbed.stepper.now(), at(instants[index]));
        }
        let rows = |session: &Session| session.history.since(0).to_vec();
        assert_eq!(rows(&scrubbed), rows(&straight), "figures over time are taken once");
        assert!(rows(&straight).len() > 1900);
    }

    #[test]
    fn the_next_drop_is_the_first_loss_of_a_run_at_this_port() {
        let mut session = lan();
        let seen = go_to_next(&mut session, Event::Drop);
        let run = pushout_core::engine::run(&session.scenario, true);
        let first = run.losses.iter().find(|loss| loss.port == session.port).unwrap();
        assert_eq!(session.stepper.now(), first.time + Span(1));
        assert!(matches!(seen.records.last().unwrap().what, What::Lost(reason) if reason == first.reason));
        let again = go_to_next(&mut session, Event::Drop);
        assert!(again.records.iter().any(|record| Event::Drop.is(record)));
        let second = run.losses.iter().filter(|loss| loss.port == session.port).nth(1).unwrap();
        assert_eq!(session.stepper.now(), second.time + Span(1));
    }

    #[test]
    fn steps_go_from_cell_to_cell_and_from_frame_to_frame() {
        let mut session = lan();
        session.go(at(150_000));
        for _ in 0..40 {
            let seen = go_to_next(&mut session, Event::Unit);
            assert_eq!(seen.records.iter().filter(|record| Event::Unit.is(record)).count(), 1);
        }
        let seen = go_to_next(&mut session, Event::Frame);
        assert_eq!(seen.records.iter().filter(|record| Event::Frame.is(record)).count(), 1);
        let nothing = Found { time: None, seen: session.stepper.end() };
        assert_eq!(session.when(Event::Mark, Time::NEVER), nothing, "no port marks");
        let rows = session.history.since(0).len();
        session.when(Event::Drop, Time::NEVER);
        assert_eq!(session.history.since(0).len(), rows, "looking ahead leaves no figures");
    }

    #[test]
    fn a_round_trip_ends_with_the_acknowledgement_of_what_was_on_its_way() {
        let mut session = lan();
        assert_eq!(session.when(Event::RoundTrip, Time::NEVER).time, None, "no flow has sent anything");
        session.go(at(150_000));
        let sender = |session: &Session| session.stepper.network().flows[FlowId(0)].sender().unwrap().clone();
        let sent = sender(&session).sent();
        assert!(sender(&session).acked() < sent);
        let time = session.when(Event::RoundTrip, Time::NEVER).time.unwrap();
        session.go(Time(time.0 - 1));
        assert!(sender(&session).acked() < sent);
        session.go(time);
        assert!(sender(&session).acked() >= sent);
    }

    #[test]
    fn a_search_in_parts_finds_what_a_single_search_finds() {
        for (event, start) in [(Event::Drop, 0), (Event::RoundTrip, 250_000), (Event::Mark, 290_000)] {
            let [mut session, mut other] = [lan(), lan()];
            session.go(at(start));
            other.go(at(start));
            let whole = other.when(event, Time::NEVER);
            let mut part = session.when(event, at(start + 500));
            let mut parts = 1;
            while part.time.is_none() && part.seen < session.stepper.end() {
                assert!(part.seen >= at(start + 500 * parts), "{event:?}");
                parts += 1;
                part = session.when(event, at(start + 500 * parts));
            }
            assert_eq!(part, whole, "{event:?}");
            assert!(parts > 1, "{event:?}");
        }
    }
}
