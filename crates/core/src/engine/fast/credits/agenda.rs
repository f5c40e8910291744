//! Who has something to do, window by window.

use std::ops::Range;

use crate::buffer::set::Set;
use crate::units::{Span, Time};

/// Who has something to do in which of the coming windows, all of which are equally long.
///
/// Whoever has nothing to do for long is looked at now and then, so that a ring of windows does.
#[derive(Debug)]
pub(super) struct Agenda {
    span: Span,
    /// The number of the present window, and when it ends.
    now: u64,
    ends: Time,
    windows: Vec<Set>,
}

/// Windows in the ring.
const WINDOWS: u64 = 256;

impl Agenda {
    /// Nobody has anything to do in windows of this length.
    pub(super) fn new(span: Span, members: usize) -> Agenda {
        Agenda { span, now: 0, ends: Time::ZERO + span, windows: vec![Set::new(members); WINDOWS as usize] }
    }

    /// A member has something to do at `time`, or earlier.
    #[inline]
    pub(super) fn expect(&mut self, member: usize, time: Time) {
        let window = if time < self.ends {
            self.now
        } else if time < self.ends + self.span {
            self.now + 1
        } else if time < Time::NEVER {
            (time.0 / self.span.0).min(self.now + WINDOWS - 1)
        } else {
            return;
        };
        self.windows[(window % WINDOWS) as usize].insert(member);
    }

    /// Go on to the first window in which a member has something to do, but not beyond that of `time`; answers when the
    /// window begins and ends.
    pub(super) fn go_on(&mut self, time: Time) -> (Time, Time) {
        let last = (time.0 / self.span.0).max(self.now);
        let ring = self.now..self.now + WINDOWS;
        let busy = ring.into_iter().find(|window| !self.windows[(window % WINDOWS) as usize].is_empty());
        self.now = busy.map_or(last, |busy| busy.min(last));
        let begins = Time(self.now * self.span.0);
        self.ends = begins + self.span;
        (begins, self.ends)
    }

    /// The first of these members that has something to do in the present window; it is not expected any more.
    #[inline]
    pub(super) fn take(&mut self, members: Range<usize>) -> Option<usize> {
        let window = &mut self.windows[(self.now % WINDOWS) as usize];
        let member = window.first_from(members.start).filter(|member| *member < members.end)?;
        window.remove(member);
        Some(member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_met_in_the_windows_for_which_they_are_expected() {
        let mut agenda = Agenda::new(Span(10), 3);
        agenda.expect(2, Time(25));
        agenda.expect(0, Time(29));
        agenda.expect(1, Time(31));
        agenda.expect(1, Time::NEVER);
        assert_eq!(agenda.go_on(Time(1000)), (Time(20), Time(30)));
        assert_eq!([agenda.take(1..2), agenda.take(0..3), agenda.take(1..3)], [None, Some(0), Some(2)]);
        assert_eq!(agenda.go_on(Time(5)), (Time(20), Time(30)), "time does not go back");
        assert_eq!(agenda.go_on(Time(1000)), (Time(30), Time(40)));
        assert_eq!(agenda.take(0..3), Some(1));
        assert_eq!(agenda.go_on(Time(1000)), (Time(1000), Time(1010)));
    }

    #[test]
    fn whoever_has_nothing_to_do_for_long_is_looked_at_before() {
        let mut agenda = Agenda::new(Span(10), 1);
        agenda.expect(0, Time(1_000_000));
        let (begins, _) = agenda.go_on(Time(1_000_000));
        assert!(begins < Time(1_000_000), "{begins:?}");
        assert_eq!(agenda.take(0..1), Some(0));
    }
}
