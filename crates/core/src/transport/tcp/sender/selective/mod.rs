//! The sending end with selective acknowledgements: the effect of an ACK, the next segment, and tail-loss probes.
//!
//! [`Scoreboard`] stores every segment, [`recovery`] decides what is lost and how fast the window is
//! refilled, and the congestion control sets the reduced window.

mod timers;

use super::{Sender, State, Timed};
use crate::transport::ecn::Ecn;
use crate::transport::tcp::congestion::{Ack, Evidence, Facts, Loss};
use crate::transport::tcp::laws::{LEAST_TIMEOUT, Laws};
use crate::transport::tcp::rate::{DeliveryRate, RateSample};
use crate::transport::tcp::recovery::{self, AckReport, Progress, Recovery};
use crate::transport::tcp::sack::SackBlocks;
use crate::transport::tcp::scoreboard::{Delivered, Scoreboard};
use crate::transport::tcp::{Params, Segment, SegmentOutlet};
use crate::units::{Span, Time};

/// The additional state of a sender with selective acknowledgements.
#[derive(Clone, Debug)]
pub(super) struct Selective {
    board: Scoreboard,
    recovery: recovery::Control,
    /// In fast recovery, or after a timeout: the octet after the last that had been sent when it began.
    point: Option<u64>,
    after_timeout: Option<u64>,
    /// The next segment is sent even if the window is full (RFC 6675 section 5, step 4.3).
    is_forced: bool,
    /// The last segment may be sent again if there are no others to send (`NextSeg`, rule 4).
    may_rescue: bool,
    /// Duplicates permit new segments (RFC 3042).
    limited_transmit: bool,
    smoothed: Option<Span>,
    /// The octet after a tail-loss probe, and whether the probe repeats octets.
    probe: Option<(u64, bool)>,
    /// The longest time for which an ACK of one segment is delayed.
    ack_delay: Span,
    /// State that undoes the last reduction of the window, if all segments sent again since had arrived.
    undo: Option<Undo>,
    /// Blocks restart the retransmission timer as in Linux.
    sack_restarts_timer: bool,
    /// The laws are those of Linux.
    is_linux: bool,
    /// What is added to the timers of probes and reordering, and to that of retransmissions.
    slack: Span,
    tick: Span,
    /// The first segment was sent again in this recovery, which restarts the retransmission timer.
    head_resent: bool,
    /// Samples of the delivery rate, if the congestion control asks for them.
    samples: Option<Box<DeliveryRate>>,
}

/// The window before a reduction, and the segments sent again since (as `tcp_try_undo_dsack` of Linux has it).
#[derive(Clone, Copy, Debug)]
struct Undo {
    cwnd: u64,
    ssthresh: u64,
    /// The first octet that was not acknowledged.
    from: u64,
    /// Segments that were sent again and have not been reported as duplicates.
    repeats: u64,
}

/// Progress by an event, as timers use it: new data acknowledged, or sent.
#[derive(Clone, Copy)]
struct TimerProgress {
    acked: bool,
    sent: bool,
}

impl Selective {
    pub(super) fn new(params: &Params, base: u64, samples: Option<Box<DeliveryRate>>) -> Selective {
        let is_linux = params.laws == Laws::Linux;
        let mut board = Scoreboard::new(base);
        if samples.is_some() {
            board.list_losses();
        }
        Selective {
            board,
            recovery: params.recovery.start(params),
            point: None,
            after_timeout: None,
            is_forced: false,
            may_rescue: false,
            limited_transmit: params.limited_transmit,
            smoothed: None,
            probe: None,
            undo: None,
            sack_restarts_timer: params.sack_restarts_timer,
            ack_delay: match params.laws {
                _ if !params.delayed_ack => Span::ZERO,
                Laws::Rfc => params.fast_timer,
                Laws::Linux => params.min_rto,
            },
            is_linux,
            tick: if is_linux { params.kernel_tick } else { Span::ZERO },
            slack: if is_linux { LEAST_TIMEOUT + params.kernel_tick } else { Span::ZERO },
            head_resent: false,
            samples,
        }
    }

    /// Record the round trip of the handshake.
    pub(super) fn measured(&mut self, now: Time, rtt: Span) {
        self.recovery.measured(now, rtt);
        self.smooth(rtt);
    }

    pub(super) fn is_recovering(&self) -> bool {
        self.point.is_some()
    }

    /// Return whether an ACK echoes a mark; one for a control that samples has the number of marks in those bits.
    #[inline(always)] // nearly every ACK is asked
    fn is_echo(&self, ack: &Segment) -> bool {
        ack.ecn.has(Ecn::ECE) && self.samples.is_none()
    }

    fn smooth(&mut self, rtt: Span) {
        let smoothed = self.smoothed.map_or(rtt, |before| Span(before.0 - before.0 / 8 + rtt.0 / 8));
        self.smoothed = Some(smoothed);
    }

    /// Return whether nothing is lost or has arrived out of order, and nothing remains of a loss or a probe.
    #[inline(always)] // for the doors
    fn is_quiet(&self) -> bool {
        let is_open = self.point.is_none() && self.after_timeout.is_none() && self.probe.is_none();
        is_open && !self.is_forced && self.board.is_clean()
    }

    /// Record for samples of the delivery rate that a segment of `len` octets up to `end` has been sent.
    #[inline(always)] // few controls ask for samples
    fn note_sending(&mut self, now: Time, end: u64, len: u64) {
        if let Some(samples) = &mut self.samples {
            let in_flight = self.board.pipe();
            samples.sent(now, end, in_flight, in_flight <= len);
        }
    }

    /// Octets that count against the window.
    fn under_way(&self) -> u64 {
        match self.limited_transmit || self.point.is_some() || self.after_timeout.is_some() {
            true => self.board.pipe(),
            false => self.board.outstanding(),
        }
    }
}

impl Sender {
    /// Handle an ACK of this connection that is not older than others, with its blocks.
    #[inline(never)]
    pub(super) fn on_selective(
        &mut self,
        now: Time,
        segment: &Segment,
        blocks: &SackBlocks,
        out: &mut impl SegmentOutlet,
    ) {
        if segment.ack < self.unacknowledged || segment.ack > self.sent {
            return;
        }
        self.with_selective(|sender, sack| {
            match sack.is_quiet() && blocks.octets() == 0 && !segment.ecn.has(Ecn::CUT) {
                true => sender.enter_quiet_ack(now, segment, blocks.marked(), sack, out),
                false => sender.enter_ack(now, segment, blocks, sack, out),
            }
        });
    }

    /// Return whether the connection uses selective acknowledgements.
    #[inline]
    pub(super) fn is_selective(&self) -> bool {
        self.selective.is_some()
    }

    /// Act with the state for selective acknowledgements.
    fn with_selective(&mut self, act: impl FnOnce(&mut Sender, &mut Selective)) {
        let mut state = self.selective.take().expect("a sender with selective acknowledgements");
        act(self, &mut state);
        self.selective = Some(state);
    }

    /// Like `enter_ack`, for an ACK without blocks while nothing is lost or out of order: without a search for losses, unless they
    /// are found by time.
    #[inline(always)] // nearly every ACK is one
    fn enter_quiet_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        marked: u32,
        sack: &mut Selective,
        out: &mut impl SegmentOutlet,
    ) {
        let (acked, echo) = (segment.ack - self.unacknowledged, sack.is_echo(segment));
        let mut delivered = sack.board.acknowledge_in_order(segment.ack);
        (self.unacknowledged, self.next) = (segment.ack, self.sent);
        let rtt = self.measure_selective(now, segment, acked, &delivered, sack);
        self.update_window(segment);
        let facts = self.facts(now, rtt);
        let wait = if sack.recovery.needs_blocks() {
            self.follow(Ack { delivered: delivered.octets, echo, ..Ack::of(acked, facts) });
            self.take_sample(facts, &delivered, (segment.ecn, marked), sack);
            None
        } else {
            sack.board.note_order(&mut delivered);
            let report = self.ack_report(now, delivered, sack);
            let (lost, wait) = self.find_losses(&report, 0, sack);
            let ack = Ack { delivered: delivered.octets, lost, echo, ..Ack::of(acked, facts) };
            self.react(ack, ack.delivered, sack);
            self.take_sample(facts, &delivered, (segment.ecn, marked), sack);
            wait
        };
        let sent = self.output_selective(now, sack, out);
        self.set_selective_timer(now, TimerProgress { acked: acked > 0, sent }, wait, sack);
    }

    #[inline(never)]
    fn enter_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        blocks: &SackBlocks,
        sack: &mut Selective,
        out: &mut impl SegmentOutlet,
    ) {
        let acked = segment.ack - self.unacknowledged;
        let marked = blocks.marked();
        let (duplicate, blocks) = &blocks.split(segment.ack);
        let mut delivered = sack.board.acknowledge(segment.ack);
        sack.board.sack(blocks, &mut delivered);
        sack.board.note_order(&mut delivered);
        delivered.is_duplicate = duplicate.is_some();
        (self.unacknowledged, self.next) = (segment.ack, self.sent);
        let rtt = self.measure_selective(now, segment, acked, &delivered, sack);
        rtt.into_iter().for_each(|rtt| sack.recovery.measured(now, rtt));
        self.update_window(segment);
        let facts = self.facts(now, rtt);
        self.end_episodes(sack);
        self.end_probe(facts, acked, blocks, sack);
        let report = self.ack_report(now, delivered, sack);
        let before = sack.board.lost();
        if segment.ecn.has(Ecn::CUT) {
            sack.board.lose_at(segment.ack + segment.seq);
        }
        let (found, wait) = self.find_losses(&report, before, sack);
        let echo = sack.is_echo(segment);
        let ack = Ack { delivered: delivered.octets, lost: found, echo, ..Ack::of(acked, facts) };
        self.react(ack, ack.delivered, sack);
        self.take_sample(facts, &delivered, (segment.ecn, marked), sack);
        duplicate.iter().for_each(|&(start, _)| self.take_back(start, sack));
        let restarts = acked > 0 || sack.reports_older_than_head(&delivered);
        let sent = self.output_selective(now, sack, out);
        self.set_selective_timer(now, TimerProgress { acked: restarts, sent }, wait, sack);
    }

    /// Find losses and count them. Returns the octets that became lost since `before`, and the instant of the next
    /// search.
    fn find_losses(&mut self, report: &AckReport, before: u64, sack: &mut Selective) -> (u64, Option<Time>) {
        let wait = sack.recovery.find_losses(&mut sack.board, report);
        let found = sack.board.lost().saturating_sub(before);
        if found > 0 {
            self.rare.stats.found_lost += found.div_ceil(self.mss());
        }
        (found, wait)
    }

    /// Report a sample of the delivery rate to a control that asks for samples, with the losses that the ACK has shown before it.
    #[inline(always)] // few controls ask
    fn take_sample(&mut self, facts: Facts, delivered: &Delivered, marks: (Ecn, u32), sack: &mut Selective) {
        if sack.samples.is_some() {
            self.report_sample(facts, delivered, marks, sack);
        }
    }

    #[inline(never)]
    fn report_sample(
        &mut self,
        facts: Facts,
        delivered: &Delivered,
        (ecn, marked): (Ecn, u32),
        sack: &mut Selective,
    ) {
        let lost = self.report_losses(facts.now, delivered.octets, sack);
        let packets = delivered.octets.div_ceil(self.mss());
        let Some(samples) = &mut sack.samples else { return };
        let in_flight = sack.board.pipe();
        let newly_marked = samples.marks.newly(ecn, marked, packets);
        let sample =
            samples.on_ack(facts.now, (self.unacknowledged, delivered), (lost, in_flight), facts.rtt);
        let upshot = self.control.on_sample(&RateSample { newly_marked, ..sample });
        self.rare.stats.mark_reactions += u64::from(upshot.has_reduced);
        if upshot.is_limited {
            samples.ran_dry(in_flight);
        }
    }

    /// Report each segment that has been declared lost to a control that asks for samples, where `newly` octets more than known so far
    /// are delivered; returns their octets.
    fn report_losses(&mut self, now: Time, newly: u64, sack: &mut Selective) -> u64 {
        let Some(samples) = &mut sack.samples else { return 0 };
        let mut octets = 0;
        while let Some((end, size)) = sack.board.next_found() {
            octets += size;
            let lost = samples.lose(now, end, size, newly);
            lost.into_iter().for_each(|lost| self.control.on_lost(&lost));
        }
        octets
    }

    fn ack_report(&self, now: Time, delivered: Delivered, sack: &Selective) -> AckReport {
        let is_recovering = sack.point.is_some() || sack.after_timeout.is_some();
        let outstanding = (self.unacknowledged, self.sent);
        AckReport { now, delivered, mss: self.mss(), is_recovering, smoothed: sack.smoothed, outstanding }
    }

    /// Measure a round trip: by timestamps, or of the last segment that was sent once only.
    #[inline]
    fn measure_selective(
        &mut self,
        now: Time,
        segment: &Segment,
        acked: u64,
        delivered: &Delivered,
        sack: &mut Selective,
    ) -> Option<Span> {
        let since = match acked {
            0 => delivered.first_sacked.filter(|_| sack.is_linux),
            _ if self.flags.timestamps => Some(segment.stamp),
            _ => delivered.clean,
        }?;
        if self.timed.covered(segment.ack).is_some() {
            self.timed = Timed::NONE;
        }
        self.sample(since, now);
        sack.smooth(now.since(since));
        Some(now.since(delivered.clean.filter(|_| sack.is_linux).unwrap_or(since)))
    }

    fn end_episodes(&mut self, sack: &mut Selective) {
        let acked = self.unacknowledged;
        if sack.point.take_if(|point| acked >= *point).is_some() {
            self.control.on_recovery_end();
        }
        if sack.after_timeout.take_if(|point| acked >= *point).is_some() {
            self.control.on_timeout_end();
        }
    }

    /// Report an ACK, or a search for losses, to the control, after losses have been found; `credit` octets count as delivered in
    /// a recovery.
    fn react(&mut self, ack: Ack, credit: u64, sack: &mut Selective) {
        let begins = sack.point.is_none() && sack.after_timeout.is_none() && sack.board.lost() > 0;
        if !begins && sack.point.is_none() {
            let acked = if sack.is_linux && ack.acked > 0 { ack.delivered } else { ack.acked };
            return self.follow(Ack { acked, ..ack });
        }
        if begins {
            self.begin_recovery(ack.facts, sack);
        }
        self.control.on_delivery(ack);
        let is_safe = ack.acked > 0 && ack.lost == 0;
        let progress = Progress { delivered: credit, pipe: sack.board.pipe(), is_safe };
        let proposed = sack.recovery.on_ack(self.control.window(), progress);
        proposed.into_iter().for_each(|octets| self.control.on_proposal(octets));
    }

    /// Report an ACK outside a fast recovery to the control.
    #[inline(always)] // nearly every ACK is one
    fn follow(&mut self, ack: Ack) {
        if ack.echo {
            let reaction = self.control.on_ack(ack);
            self.note_mark(reaction);
        } else if ack.acked > 0 {
            let largest = self.largest_growth();
            self.control.on_ack(Ack { largest, ..ack });
        } else if ack.delivered > 0 {
            self.control.on_delivery(ack);
        }
    }

    fn begin_recovery(&mut self, facts: Facts, sack: &mut Selective) {
        self.rare.stats.fast_retransmits += 1;
        let (cwnd, ssthresh) = (self.cwnd(), self.control.window().ssthresh());
        sack.undo = Some(Undo { cwnd, ssthresh, from: self.unacknowledged, repeats: 0 });
        self.control.on_loss(&Loss { evidence: Evidence::Blocks, facts });
        self.note_reduction();
        (sack.point, sack.is_forced, sack.may_rescue, sack.probe) = (Some(self.sent), true, true, None);
        let proposed = sack.recovery.begin(self.control.window(), cwnd.min(facts.send_window));
        proposed.into_iter().for_each(|octets| self.control.on_proposal(octets));
    }

    /// Send as many segments as the window allows; returns whether new data was sent.
    pub(super) fn output_selective(
        &mut self,
        now: Time,
        sack: &mut Selective,
        out: &mut impl SegmentOutlet,
    ) -> bool {
        if self.flags.is_paced {
            self.prepare_pace();
        }
        let is_new = match sack.is_quiet() && self.state == State::Established {
            true => self.output_new(now, sack, out),
            false => self.output_repairs(now, sack, out),
        };
        if self.flags.heeds_application {
            self.note_usage(now, self.cwnd());
        }
        if sack.samples.is_some() {
            self.note_dryness(sack);
        }
        is_new
    }

    /// Record for samples of the delivery rate whether the application limits the flow, because all is sent that is to be sent and the
    /// window has room, and whether the window is full.
    #[inline(never)]
    fn note_dryness(&mut self, sack: &mut Selective) {
        let is_dry = self.sent >= self.written && sack.board.next_lost().is_none();
        let (has_room, pipe) = (sack.under_way() < self.cwnd(), sack.board.pipe());
        let is_full = sack.under_way() + self.mss() > self.cwnd();
        let Some(samples) = &mut sack.samples else { return };
        if is_dry && has_room {
            samples.ran_dry(pipe);
        }
        if is_full {
            samples.was_full(pipe);
        }
    }

    /// Before a segment is sent, report the end of an idle time to a control that asks for samples.
    #[inline(always)] // few controls ask for samples
    fn note_restart(&mut self, now: Time, sack: &Selective) {
        let Some(samples) = &sack.samples else { return };
        if samples.is_app_limited() && sack.board.pipe() == 0 {
            self.control.on_restart(now);
            self.follow_pace();
        }
    }

    /// Like `output_selective`, where no segment waits to be sent again and none may be beyond the window.
    fn output_new(&mut self, now: Time, sack: &mut Selective, out: &mut impl SegmentOutlet) -> bool {
        let mut is_new = false;
        let mut room = self.cwnd().saturating_sub(sack.board.outstanding());
        while let Some(len) = self.new_data().filter(|len| *len <= room) {
            if self.holds_back(now, len) {
                break;
            }
            self.send_new(now, len, sack, out);
            (room, is_new) = (room - len, true);
        }
        is_new
    }

    /// Like `output_selective`, in a recovery or after a timeout.
    #[inline(never)]
    fn output_repairs(&mut self, now: Time, sack: &mut Selective, out: &mut impl SegmentOutlet) -> bool {
        let mut is_new = false;
        while self.state == State::Established {
            let room = self.cwnd().saturating_sub(sack.under_way());
            let room = if sack.is_forced { room.max(self.mss()) } else { room };
            let may_rescue = sack.may_rescue;
            if let Some(index) = sack.board.next_lost() {
                let (_, len) = sack.board.piece(index);
                if len > room || self.holds_back(now, len) {
                    break;
                }
                self.resend(now, index, sack, out);
            } else if let Some(len) = self.new_data().filter(|len| *len <= room) {
                if self.holds_back(now, len) {
                    break;
                }
                self.send_new(now, len, sack, out);
                is_new = true;
            } else if let Some(index) = self.filling(sack, room) {
                if self.holds_back(now, sack.board.piece(index).1) {
                    sack.may_rescue = may_rescue;
                    break;
                }
                self.resend(now, index, sack, out);
            } else {
                break;
            }
            sack.is_forced = false;
        }
        is_new
    }

    /// Return the octets of the next segment of new data, if there are any that the receiver accepts.
    #[inline(always)]
    fn new_data(&self) -> Option<u64> {
        let end = self.written.min(self.unacknowledged.saturating_add(self.advertised.window));
        let len = end.saturating_sub(self.sent).min(self.mss());
        (len > 0 && self.worth_sending(len)).then_some(len)
    }

    /// Choose a segment to send again although it is not declared lost (RFC 6675, `NextSeg`, rules 3 and 4).
    fn filling(&self, sack: &mut Selective, room: u64) -> Option<usize> {
        if sack.point.is_none() || !sack.recovery.fills_holes() || self.new_data().is_some() {
            return None;
        }
        let hole = sack.board.next_hole();
        let fits = |index: &usize| sack.board.piece(*index).1 <= room;
        if let Some(hole) = hole.filter(fits) {
            return Some(hole);
        }
        let rescue = sack.board.last().filter(fits).filter(|_| sack.may_rescue && sack.board.sacked() > 0);
        sack.may_rescue &= rescue.is_none();
        rescue
    }

    #[inline(always)] // nearly every segment is one
    fn send_new(&mut self, now: Time, len: u64, sack: &mut Selective, out: &mut impl SegmentOutlet) {
        self.note_restart(now, sack);
        self.transmit(now, self.sent, len, out);
        self.next = self.sent;
        sack.board.sent(self.sent, now);
        sack.note_sending(now, self.sent, len);
        if sack.point.is_some() {
            sack.recovery.sent(len);
        }
    }

    fn resend(&mut self, now: Time, index: usize, sack: &mut Selective, out: &mut impl SegmentOutlet) {
        let (seq, len) = sack.board.piece(index);
        self.timed = Timed::NONE;
        self.note_restart(now, sack);
        self.transmit(now, seq, len, out);
        sack.board.resend(index, now);
        sack.note_sending(now, seq + len, len);
        sack.recovery.sent(len);
        sack.undo.iter_mut().for_each(|undo| undo.repeats += 1);
        sack.head_resent |= sack.is_linux && index == 0;
    }

    /// Undo the reduction of the window if every segment that was sent again since has arrived twice: then nothing was
    /// lost.
    #[cold]
    fn take_back(&mut self, start: u64, sack: &mut Selective) {
        let Some(undo) = sack.undo.as_mut().filter(|undo| start >= undo.from && undo.repeats > 0) else {
            return;
        };
        undo.repeats -= 1;
        if undo.repeats == 0 {
            self.control.on_undo(undo.cwnd, undo.ssthresh);
            (sack.undo, sack.point) = (None, None);
            self.rare.reduced = None; // so a loss in this round trip reduces the window
        }
    }

    /// Record new data that the persist timer may have sent.
    pub(super) fn note_window_probe(&mut self, now: Time) {
        let Some(sack) = &mut self.selective else { return };
        sack.board.sent(self.sent, now);
        self.next = self.sent;
    }

    /// Send at once, as far as the window allows, new data or, in the turn of a sender that paces, what is sent again. A search for
    /// losses that awaits this turn remains.
    pub(super) fn push_selective(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        self.with_selective(|sender, sack| {
            let wait = if sender.flags.is_paced { sender.awaited_search(sack) } else { None };
            let sent = sender.output_selective(now, sack, out);
            sender.set_selective_timer(now, TimerProgress { acked: false, sent }, wait, sack);
        });
    }
}
