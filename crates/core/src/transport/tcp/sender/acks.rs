//! Handling of acknowledgements: the ACK half of `tcp_input`, for a sender without selective acknowledgements.

use super::timers::{Timer, Timers};
use super::{Sender, Timed};
use crate::transport::ecn::Ecn;
use crate::transport::tcp::congestion::{Ack, Reaction};
use crate::transport::tcp::{SackBlocks, Segment, SegmentOutlet};
use crate::units::{Span, Time};

impl Sender {
    /// Handle an ACK that acknowledges no new octet: a duplicate, a window update or an ACK that later ones have
    /// overtaken.
    #[inline(never)]
    pub(super) fn on_old_ack(&mut self, now: Time, segment: &Segment, out: &mut impl SegmentOutlet) {
        let waiting = self.timers.runs(Timer::Retransmit);
        let same_window = u64::from(segment.window) == self.advertised.window;
        if segment.ecn.has(Ecn::ECE) && segment.ack == self.unacknowledged {
            let facts = self.facts(now, None);
            let reaction = self.control.on_ack(Ack { echo: true, ..Ack::of(0, facts) });
            self.note_mark(reaction);
        }
        if !waiting || !same_window || segment.ack < self.unacknowledged {
            self.duplicates = 0;
            if self.update_window(segment) {
                self.output(now, out);
            }
            return;
        }
        self.duplicates += 1;
        self.on_duplicate(now, out);
    }

    /// Handle an ACK which reports that a segment was cut to its headers on its way: it is lost. If it is the first
    /// outstanding segment, the report counts as many duplicates as a fast retransmission needs.
    #[cold]
    pub(super) fn on_cut(&mut self, now: Time, segment: &Segment, out: &mut impl SegmentOutlet) {
        if self.is_selective() {
            return self.on_selective(now, segment, &SackBlocks::default(), out);
        }
        if segment.ack > self.unacknowledged && segment.ack <= self.sent {
            self.on_new_ack(now, segment, out);
        }
        let is_first = segment.seq == 0 && segment.ack == self.unacknowledged;
        let waiting = self.timers.runs(Timer::Retransmit);
        if is_first && waiting && !self.control.is_recovering() {
            self.duplicates = self.rare.params.dupack_threshold;
            self.on_duplicate(now, out);
        }
    }

    /// React to a counted duplicate.
    fn on_duplicate(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        let facts = self.facts(now, None);
        match self.control.on_duplicate(self.duplicates, facts) {
            reaction @ (Reaction::Retransmit { .. } | Reaction::GoBack) => {
                self.rare.stats.fast_retransmits += 1;
                self.note_reduction();
                self.timers = Timers::STOPPED;
                if reaction == Reaction::GoBack {
                    return self.go_back(now, out);
                }
                self.retransmit_first(now, out);
            }
            Reaction::Continue if self.control.is_recovering() => self.output(now, out),
            Reaction::Continue | Reaction::Mark => {}
        }
    }

    #[inline(always)] // nearly every ACK is one
    pub(super) fn on_new_ack(&mut self, now: Time, segment: &Segment, out: &mut impl SegmentOutlet) {
        let acked = segment.ack - self.unacknowledged;
        self.unacknowledged = segment.ack;
        let rtt = if self.flags.timestamps {
            self.timed = Timed::NONE;
            self.sample(segment.stamp, now);
            Some(now.since(segment.stamp))
        } else {
            self.measure(now, segment.ack)
        };
        self.next = self.next.max(segment.ack);
        self.duplicates = 0;
        let (echo, largest) = (segment.ecn.has(Ecn::ECE), self.largest_growth());
        let reaction = self.control.on_ack(Ack { echo, largest, ..Ack::of(acked, self.facts(now, rtt)) });
        if echo {
            self.note_mark(reaction);
        }
        self.update_window(segment);
        self.restart_timer(now, reaction);
        if matches!(reaction, Reaction::Retransmit { .. }) {
            self.retransmit_first(now, out);
        }
        self.output(now, out);
    }

    /// Count a reduction of the window for a mark, if the control has made one.
    #[cold]
    pub(super) fn note_mark(&mut self, reaction: Reaction) {
        if reaction == Reaction::Mark {
            self.rare.stats.mark_reactions += 1;
            self.note_reduction();
        }
    }

    /// Record a reduction of the window: the next new segment reports it to a receiver that echoes marks until then.
    pub(in super::super) fn note_reduction(&mut self) {
        if self.flags.ecn {
            (self.flags.tells_reduced, self.rare.reduced) = (true, Some(self.sent));
        }
    }

    /// Set the window of an ACK unless a newer ACK has overtaken it; returns whether it changed.
    #[inline]
    pub(in super::super) fn update_window(&mut self, segment: &Segment) -> bool {
        let window = u64::from(segment.window);
        let newer = segment.ack > self.advertised.ack
            || (segment.ack == self.advertised.ack && window > self.advertised.window);
        let changed = newer && window != self.advertised.window;
        if newer {
            self.advertised.window = window;
            self.advertised.ack = segment.ack;
            self.advertised.largest = self.advertised.largest.max(window);
        }
        changed
    }

    /// End the measurement of the timed segment, if `ack` covers it, and return its round trip.
    pub(super) fn measure(&mut self, now: Time, ack: u64) -> Option<Span> {
        let since = self.timed.covered(ack)?;
        self.timed = Timed::NONE;
        self.sample(since, now);
        Some(now.since(since))
    }

    pub(in super::super) fn sample(&mut self, since: Time, now: Time) {
        if let Some(trips) = &mut self.rare.round_trips {
            trips.add(now.since(since));
        }
        if let Some(pacer) = &mut self.rare.pacer {
            pacer.measured(now.since(since));
        }
        let jitter = match self.rtt_jitter {
            Span::ZERO => Span::ZERO,
            limit => Span(self.rare.jitter.up_to(limit.0)),
        };
        let ends_round = self.unacknowledged > self.rare.round;
        self.rare.round = if ends_round { self.sent } else { self.rare.round };
        self.estimator.sample(self.clock.between(since, now + jitter), ends_round);
    }
}
