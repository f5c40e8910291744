//! A run under inspection: forward, back, and to the next event of a kind.

use pushout_core::engine::reference::Stepper;
use pushout_core::scenario::model::Scenario;
use pushout_core::trace::What;
use pushout_core::trace::ring::{Record, RecordRing};
use pushout_core::units::{Span, Time};

use crate::history::History;

/// A run with one port in view.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) scenario: Scenario,
    pub(crate) port: usize,
    pub(crate) stepper: Stepper<RecordRing>,
    pub(crate) history: History,
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
    pub(crate) fn new(scenario: Scenario, port: usize) -> Session {
        let stepper = stepper(&scenario, port, ROOM);
        let mut history = History::new(&scenario);
        history.take(&stepper, port);
        Session { kept: vec![stepper.clone()], history, stepper, scenario, port }
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
        self.stepper.network().complete(&self.scenario)
    }

    /// Return the instant just after the next event of a kind at the port; `None` if none follows before the end of the
    /// run.
    pub(crate) fn when(&self, event: Event) -> Option<Time> {
        if event == Event::RoundTrip { self.round_trip() } else { self.recorded(event) }
    }

    fn recorded(&self, event: Event) -> Option<Time> {
        let mut step = STEP;
        let mut ahead = self.ahead();
        while ahead.now() < ahead.end() {
            let kept = ahead.clone();
            ahead.advance(ahead.now() + step);
            let (records, missed) = ahead.tracer_mut().take();
            if missed > 0 && step > Span(2) {
                (ahead, step) = (kept, Span(step.0 / 2));
            } else if let Some(found) = records.iter().find(|record| event.is(record)) {
                return Some(found.time + Span(1));
            }
        }
        None
    }

    /// Return when the data in flight of the first flow are acknowledged: in steps, then by halves of the last one.
    fn round_trip(&self) -> Option<Time> {
        let sender =
            |stepper: &Stepper<RecordRing>, flow: usize| stepper.network().flows[flow].sender().cloned();
        let flows = 0..self.scenario.flows.len();
        let senders = flows.filter_map(|flow| Some((flow, sender(&self.stepper, flow)?)));
        let (flow, sent) = senders
            .map(|(flow, sender)| (flow, sender.acked(), sender.sent()))
            .find_map(|(flow, acked, sent)| (acked < sent).then_some((flow, sent)))?;
        let has_ended =
            |stepper: &Stepper<RecordRing>| sender(stepper, flow).is_some_and(|it| it.acked() >= sent);
        let (mut before, mut step) = (self.ahead(), STEP);
        while before.now() < before.end() && step > Span::ZERO {
            let mut after = before.clone();
            after.advance(before.now() + step);
            if has_ended(&after) {
                step = Span(step.0 / 2);
            } else {
                before = after;
            }
        }
        (before.now() < before.end()).then(|| before.now() + Span(1))
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

/// A run at its start, with room for `room` records of a port.
pub(crate) fn stepper(scenario: &Scenario, port: usize, room: usize) -> Stepper<RecordRing> {
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
        let port = scenario.lines.iter().position(|line| line.name == "bottleneck").unwrap();
        Session::new(scenario, port)
    }

    fn buffer(session: &Session) -> Vec<Queued> {
        queued(&session.stepper.network().ports[session.port]).collect()
    }

    fn go_to_next(session: &mut Session, event: Event) -> RecentEvents {
        let time = session.when(event).unwrap();
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
        let first = run.losses.iter().find(|loss| loss.port as usize == session.port).unwrap();
        assert_eq!(session.stepper.now(), first.time + Span(1));
        assert!(matches!(seen.records.last().unwrap().what, What::Lost(reason) if reason == first.reason));
        let again = go_to_next(&mut session, Event::Drop);
        assert!(again.records.iter().any(|record| Event::Drop.is(record)));
        let second = run.losses.iter().filter(|loss| loss.port as usize == session.port).nth(1).unwrap();
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
        assert_eq!(session.when(Event::Mark), None, "no port marks");
        let rows = session.history.since(0).len();
        session.when(Event::Drop);
        assert_eq!(session.history.since(0).len(), rows, "looking ahead leaves no figures");
    }

    #[test]
    fn a_round_trip_ends_with_the_acknowledgement_of_what_was_on_its_way() {
        let mut session = lan();
        assert_eq!(session.when(Event::RoundTrip), None, "no flow has sent anything");
        session.go(at(150_000));
        let sender = |session: &Session| session.stepper.network().flows[0].sender().unwrap().clone();
        let sent = sender(&session).sent();
        assert!(sender(&session).acked() < sent);
        let time = session.when(Event::RoundTrip).unwrap();
        session.go(Time(time.0 - 1));
        assert!(sender(&session).acked() < sent);
        session.go(time);
        assert!(sender(&session).acked() >= sent);
    }
}
