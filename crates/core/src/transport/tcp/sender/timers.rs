//! The timers of a sender: one for each kind, in an array.

use crate::units::Time;

/// Kind of a timer. Of two timers that expire at the same instant, the kind that is listed first fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Search for losses again (RFC 8985 section 6.3).
    Reordering,
    /// Probe for a loss at the tail (RFC 8985 section 7.3).
    Probe,
    /// Probe a closed window.
    Persist,
    /// Send again what has not been acknowledged.
    Retransmit,
}

impl Timer {
    /// Every kind, in the order in which they fire at the same instant.
    const ALL: [Timer; 4] = [Timer::Reordering, Timer::Probe, Timer::Persist, Timer::Retransmit];
}

/// The expiry of the timer of each kind; [`Time::NEVER`] while it does not run.
#[derive(Clone, Debug)]
pub(super) struct Timers([Time; Timer::ALL.len()]);

impl Timers {
    /// No timer runs.
    pub(super) const STOPPED: Timers = Timers([Time::NEVER; Timer::ALL.len()]);

    /// Set the timer of this kind, whether it runs or not.
    #[inline]
    pub(super) fn set(&mut self, kind: Timer, at: Time) {
        self.0[kind as usize] = at;
    }

    /// Stop the timer of this kind.
    #[inline]
    pub(super) fn stop(&mut self, kind: Timer) {
        self.set(kind, Time::NEVER);
    }

    /// Return the expiry of the timer of this kind; [`Time::NEVER`] if it does not run.
    #[inline]
    pub(super) fn at(&self, kind: Timer) -> Time {
        self.0[kind as usize]
    }

    #[inline]
    pub(super) fn runs(&self, kind: Timer) -> bool {
        self.at(kind) != Time::NEVER
    }

    /// Return the instant at which the earliest timer expires, if any runs.
    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        let [reordering, probe, persist, retransmit] = self.0;
        let next = reordering.min(probe).min(persist.min(retransmit));
        (next != Time::NEVER).then_some(next)
    }

    /// Return the kind of the timer that fires at `now`: the earliest one that has expired.
    pub(super) fn due(&self, now: Time) -> Option<Timer> {
        let first = self.next().filter(|at| *at <= now)?;
        Timer::ALL.into_iter().find(|kind| self.at(*kind) == first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_timer_fires_and_at_one_instant_the_kind_that_is_listed_first() {
        let mut timers = Timers::STOPPED;
        assert_eq!((timers.next(), timers.due(Time(u64::MAX - 1))), (None, None));
        timers.set(Timer::Retransmit, Time(9));
        timers.set(Timer::Probe, Time(5));
        assert_eq!((timers.next(), timers.due(Time(4))), (Some(Time(5)), None));
        assert_eq!(timers.due(Time(20)), Some(Timer::Probe), "one fires at a time, the earliest first");
        timers.set(Timer::Probe, Time(9));
        assert_eq!(timers.due(Time(9)), Some(Timer::Probe), "a probe replaces a timeout at its instant");
        timers.stop(Timer::Probe);
        assert_eq!(timers.due(Time(9)), Some(Timer::Retransmit));
        timers.set(Timer::Persist, Time(8));
        assert_eq!((timers.next(), timers.due(Time(8))), (Some(Time(8)), Some(Timer::Persist)));
        timers.set(Timer::Reordering, Time(7));
        assert_eq!(timers.due(Time(8)), Some(Timer::Reordering));
        assert_eq!([Timer::Reordering, Timer::Persist].map(|kind| timers.runs(kind)), [true; 2]);
        assert!(!timers.runs(Timer::Probe));
    }

    #[test]
    fn each_kind_has_its_place() {
        for (place, kind) in Timer::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }
}
