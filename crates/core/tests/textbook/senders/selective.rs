//! A sender with selective acknowledgements: RFC 6675 over a list of segments.

use super::Sends;
use super::window::{Facts, MSS, Window};

/// A segment that was sent and is not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    seq: u64,
    sacked: bool,
    lost: bool,
    again: bool,
}

pub(crate) struct Selective {
    window: Window,
    unacknowledged: u64,
    sent: u64,
    written: u64,
    segments: Vec<Segment>,
    limited_transmit: bool,
    /// RecoveryPoint, and the corresponding octet after a timeout.
    point: Option<u64>,
    after_timeout: Option<u64>,
    forced: bool,
    rescue: bool,
    reduced: Option<u64>,
    ecn: bool,
    timed_out: Option<u64>,
}

impl Selective {
    pub(crate) fn new(window: Window, ecn: bool, written: u64, limited_transmit: bool) -> Selective {
        Selective {
            window,
            unacknowledged: 0,
            sent: 0,
            written,
            segments: Vec::new(),
            limited_transmit,
            point: None,
            after_timeout: None,
            forced: false,
            rescue: false,
            reduced: None,
            ecn,
            timed_out: None,
        }
    }

    /// IsLost (section 4): three discontiguous sequences above it, or more than two segments of octets.
    fn is_lost(&self, index: usize) -> bool {
        let above = &self.segments[index + 1..];
        let sacked = above.iter().filter(|segment| segment.sacked).count();
        let begins = (0..above.len()).filter(|&i| above[i].sacked && (i == 0 || !above[i - 1].sacked));
        begins.count() >= 3 || sacked > 2
    }

    /// SetPipe, in octets; without limited transmit, and outside of recovery, all that is outstanding.
    fn pipe(&self) -> u64 {
        let in_network = |segment: &Segment| u64::from(!segment.lost) + u64::from(segment.again);
        let waits = self.segments.iter().filter(|segment| !segment.sacked);
        match self.limited_transmit || self.point.is_some() || self.after_timeout.is_some() {
            true => MSS * waits.map(in_network).sum::<u64>(),
            false => self.sent - self.unacknowledged,
        }
    }

    /// Return the segment of NextSeg, if there is one.
    fn next_segment(&mut self) -> Option<u64> {
        let first = |wanted: &dyn Fn(usize, &Segment) -> bool| {
            self.segments
                .iter()
                .enumerate()
                .position(|(index, segment)| !segment.sacked && !segment.again && wanted(index, segment))
        };
        let highest = self.segments.iter().rposition(|segment| segment.sacked);
        let index = match first(&|_, segment| segment.lost) {
            Some(lost) => lost,
            None if self.sent + MSS <= self.written => {
                self.segments.push(Segment { seq: self.sent, ..Segment::default() });
                self.sent += MSS;
                return Some(self.sent - MSS);
            }
            None => {
                self.point?;
                let hole = first(&|index, _| highest.is_some_and(|highest| index < highest));
                let last = self.segments.len().checked_sub(1).filter(|&last| !self.segments[last].sacked);
                let last = last.filter(|_| self.rescue && highest.is_some());
                self.rescue &= hole.is_some() || last.is_none();
                hole.or(last)?
            }
        };
        self.segments[index].again = true;
        Some(self.segments[index].seq)
    }

    fn output(&mut self) -> Vec<u64> {
        let mut out = Vec::new();
        while self.forced || self.pipe() + MSS <= self.window.cwnd {
            let Some(seq) = self.next_segment() else { break };
            self.forced = false;
            out.push(seq);
        }
        out
    }

    fn is_reduced(&self) -> bool {
        self.reduced.is_some_and(|sent| self.unacknowledged <= sent)
    }

    fn note_reduction(&mut self) {
        self.reduced = self.ecn.then_some(self.sent);
    }

    fn begin_recovery(&mut self) {
        if !self.is_reduced() {
            self.window.lose();
        }
        self.note_reduction();
        self.window.cwnd = self.window.ssthresh;
        (self.point, self.forced, self.rescue) = (Some(self.sent), true, true);
    }

    fn react(&mut self, facts: Facts) {
        if facts.acked > 0 {
            self.window.observe(facts);
        }
        let loses = self.segments.iter().any(|segment| segment.lost && !segment.sacked);
        if self.point.is_none() && self.after_timeout.is_none() && loses {
            self.begin_recovery();
        }
        match self.point {
            Some(_) => {}
            None if facts.echo && self.is_reduced() => {}
            None if facts.echo => {
                self.window.mark();
                self.note_reduction();
            }
            None if facts.acked > 0 => self.window.grow(facts),
            None => {}
        }
    }
}

impl Sends for Selective {
    fn open(&mut self) -> Vec<u64> {
        self.output()
    }

    fn ack(&mut self, now: f64, rtt: f64, ack: u64, blocks: &[(u64, u64)], echo: bool) -> Vec<u64> {
        if ack < self.unacknowledged {
            return Vec::new();
        }
        let acked = ack - self.unacknowledged;
        self.unacknowledged = ack;
        self.segments.retain(|segment| segment.seq >= ack);
        for segment in &mut self.segments {
            segment.sacked |= blocks.iter().any(|(start, end)| (*start..*end).contains(&segment.seq));
        }
        if self.point.is_some_and(|point| ack >= point) {
            self.point = None;
            self.window.cwnd = self.window.ssthresh;
        }
        self.after_timeout.take_if(|point| ack >= *point);
        for index in 0..self.segments.len() {
            let lost = self.is_lost(index);
            self.segments[index].lost |= lost && !self.segments[index].sacked;
        }
        self.react(Facts { now, rtt, acked, unacknowledged: ack, sent: self.sent, echo });
        self.output()
    }

    fn timeout(&mut self) -> Vec<u64> {
        let is_first = self.timed_out.replace(self.unacknowledged) != Some(self.unacknowledged);
        self.window.collapse(is_first);
        self.note_reduction();
        for segment in self.segments.iter_mut().filter(|segment| !segment.sacked) {
            (segment.lost, segment.again) = (true, false);
        }
        (self.point, self.after_timeout, self.forced) = (None, Some(self.sent), true);
        self.output()
    }

    fn window(&self) -> &Window {
        &self.window
    }

    fn is_recovering(&self) -> bool {
        self.point.is_some()
    }
}
