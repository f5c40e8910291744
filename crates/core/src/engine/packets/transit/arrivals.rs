//! The arrivals at steps that cannot be handled as soon as a packet is sent.

use crate::engine::packets::agenda::{Arrival, ArrivalAgenda};
use crate::engine::packets::calendar::Calendar;
use crate::engine::packets::lookahead::{AGENDAS, HOSTS, Lookahead};
use crate::kernel::queue::Event;
use crate::scenario::model::Scenario;
use crate::units::Time;
use crate::units::ids::{LineId, StationId};

/// Pending arrivals, and calls of hosts and ports.
pub(crate) struct PendingArrivals {
    pub(crate) agendas: [ArrivalAgenda; AGENDAS],
    /// All arrivals, as soon as one has found no row.
    calendar: Option<Box<Calendar>>,
    pub(crate) division: Lookahead,
}

impl PendingArrivals {
    /// No arrivals.
    pub(super) fn new(scenario: &Scenario, division: Lookahead) -> PendingArrivals {
        let agendas = std::array::from_fn(|_| ArrivalAgenda::new(scenario.ties()));
        PendingArrivals { agendas, calendar: None, division }
    }

    /// Return the agenda with the next event, and its time.
    #[inline(always)]
    pub(crate) fn first(&self) -> (usize, Time) {
        let (mut place, mut first) = (HOSTS, self.agendas[HOSTS].first_time());
        for (other, agenda) in self.agendas.iter().enumerate().skip(1) {
            let time = agenda.first_time();
            place = if time < first { other } else { place };
            first = first.min(time);
        }
        (place, first)
    }

    /// Return whether the row tables have overflowed.
    pub(crate) fn overflows(&self) -> bool {
        self.agendas.iter().any(ArrivalAgenda::overflows)
    }

    /// Return whether arrivals are in a calendar.
    pub(crate) fn has_calendar(&self) -> bool {
        self.calendar.is_some()
    }

    /// Move all arrivals to a calendar.
    pub(crate) fn open_calendar(&mut self, scenario: &Scenario, has_stations: bool) {
        let arrivals: Vec<Arrival> = self.agendas.iter_mut().flat_map(ArrivalAgenda::take_arrivals).collect();
        let first = arrivals.iter().map(|arrival| arrival.time).min();
        let first =
            if has_stations { Time::ZERO } else { first.unwrap_or(Time::NEVER).min(self.first_call()) };
        let mut calendar = Calendar::new(scenario, first);
        arrivals.into_iter().for_each(|arrival| calendar.add(arrival));
        self.calendar = Some(Box::new(calendar));
    }

    /// Take the arrivals and the visits of the first day with an event before `end`: see [`Calendar::take_first`].
    pub(crate) fn take_day(
        &mut self,
        end: Time,
        arrivals: &mut Vec<Arrival>,
        visits: &mut Vec<StationId>,
    ) -> Option<(Time, Time)> {
        let call = self.first_call();
        self.calendar.as_mut()?.take_first(call, end, arrivals, visits)
    }

    /// Note that a port has an event of its own at `time`.
    #[inline]
    pub(super) fn visit(&mut self, station: StationId, time: Time) {
        if let Some(calendar) = &mut self.calendar {
            calendar.visit(station, time);
        }
    }

    /// Return when the first call is due.
    fn first_call(&self) -> Time {
        Time((self.agendas[HOSTS].first_call() >> u64::BITS) as u64)
    }

    /// The place of an arrival in the order of the kernel.
    pub(crate) fn key(&self, time: Time, line: LineId) -> u128 {
        self.agendas[HOSTS].event(time, line).key()
    }

    /// Add an arrival at a port where lines meet.
    #[inline(always)] // see `Row::add`
    pub(super) fn meet(&mut self, arrival: Arrival) {
        let agenda = self.division.packets[usize::from(arrival.packet.cargo.is_back())];
        self.expect(agenda, arrival);
    }

    /// Add an arrival to an agenda, or to the calendar.
    #[inline(always)] // see `Row::add`
    pub(super) fn expect(&mut self, agenda: usize, arrival: Arrival) {
        if self.calendar.is_some() {
            return self.add(arrival);
        }
        self.agendas[agenda].expect(arrival);
    }

    /// Add an arrival to the calendar.
    #[inline(never)] // so that rows do not pay for it
    pub(crate) fn add(&mut self, arrival: Arrival) {
        if let Some(calendar) = &mut self.calendar {
            calendar.add(arrival);
        }
    }

    /// Add a call of a host, a port or a memory.
    #[inline]
    pub(crate) fn call(&mut self, event: Event) {
        self.agendas[HOSTS].call(event);
    }
}
