//! A sender that paces: it waits for its turn before every segment that the window permits.
//!
//! What a timer or duplicates send again at once, a probe or the first segment outstanding, does not wait, but moves the instant at
//! which the next segment is due. SYN and probes of a closed window count for nothing.

use super::Sender;
use crate::transport::tcp::SegmentOutlet;
use crate::transport::tcp::pacer::{Pacer, Use};
use crate::units::{Rate, Time};

impl Sender {
    /// Pace the segments of this sender, which has not opened a connection.
    pub fn pace(&mut self, pacer: Pacer) {
        self.flags.is_paced = true;
        self.rare.pacer = Some(Box::new(pacer));
    }

    /// If the sender is paced and waits to send a segment, return its place in the order of the senders of a line: see [`Pacer::place`].
    pub fn place(&self) -> Option<Time> {
        if self.flags.is_paced { self.rare.pacer.as_ref()?.place() } else { None }
    }

    /// Return the rate at which the sender paces, if it does.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.rare.pacer.as_ref().map(|pacer| pacer.rate())
    }

    /// Send the segment for which the sender has waited, if the window still permits it.
    pub fn take_turn(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        let Some(pacer) = &mut self.rare.pacer else { return };
        pacer.begin_turn();
        self.output(now, out);
        self.rare.pacer.iter_mut().for_each(|pacer| pacer.end_turn());
    }

    /// Before output: set the rate by the window, and forget that the sender waits, unless it is in its turn.
    #[inline(never)]
    pub(in super::super) fn prepare_pace(&mut self) {
        let (cwnd, ssthresh) = (self.cwnd(), self.control.window().ssthresh());
        let window = cwnd.max(self.sent - self.unacknowledged);
        let Some(pacer) = &mut self.rare.pacer else { return };
        if !pacer.is_in_turn() {
            pacer.look_anew();
            match self.control.pace() {
                Some(pace) => pacer.follow(pace),
                None => pacer.renew(Use { window, is_early: cwnd < ssthresh / 2 }),
            }
        }
    }

    /// Set the rate that the congestion control sets, also in a turn.
    pub(in super::super) fn follow_pace(&mut self) {
        if let (Some(pacer), Some(pace)) = (&mut self.rare.pacer, self.control.pace()) {
            pacer.follow(pace);
        }
    }

    /// Return whether a segment of `len` octets has to wait for the sender's turn.
    #[inline(always)] // a flag that few senders have
    pub(in super::super) fn holds_back(&mut self, now: Time, len: u64) -> bool {
        self.flags.is_paced && !self.admits(now, len)
    }

    #[inline(never)]
    fn admits(&mut self, now: Time, len: u64) -> bool {
        self.rare.pacer.as_mut().is_none_or(|pacer| pacer.admits(now, len))
    }

    /// Return whether a segment waits for the sender's turn.
    #[inline(always)]
    pub(in super::super) fn waits_for_turn(&self) -> bool {
        self.flags.is_paced && self.rare.pacer.as_ref().is_some_and(|pacer| pacer.waits())
    }
}
