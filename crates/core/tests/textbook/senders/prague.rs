//! Prague against a second one, ACK by ACK, and accurate ECN against what the receiver has counted: written from the steps of its
//! authors' code, in 128-bit numbers.

use pushout_core::transport::tcp::congestion::Begin;
use pushout_core::transport::tcp::rate::RateSample;

use super::measured::{MSS, Measures, compare};
use crate::transport::tcp::congestion::Event;

/// The sender of the reference: microseconds, octets per second, millionths of octets, packets, 2^-20.
#[derive(Clone, Debug)]
struct Model {
    first: u128,
    srtt: i128,
    vrtt: i128,
    state: &'static str,
    by_rate: bool,
    alpha: i128,
    rate: u128,
    window: u128,
    wait: i128,
    delivered: u128,
    lost: u128,
    received: u128,
    marks: u128,
    known_lost: u128,
    alpha_time: i128,
    alpha_seen: (u128, u128, u128),
    reduced: (u128, u128, i128, bool),
    loss_time: i128,
    loss_sent: u128,
    cwr_time: i128,
    cwr_sent: u128,
    cwnd: u128,
    early: bool,
}

const SIZE: u128 = MSS as u128;
const SLOWEST: u128 = 2 * SIZE * 40;
const FASTEST: u128 = 12_500_000_000;

fn nearest(a: u128, b: u128) -> u128 {
    (a + b / 2).checked_div(b).unwrap_or(u64::MAX.into())
}

impl Model {
    fn rtt(&mut self, rtt: i128) {
        self.srtt = if self.state == "init" { rtt } else { self.srtt + ((rtt - self.srtt) >> 3) };
        self.vrtt = self.srtt.max(25_000);
    }

    fn ack(&mut self, sample: &RateSample) {
        let now = i128::from(sample.now.0 / 1_000_000);
        if let Some(rtt) = sample.rtt {
            self.rtt(i128::from(rtt.0 / 1_000_000).max(1));
        }
        self.delivered += u128::from(sample.newly_delivered);
        let (received, lost) = (self.delivered / SIZE, self.lost / SIZE);
        let (newly, marked) = (received - self.received, u128::from(sample.newly_marked));
        let marks = self.marks + marked;
        let sent = received + lost + u128::from(sample.in_flight) / SIZE;
        if self.srtt == 0 {
            return; // counted, and without effect
        }
        let srtt = self.srtt as u128;
        if self.state == "init" {
            self.window = srtt * self.rate;
            self.state = "avoid";
        }
        let was_by_rate =
            std::mem::replace(&mut self.by_rate, srtt <= 2000 || srtt <= SIZE * 1_000_000 / self.rate);
        if was_by_rate && !self.by_rate {
            self.window = srtt * self.rate;
        }
        let (seen_received, seen_marks, seen_sent) = self.alpha_seen;
        if received + lost > seen_sent && now - self.alpha_time >= self.vrtt {
            if received > seen_received {
                let share = (((marks - seen_marks) << 20) / (received - seen_received)) as i128;
                self.alpha = (self.alpha + (share - self.alpha) / 16).min(1 << 20);
            }
            self.alpha_seen = (received, marks, sent);
            self.alpha_time = now;
            self.wait = (self.wait - 1).max(0);
        }
        if self.state == "in_loss" && received + lost > self.loss_sent && now - self.loss_time >= self.vrtt {
            self.state = "avoid";
        }
        if self.state != "in_loss" && lost > self.known_lost {
            let wait = (self.rate / 2 / SIZE * 25_000 / self.vrtt as u128 * 25_000 / 1_000_000) as i128;
            let added = (self.reduced.2 + wait - self.wait).min(wait);
            self.wait = wait;
            self.reduced = match self.by_rate {
                false => (self.window / 2, self.reduced.1, added, false),
                true => (self.reduced.0, self.rate / 2, added, true),
            };
            match self.by_rate {
                false => self.window -= self.window / 2,
                true => self.rate -= self.rate / 2,
            }
            self.state = "in_loss";
            (self.loss_time, self.loss_sent) = (now, sent);
        }
        if self.state != "in_loss" && newly > marked {
            self.grow(newly - marked);
        }
        if self.state == "in_cwr" && received + lost > self.cwr_sent && now - self.cwr_time >= self.vrtt {
            self.state = "avoid";
        }
        if self.state == "avoid" && marked > 0 {
            self.wait = (self.rate / 1_920_000) as i128 + 7;
            match self.by_rate {
                false => self.window -= (self.window * self.alpha as u128) >> 21,
                true => self.rate -= (self.rate * self.alpha as u128) >> 21,
            }
            self.state = "in_cwr";
            (self.cwr_time, self.cwr_sent) = (now, sent);
        }
        (self.received, self.marks, self.known_lost) = (received, marks, lost);
        self.settle();
        self.early = now - self.alpha_time < self.vrtt / 2;
    }

    fn grow(&mut self, acks: u128) {
        let step = if self.wait > 0 { SIZE } else { (self.rate / 1000).max(SIZE) };
        let (srtt, vrtt) = (self.srtt as u128, self.vrtt as u128);
        if self.by_rate {
            let packets = nearest(self.rate * vrtt, SIZE * 1_000_000);
            self.rate += nearest(nearest(acks * step * 1_000_000, vrtt), packets);
        } else {
            let scale = nearest(srtt * srtt * 1_000_000, vrtt * vrtt);
            self.window += nearest(acks * SIZE * scale * 1_000_000, self.window) * step;
        }
    }

    fn settle(&mut self) {
        if !self.by_rate {
            self.rate = self.window / (self.srtt as u128).max(1);
        }
        self.rate = self.rate.clamp(SLOWEST, FASTEST);
        self.window = (self.rate * self.srtt as u128).max(1);
        self.cwnd = SIZE * (self.window * 103 / 100_000_000 / SIZE + 1).max(2);
    }
}

impl Measures for Model {
    fn begin(begin: &Begin, initial: u64) -> Model {
        let first = (u128::from(initial) * 40).max(SLOWEST);
        let mut model = Model {
            first,
            srtt: 0,
            vrtt: 25_000,
            state: "init",
            by_rate: false,
            alpha: 0,
            rate: first,
            window: 0,
            wait: (first / 1_920_000) as i128 + 7,
            delivered: 0,
            lost: 0,
            received: 0,
            marks: 0,
            known_lost: 0,
            alpha_time: i128::from(begin.now.0 / 1_000_000),
            alpha_seen: (0, 0, 0),
            reduced: (0, 0, 0, false),
            loss_time: 0,
            loss_sent: 0,
            cwr_time: 0,
            cwr_sent: 0,
            cwnd: u128::from(initial).max(2 * SIZE),
            early: true,
        };
        if let Some(rtt) = begin.rtt {
            model.rtt(i128::from(rtt.0 / 1_000_000).max(1));
        }
        model
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Sample(sample) => self.ack(sample),
            Event::Lost(segment) => self.lost += u128::from(segment.size),
            Event::Undo => {
                let (window, rate, wait, by_rate) = self.reduced;
                if window > 0 || rate > 0 {
                    self.by_rate = by_rate;
                    self.reduced = match by_rate {
                        true => (window, 0, 0, true),
                        false => (0, rate, 0, false),
                    };
                    match by_rate {
                        true => self.rate += rate,
                        false => self.window += window,
                    }
                    self.wait = (self.wait - wait).max(0);
                    self.state = "avoid";
                }
                self.settle();
            }
            Event::Timeout(now) => {
                self.alpha_time = i128::from(now.0 / 1_000_000);
                self.state = "init";
                self.by_rate = false;
                self.alpha = 0;
                self.rate = self.first;
                self.window = SIZE * 1_000_000;
                self.wait = (self.first / 1_920_000) as i128 + 7;
                self.reduced = (0, 0, 0, self.reduced.3);
                self.cwnd = 2 * SIZE;
            }
            Event::Begin(_) | Event::Loss(_) | Event::Recovered | Event::Restart(_) => {}
        }
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("alpha", self.alpha as f64 / f64::from(1 << 20)),
            ("rate_bps", 8.0 * self.rate as f64),
            ("srtt_s", self.srtt as f64 / 1e6),
            ("vrtt_s", self.vrtt as f64 / 1e6),
            ("rtts_to_growth", self.wait as f64),
        ]
    }

    fn cwnd(&self) -> u64 {
        self.cwnd as u64
    }

    fn pace(&self) -> u64 {
        8 * (if self.early { self.rate * 103 / 100 } else { self.rate * 100 / 103 }) as u64
    }

    fn places(&self) -> Vec<usize> {
        let state = ["init", "avoid", "in_loss", "in_cwr"].iter().position(|state| *state == self.state);
        vec![state.unwrap(), 4 + usize::from(self.by_rate), 6 + usize::from(self.srtt < 25_000)]
    }
}

#[test]
fn a_second_prague_finds_the_same_alpha_rates_and_windows() {
    let keys = ["accecn", "counters"].map(|feedback| {
        format!("congestion = \"prague\"\necn = true\nl4s = true\nfeedback = \"{feedback}\"")
    });
    let (all, count) = compare::<Model>(&[&keys[0], &keys[1]], 40);
    assert!(all.samples > 300 * count && all.losses > 10 * count, "{all:?}");
    assert!(all.places[1..8].iter().all(|&visits| visits > count), "{all:?}");
    assert!(
        all.told > 20 * count && all.told <= all.marked && all.told + all.told / 50 > all.marked,
        "{all:?}"
    );
}
