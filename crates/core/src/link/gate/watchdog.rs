//! The watchdog of pauses: a class that has been paused for too long is no longer served, or no longer paused.
//!
//! *Source*: S. Han, M. Pritsak, "PFC Watchdog Design" (wiki of sonic-net/SONiC, 2018), and its command `pfcwd`, of
//! which the keys have their names. A queue that has been paused for the detection time is in a storm. With the action `drop` it loses
//! what waits in it and what arrives for it; with `forward` it sends and ignores the pause frames. When no pause frame has
//! stopped it for the restoration time, it obeys again and loses nothing more.
//!
//! SONiC polls counters and so detects a storm up to a polling interval later; it also asks that packets wait. Here the
//! watchdog acts at the exact instant, whether packets wait or not: with `drop` it then loses what arrives.

use crate::choice;
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::{Span, Time};

choice! {
    /// What happens to the packets of a class that has been paused for too long.
    pub enum Action {
        /// They are lost: those that wait, and those that arrive until the class is paused no longer.
        Drop = "drop",
        /// They are sent, whatever pause frames say.
        Forward = "forward",
    }
}

section! {
    /// A watchdog of pauses, for every class at a port.
    pub struct Params {
        /// Time for which a class must have been paused without a break before the watchdog acts.
        pub detect: Span,
        /// Time for which the class must not have been paused before the watchdog stops acting.
        pub restore: Span,
        /// What happens to the packets of the class meanwhile.
        pub action: Action = Action::Drop,
    }
}

impl Params {
    /// Refuse times of 0: a class that is paused at all would be taken out of service at once.
    pub fn check(&self) -> Result<(), Refused> {
        refuse_if(self.detect == Span::ZERO, "detect", "must be longer than 0 s")?;
        refuse_if(self.restore == Span::ZERO, "restore", "must be longer than 0 s")
    }
}

/// A class that is or was paused.
#[derive(Clone, Copy, Debug)]
struct Watched {
    class: u32,
    /// Whether the class is in a storm.
    is_stormed: bool,
    /// Whether the class is paused, and since when that is so.
    is_paused: bool,
    since: Time,
}

/// The watchdog of a port.
#[derive(Clone, Debug)]
pub(super) struct Watchdog {
    params: Params,
    watched: Vec<Watched>,
    /// Storms that were detected, and that ended.
    detected: u64,
    restored: u64,
}

impl Watchdog {
    /// Build the watchdog of a port; no class has been paused.
    pub(super) fn new(params: Params) -> Watchdog {
        Watchdog { params, watched: Vec::new(), detected: 0, restored: 0 }
    }

    /// Record whether a class is paused from `now` on.
    pub(super) fn note(&mut self, now: Time, class: u32, is_paused: bool) {
        match self.watched.iter_mut().find(|watched| watched.class == class) {
            Some(watched) if watched.is_paused != is_paused => {
                (watched.is_paused, watched.since) = (is_paused, now);
            }
            Some(_) => {}
            None => self.watched.push(Watched { class, is_stormed: false, is_paused, since: now }),
        }
    }

    /// Return when the watchdog acts next, unless a class is paused or goes on before.
    pub(super) fn next(&self) -> Option<Time> {
        self.watched.iter().filter_map(|watched| self.turns(watched)).min()
    }

    /// Return when a class comes into a storm, or out of one.
    fn turns(&self, watched: &Watched) -> Option<Time> {
        let Params { detect, restore, .. } = self.params;
        let wait = if watched.is_paused { detect } else { restore };
        (watched.is_stormed != watched.is_paused).then(|| watched.since + wait)
    }

    /// Detect the storms that have lasted for long enough by `now`, and end those that are over; return whether waiting
    /// packets must be lost.
    pub(super) fn act(&mut self, now: Time) -> bool {
        let mut begins = false;
        for place in 0..self.watched.len() {
            if self.turns(&self.watched[place]).is_some_and(|time| time <= now) {
                let watched = &mut self.watched[place];
                watched.is_stormed = watched.is_paused;
                begins |= watched.is_stormed;
                *if watched.is_stormed { &mut self.detected } else { &mut self.restored } += 1;
            }
        }
        begins && self.params.action == Action::Drop
    }

    /// Return whether the packets of a class are lost.
    pub(super) fn drops(&self, class: u32) -> bool {
        self.params.action == Action::Drop && self.is_stormed(class)
    }

    /// Return whether the packets of a class are sent although it is paused.
    pub(super) fn forwards(&self, class: u32) -> bool {
        self.params.action == Action::Forward && self.is_stormed(class)
    }

    fn is_stormed(&self, class: u32) -> bool {
        self.watched.iter().any(|watched| watched.is_stormed && watched.class == class)
    }

    /// Return the numbers of storms that were detected and that ended since the last reset.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.detected, self.restored)
    }

    /// Reset the counters.
    pub(super) fn reset(&mut self) {
        (self.detected, self.restored) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watchdog(action: Action) -> Watchdog {
        Watchdog::new(Params { detect: Span(20), restore: Span(40), action })
    }

    #[test]
    fn a_class_is_in_a_storm_after_the_detection_time_and_out_of_it_after_the_restoration_time() {
        let mut watchdog = watchdog(Action::Drop);
        watchdog.note(Time(100), 3, true);
        watchdog.note(Time(110), 3, true); // the frame is repeated
        assert_eq!(watchdog.next(), Some(Time(120)));
        assert!(!watchdog.act(Time(119)) && !watchdog.drops(3));
        assert!(watchdog.act(Time(120)) && watchdog.drops(3) && !watchdog.drops(4));
        assert_eq!(watchdog.next(), None, "it lasts as long as the class is paused");
        watchdog.note(Time(200), 3, false);
        assert_eq!(watchdog.next(), Some(Time(240)));
        assert!(!watchdog.act(Time(239)) && watchdog.drops(3));
        assert!(!watchdog.act(Time(240)) && !watchdog.drops(3), "nothing that waits is lost at the end");
        assert_eq!((watchdog.next(), watchdog.counts()), (None, (1, 1)));
    }

    #[test]
    fn a_break_begins_both_times_anew() {
        let mut watchdog = watchdog(Action::Drop);
        watchdog.note(Time(100), 0, true);
        watchdog.note(Time(115), 0, false);
        assert_eq!(watchdog.next(), None);
        watchdog.note(Time(116), 0, true);
        assert_eq!(watchdog.next(), Some(Time(136)));
        watchdog.act(Time(136));
        watchdog.note(Time(150), 0, false);
        watchdog.note(Time(189), 0, true);
        assert_eq!(watchdog.next(), None, "one picosecond less than 40 without a pause");
        watchdog.note(Time(190), 0, false);
        assert_eq!(watchdog.next(), Some(Time(230)));
    }

    #[test]
    fn the_action_forward_sends_and_loses_nothing() {
        let mut watchdog = watchdog(Action::Forward);
        watchdog.note(Time(0), 0, true);
        assert!(!watchdog.act(Time(20)) && watchdog.forwards(0) && !watchdog.drops(0));
    }

    #[test]
    fn times_of_0_are_refused() {
        let params =
            |detect, restore| Params { detect: Span(detect), restore: Span(restore), action: Action::Drop };
        assert!(
            params(0, 1).check().is_err() && params(1, 0).check().is_err() && params(1, 1).check().is_ok()
        );
    }
}
