//! A sender without selective acknowledgements: RFC 5681 and RFC 6582, or Tahoe.

use super::Sends;
use super::window::{Facts, Kind, MSS, Window};

pub(crate) struct Plain {
    window: Window,
    unacknowledged: u64,
    next: u64,
    sent: u64,
    written: u64,
    duplicates: u32,
    /// In fast recovery: the octet after the last that had been sent when it began.
    recover: Option<u64>,
    /// Like `recover`, at the last timeout; with Tahoe at the last slow start, with `once` at the last reduction.
    high: Option<u64>,
    /// With `once`: the last reduction was for duplicates.
    inflates: bool,
    /// With marks: until more than this is acknowledged the window has been reduced in this round trip.
    reduced: Option<u64>,
    ecn: bool,
    timed_out: Option<u64>,
}

impl Plain {
    pub(crate) fn new(window: Window, ecn: bool, written: u64) -> Plain {
        Plain {
            window,
            unacknowledged: 0,
            next: 0,
            sent: 0,
            written,
            duplicates: 0,
            recover: None,
            high: None,
            inflates: false,
            reduced: None,
            ecn,
            timed_out: None,
        }
    }

    fn is_reduced(&self) -> bool {
        self.reduced.is_some_and(|sent| self.unacknowledged <= sent)
    }

    fn note_reduction(&mut self) {
        self.reduced = self.ecn.then_some(self.sent);
    }

    fn mark(&mut self) {
        if !self.is_reduced() && self.recover.is_none() {
            self.window.mark();
            self.note_reduction();
        }
    }

    fn output(&mut self) -> Vec<u64> {
        let mut out = Vec::new();
        let usable = self.window.cwnd + self.window.inflation;
        while self.next + MSS <= self.written.min(self.unacknowledged + usable) {
            out.push(self.next);
            self.next += MSS;
            self.sent = self.sent.max(self.next);
        }
        out
    }

    fn retransmit(&mut self) -> Vec<u64> {
        self.next = self.next.max(self.unacknowledged + MSS);
        vec![self.unacknowledged]
    }

    /// Send the first unacknowledged segment again, and then as many segments as the window allows.
    fn partial_ack(&mut self, acked: u64) -> Vec<u64> {
        let usable = self.window.cwnd + self.window.inflation;
        let left = usable.saturating_sub(acked) + MSS;
        self.window.cwnd = self.window.cwnd.min(left);
        self.window.inflation = left - self.window.cwnd;
        let mut out = self.retransmit();
        out.extend(self.output());
        out
    }

    fn new_ack(&mut self, facts: Facts) -> Vec<u64> {
        self.window.observe(facts);
        match self.recover {
            Some(recover)
                if facts.unacknowledged < recover && !matches!(self.window.kind, Kind::Reno { .. }) =>
            {
                return self.partial_ack(facts.acked);
            }
            Some(_) => {
                self.recover = None;
                let flight = (self.sent - self.unacknowledged).max(MSS) + MSS;
                let most = if matches!(self.window.kind, Kind::Reno { .. }) { u64::MAX } else { flight };
                (self.window.cwnd, self.window.inflation) = (self.window.ssthresh.min(most), 0);
            }
            None if facts.echo => self.mark(),
            None => {
                self.window.inflation = 0;
                self.window.grow(facts);
            }
        }
        self.output()
    }

    /// Return whether three duplicates cause a retransmission.
    fn may_retransmit(&self) -> bool {
        self.high.is_none_or(|high| self.unacknowledged > high)
    }

    fn third_duplicate(&mut self) -> Vec<u64> {
        if self.window.kind == Kind::Tahoe {
            let is_first = !self.is_reduced();
            self.high = Some(self.sent);
            self.window.collapse(is_first);
            self.note_reduction();
            self.next = self.unacknowledged;
            return self.output();
        }
        if !self.is_reduced() {
            self.window.lose();
        }
        self.recover = Some(self.sent);
        if self.window.kind == (Kind::Reno { once: true }) {
            (self.high, self.inflates) = (Some(self.sent), true);
        }
        (self.window.cwnd, self.window.inflation) = (self.window.ssthresh, 3 * MSS);
        self.note_reduction();
        self.retransmit()
    }

    fn duplicate(&mut self, echo: bool) -> Vec<u64> {
        if echo {
            self.mark();
        }
        self.duplicates += 1;
        match self.duplicates {
            _ if self.recover.is_some() => {
                self.window.inflation += MSS;
                self.output()
            }
            3 if self.may_retransmit() => self.third_duplicate(),
            4.. if self.inflates => {
                self.window.inflation += MSS;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

impl Sends for Plain {
    fn open(&mut self) -> Vec<u64> {
        self.output()
    }

    fn ack(&mut self, now: f64, rtt: f64, ack: u64, _: &[(u64, u64)], echo: bool) -> Vec<u64> {
        match ack {
            _ if ack < self.unacknowledged => {
                self.duplicates = 0;
                Vec::new()
            }
            _ if ack == self.unacknowledged => self.duplicate(echo),
            _ => {
                let acked = ack - self.unacknowledged;
                self.unacknowledged = ack;
                self.next = self.next.max(ack);
                self.duplicates = 0;
                self.new_ack(Facts { now, rtt, acked, unacknowledged: ack, sent: self.sent, echo })
            }
        }
    }

    fn timeout(&mut self) -> Vec<u64> {
        let is_first = self.timed_out.replace(self.unacknowledged) != Some(self.unacknowledged);
        self.recover = None;
        self.inflates = false;
        self.high = match self.window.kind {
            Kind::Reno { once: false } => None,
            _ => Some(self.sent),
        };
        self.window.collapse(is_first);
        self.note_reduction();
        (self.duplicates, self.next) = (0, self.unacknowledged);
        self.output()
    }

    fn window(&self) -> &Window {
        &self.window
    }

    fn is_recovering(&self) -> bool {
        self.recover.is_some()
    }
}
