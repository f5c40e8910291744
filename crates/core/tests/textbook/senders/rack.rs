//! A sender with RACK, tail-loss probes and proportional rate reduction: RFC 8985 and RFC 9937 over a list of segments, with an
//! exact clock and a retransmission timeout of one length.

use super::window::{Facts, MSS, Window};

/// Picoseconds.
pub(crate) type Ps = u64;

/// A segment that was sent and is not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) seq: u64,
    pub(crate) end: u64,
    /// Time of its last sending.
    sent_at: Ps,
    sacked: bool,
    lost: bool,
    /// It was sent again, and that transmission is not declared lost.
    again: bool,
    /// It was sent more than once.
    retransmitted: bool,
}

impl Piece {
    fn len(&self) -> u64 {
        self.end - self.seq
    }
}

/// Facts about an ACK.
#[derive(Clone, Debug)]
pub(crate) struct Ack {
    pub(crate) now: Ps,
    pub(crate) ack: u64,
    /// The segment that has arrived twice, and the blocks that are out of order.
    pub(crate) duplicate: Option<(u64, u64)>,
    pub(crate) blocks: Vec<(u64, u64)>,
    /// With timestamps, the sending of the segment that the ACK answers.
    pub(crate) stamp: Option<Ps>,
}

/// The timers; one at a time is set.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Timer {
    Reordering(Ps),
    Probe(Ps),
    Retransmit(Ps),
}

/// RFC 8985 section 6.2: measurements of round trips and of reordering.
#[derive(Clone, Copy, Debug)]
struct Rack {
    /// RACK.xmit_ts and RACK.end_seq; RACK.rtt; RACK.min_RTT.
    segment: Option<(Ps, u64)>,
    rtt: Ps,
    min_rtt: Option<Ps>,
    /// RACK.fack, RACK.reordering_seen, RACK.dsack_round, RACK.reo_wnd_mult, RACK.reo_wnd_persist.
    fack: u64,
    reordering_seen: bool,
    dsack_round: Option<u64>,
    reo_wnd_mult: u64,
    reo_wnd_persist: u64,
}

impl Rack {
    /// Section 6.2, step 1: the smallest of all measurements; no transfer here lasts longer than a window of five minutes.
    fn note_trip(&mut self, rtt: Ps) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
    }
}

/// RFC 9937, where whole segments are counted and rounded up.
#[derive(Clone, Copy, Debug, Default)]
struct Reduction {
    prior: u64,
    delivered: u64,
    out: u64,
}

/// The last reduction of the window, which is undone when every segment sent again has arrived twice.
#[derive(Clone, Copy, Debug)]
struct Undo {
    cwnd: u64,
    ssthresh: u64,
    from: u64,
    repeats: u64,
}

pub(crate) struct Sender {
    pub(crate) window: Window,
    pieces: Vec<Piece>,
    unacknowledged: u64,
    sent: u64,
    written: u64,
    limited_transmit: bool,
    /// The timeout, and the longest delay of an ACK of one segment.
    rto: Ps,
    ack_delay: Ps,
    srtt: Option<Ps>,
    rack: Rack,
    reduction: Reduction,
    undo: Option<Undo>,
    /// Fast recovery, or the state after a timeout, lasts until this octet is acknowledged.
    recovery: Option<u64>,
    after_timeout: Option<u64>,
    was_recovering: bool,
    is_forced: bool,
    timed_out: Option<u64>,
    /// TLP.end_seq and TLP.is_retrans.
    probe: Option<(u64, bool)>,
    timer: Option<Timer>,
    timeout_at: Ps,
    pub(crate) seen: Seen,
}

/// Events of a sequence.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) timeouts: u64,
    pub(crate) probes: u64,
    pub(crate) recoveries: u64,
    pub(crate) waits: u64,
    pub(crate) undone: u64,
    pub(crate) lost_again: u64,
}

impl Sender {
    pub(crate) fn new(window: Window, limited_transmit: bool, (rto, ack_delay): (Ps, Ps)) -> Sender {
        let rack = Rack {
            segment: None,
            rtt: 0,
            min_rtt: None,
            fack: 0,
            reordering_seen: false,
            dsack_round: None,
            reo_wnd_mult: 1,
            reo_wnd_persist: 16,
        };
        Sender {
            window,
            pieces: Vec::new(),
            unacknowledged: 0,
            sent: 0,
            written: 0,
            limited_transmit,
            rto,
            ack_delay,
            srtt: None,
            rack,
            reduction: Reduction::default(),
            undo: None,
            recovery: None,
            after_timeout: None,
            was_recovering: false,
            is_forced: false,
            timed_out: None,
            probe: None,
            timer: None,
            timeout_at: 0,
            seen: Seen::default(),
        }
    }

    pub(crate) fn is_recovering(&self) -> bool {
        self.recovery.is_some()
    }

    pub(crate) fn next_timer(&self) -> Option<Ps> {
        self.timer.map(|timer| match timer {
            Timer::Reordering(at) | Timer::Probe(at) | Timer::Retransmit(at) => at,
        })
    }

    pub(crate) fn write(&mut self, now: Ps, octets: u64) -> Vec<(u64, u64)> {
        self.written += octets;
        let (out, is_new) = self.output(now);
        self.set_timer(now, false, is_new, None);
        out
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack) -> Vec<(u64, u64)> {
        if ack.ack < self.unacknowledged {
            return Vec::new();
        }
        let delivered = self.take_delivered(ack);
        let acked = ack.ack - self.unacknowledged;
        self.measure(ack, acked, &delivered);
        self.unacknowledged = ack.ack;
        self.end_episodes();
        self.end_probe(ack, acked);
        self.update_rack(ack.now, &delivered);
        self.update_reordering(ack.duplicate.is_some());
        let before = self.lost();
        let wait = self.detect_losses(ack.now);
        let found = self.lost().saturating_sub(before);
        let octets = delivered.iter().map(Piece::len).sum();
        self.react(ack.now, acked, octets, found);
        self.take_back(ack.duplicate);
        let (out, is_new) = self.output(ack.now);
        self.set_timer(ack.now, acked > 0, is_new, wait);
        out
    }

    pub(crate) fn on_timer(&mut self, now: Ps) -> Vec<(u64, u64)> {
        match self.timer.take() {
            Some(Timer::Reordering(_)) => self.look_again(now),
            Some(Timer::Probe(_)) => self.send_probe(now),
            Some(Timer::Retransmit(_)) => self.time_out(now),
            None => panic!("a timer expires that is not set"),
        }
    }

    /// Remove acknowledged pieces and mark selectively acknowledged ones; returns the delivered ones, in order of
    /// sequence numbers.
    fn take_delivered(&mut self, ack: &Ack) -> Vec<Piece> {
        let is_in_block =
            |piece: &Piece| ack.blocks.iter().any(|(start, end)| *start <= piece.seq && piece.end <= *end);
        let mut delivered = Vec::new();
        for piece in &mut self.pieces {
            if !piece.sacked && (piece.end <= ack.ack || is_in_block(piece)) {
                delivered.push(*piece);
                piece.sacked = true;
            }
        }
        self.pieces.retain(|piece| piece.end > ack.ack);
        delivered
    }

    fn measure(&mut self, ack: &Ack, acked: u64, delivered: &[Piece]) {
        let clean = delivered.iter().filter(|piece| !piece.retransmitted).map(|piece| piece.sent_at).max();
        let Some(since) = ack.stamp.or(clean).filter(|_| acked > 0) else { return };
        let rtt = ack.now - since;
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt - srtt / 8 + rtt / 8));
        self.rack.note_trip(rtt);
    }

    fn end_episodes(&mut self) {
        if self.recovery.is_some_and(|point| self.unacknowledged >= point) {
            self.recovery = None;
            self.window.cwnd = self.window.ssthresh;
        }
        self.after_timeout = self.after_timeout.filter(|point| self.unacknowledged < *point);
    }

    /// Section 7.4.2. As in Pushout, a report of the probe as a duplicate ends the episode only in an ACK without other blocks.
    fn end_probe(&mut self, ack: &Ack, acked: u64) {
        let Some((end, is_retransmission)) = self.probe.filter(|(end, _)| self.unacknowledged >= *end) else {
            return;
        };
        let is_repaired = is_retransmission && self.unacknowledged > end;
        if is_repaired {
            self.window.lose();
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        }
        let arrived_twice = acked == 0 && ack.blocks.is_empty();
        if !is_retransmission || is_repaired || arrived_twice {
            self.probe = None;
        }
    }

    /// Update by section 6.2, steps 1 to 3. As in Pushout, an ACK counts by the segment that was sent last of all that
    /// it delivers; the RFC uses the next one if that segment is a retransmission that arrived sooner than any round
    /// trip.
    fn update_rack(&mut self, now: Ps, delivered: &[Piece]) {
        for piece in delivered {
            if piece.end >= self.rack.fack {
                self.rack.fack = piece.end;
            } else {
                self.rack.reordering_seen |= !piece.retransmitted;
            }
        }
        let newest = delivered.iter().max_by_key(|piece| (piece.sent_at, piece.end));
        let Some(newest) = newest else { return };
        let rtt = now - newest.sent_at;
        match newest.retransmitted {
            true if self.rack.min_rtt.is_none_or(|min| rtt < min) => return,
            true => {}
            false => self.rack.note_trip(rtt),
        }
        if self.rack.segment.is_none_or(|latest| latest < (newest.sent_at, newest.end)) {
            (self.rack.segment, self.rack.rtt) = (Some((newest.sent_at, newest.end)), rtt);
        }
    }

    fn recovers(&self) -> bool {
        self.recovery.is_some() || self.after_timeout.is_some()
    }

    /// Section 6.2, step 4, before the window is computed.
    fn update_reordering(&mut self, is_duplicate: bool) {
        let ends_recovery = self.was_recovering && !self.recovers();
        self.was_recovering = self.recovers();
        let rack = &mut self.rack;
        rack.dsack_round = rack.dsack_round.filter(|round| self.unacknowledged < *round);
        if is_duplicate && rack.dsack_round.is_none() {
            rack.dsack_round = Some(self.sent);
            (rack.reo_wnd_mult, rack.reo_wnd_persist) = (rack.reo_wnd_mult + 1, 16);
        } else if ends_recovery {
            rack.reo_wnd_persist = rack.reo_wnd_persist.saturating_sub(1);
            if rack.reo_wnd_persist == 0 {
                rack.reo_wnd_mult = 1;
            }
        }
    }

    fn sacked(&self) -> u64 {
        self.pieces.iter().filter(|piece| piece.sacked).map(Piece::len).sum()
    }

    fn lost(&self) -> u64 {
        self.pieces.iter().filter(|piece| piece.lost && !piece.sacked).map(Piece::len).sum()
    }

    /// RACK.reo_wnd.
    fn reordering_window(&self) -> Ps {
        let dup_thresh = 3 * MSS;
        if !self.rack.reordering_seen && (self.recovers() || self.sacked() >= dup_thresh) {
            return 0;
        }
        let window = self.rack.min_rtt.map_or(0, |min| min / 4 * self.rack.reo_wnd_mult);
        self.srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// `RACK_detect_loss` (step 5): returns the time of the next search.
    fn detect_losses(&mut self, now: Ps) -> Option<Ps> {
        let latest = self.rack.segment?;
        let age = self.rack.rtt + self.reordering_window();
        let mut wait = None;
        for piece in self.pieces.iter_mut().filter(|piece| !piece.sacked && (!piece.lost || piece.again)) {
            if (piece.sent_at, piece.end) >= latest {
                continue;
            }
            if piece.sent_at + age <= now {
                self.seen.lost_again += u64::from(piece.again);
                (piece.lost, piece.again) = (true, false);
            } else {
                wait = wait.max(Some(piece.sent_at + age));
            }
        }
        wait
    }

    fn react(&mut self, now: Ps, acked: u64, delivered: u64, found: u64) {
        if !self.recovers() && self.lost() > 0 {
            self.seen.recoveries += 1;
            let Window { cwnd, ssthresh, .. } = self.window;
            self.undo = Some(Undo { cwnd, ssthresh, from: self.unacknowledged, repeats: 0 });
            self.reduction = Reduction { prior: cwnd, ..Reduction::default() };
            self.window.lose();
            (self.recovery, self.is_forced, self.probe) = (Some(self.sent), true, None);
        }
        if self.recovery.is_some() {
            self.window.cwnd = self.pipe() + self.send_count(delivered, acked > 0 && found == 0);
        } else if acked > 0 {
            let seconds = now as f64 * 1e-12;
            let (unacknowledged, sent) = (self.unacknowledged, self.sent);
            self.window.grow(Facts { now: seconds, rtt: 0.0, acked, unacknowledged, sent, echo: false });
        }
    }

    /// RFC 9937 section 6.2: SndCnt.
    fn send_count(&mut self, delivered: u64, is_safe: bool) -> u64 {
        let (pipe, ssthresh, rate) = (self.pipe(), self.window.ssthresh, &mut self.reduction);
        rate.delivered += delivered;
        let count = if pipe > ssthresh {
            let segments = (rate.delivered * ssthresh).div_ceil(rate.prior * MSS);
            (segments * MSS).saturating_sub(rate.out)
        } else {
            let limit = rate.delivered.saturating_sub(rate.out).max(delivered);
            (limit + if is_safe { MSS } else { 0 }).min(ssthresh - pipe)
        };
        if rate.out == 0 { count.max(MSS) } else { count }
    }

    /// Undo the reduction, as Linux does, when every segment that was sent again since has arrived twice: then none was
    /// lost.
    fn take_back(&mut self, duplicate: Option<(u64, u64)>) {
        let (Some((start, _)), Some(undo)) = (duplicate, &mut self.undo) else { return };
        if start < undo.from || undo.repeats == 0 {
            return;
        }
        undo.repeats -= 1;
        if undo.repeats == 0 {
            self.window.cwnd = self.window.cwnd.max(undo.cwnd);
            self.window.ssthresh = self.window.ssthresh.max(undo.ssthresh);
            (self.undo, self.recovery) = (None, None);
            self.seen.undone += 1;
        }
    }

    /// `SetPipe` of RFC 6675.
    fn pipe(&self) -> u64 {
        let copies = |piece: &Piece| u64::from(!piece.lost) + u64::from(piece.again);
        self.pieces.iter().filter(|piece| !piece.sacked).map(|piece| copies(piece) * piece.len()).sum()
    }

    /// Send lost segments, then new data, while the window has room; returns whether there was new data.
    fn output(&mut self, now: Ps) -> (Vec<(u64, u64)>, bool) {
        let (mut out, mut is_new) = (Vec::new(), false);
        loop {
            let in_flight = match self.limited_transmit || self.recovers() {
                true => self.pipe(),
                false => self.sent - self.unacknowledged,
            };
            let room = self.window.cwnd.saturating_sub(in_flight);
            let room = if self.is_forced { room.max(MSS) } else { room };
            let lost = self.pieces.iter().position(|piece| piece.lost && !piece.again && !piece.sacked);
            let new = (self.written - self.sent).min(MSS);
            match lost {
                Some(index) if self.pieces[index].len() <= room => out.push(self.resend(now, index)),
                None if new > 0 && new <= room => {
                    out.push(self.send_new(now, new));
                    is_new = true;
                }
                _ => return (out, is_new),
            }
            self.is_forced = false;
        }
    }

    fn send_new(&mut self, now: Ps, len: u64) -> (u64, u64) {
        let piece = Piece { seq: self.sent, end: self.sent + len, sent_at: now, ..Piece::default() };
        self.pieces.push(piece);
        self.sent += len;
        self.reduction.out += len;
        (piece.seq, len)
    }

    fn resend(&mut self, now: Ps, index: usize) -> (u64, u64) {
        let piece = &mut self.pieces[index];
        (piece.again, piece.retransmitted, piece.sent_at) = (true, true, now);
        self.reduction.out += piece.len();
        self.undo.iter_mut().for_each(|undo| undo.repeats += 1);
        (piece.seq, piece.len())
    }

    /// Section 7.2 and RFC 6298 section 5.
    fn set_timer(&mut self, now: Ps, is_acked: bool, is_new: bool, wait: Option<Ps>) {
        if self.pieces.is_empty() {
            self.timer = None;
            return;
        }
        let was_set = self.timer.is_some();
        if is_acked || !was_set {
            self.timeout_at = now + self.rto;
        }
        let may_probe = !self.recovers() && self.probe.is_none() && self.sacked() == 0;
        let restarts = is_acked || is_new || !was_set;
        self.timer = Some(match (wait, self.timer) {
            (Some(at), _) if at < self.timeout_at => Timer::Reordering(at),
            (Some(_), _) => Timer::Retransmit(self.timeout_at),
            (None, _) if may_probe && restarts => {
                Timer::Probe((now + self.probe_timeout()).min(self.timeout_at))
            }
            (None, Some(probe @ Timer::Probe(_))) if may_probe => probe,
            (None, _) => Timer::Retransmit(self.timeout_at),
        });
    }

    /// Return PTO.
    fn probe_timeout(&self) -> Ps {
        let delay = if self.pieces.len() == 1 { self.ack_delay } else { 0 };
        self.srtt.map_or(1_000_000_000_000, |srtt| 2 * srtt + delay)
    }

    fn look_again(&mut self, now: Ps) -> Vec<(u64, u64)> {
        self.seen.waits += 1;
        self.update_reordering(false); // section 6.2: the search for losses begins with it
        self.timer = Some(Timer::Retransmit(self.timeout_at));
        let wait = self.detect_losses(now);
        let found = self.lost();
        self.react(now, 0, 0, found);
        let (out, is_new) = self.output(now);
        self.set_timer(now, false, is_new, wait);
        out
    }

    /// Send a probe by section 7.3: new data, or the last segment again.
    fn send_probe(&mut self, now: Ps) -> Vec<(u64, u64)> {
        self.seen.probes += 1;
        let new = (self.written - self.sent).min(MSS);
        let sent = match new {
            0 => self.resend(now, self.pieces.len() - 1),
            _ => self.send_new(now, new),
        };
        self.probe = Some((self.sent, new == 0));
        self.timeout_at = now + self.rto;
        self.timer = Some(Timer::Retransmit(self.timeout_at));
        vec![sent]
    }

    fn time_out(&mut self, now: Ps) -> Vec<(u64, u64)> {
        self.seen.timeouts += 1;
        let is_first = self.timed_out.replace(self.unacknowledged) != Some(self.unacknowledged);
        self.window.collapse(is_first);
        for piece in self.pieces.iter_mut().filter(|piece| !piece.sacked) {
            (piece.lost, piece.again) = (true, false);
        }
        (self.recovery, self.after_timeout, self.probe, self.undo) = (None, Some(self.sent), None, None);
        self.is_forced = true;
        let (out, _) = self.output(now);
        self.set_timer(now, true, true, None);
        out
    }
}
