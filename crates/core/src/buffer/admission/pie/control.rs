//! PIE's controller at one queue.

use super::{Params, PieVersion};
use crate::buffer::context::Context;
use crate::units::{Span, Time};

/// Wait above which Linux raises the probability faster: 250 ms.
const LONG: f64 = 0.25;

/// Largest rise of a probability of 0.1 or more at one update, and Linux's increment at a long wait.
const STEP: f64 = 0.02;

/// The parameters that the controllers of a port share; waits in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gains {
    law: PieVersion,
    target: f64,
    update: Span,
    alpha: f64,
    beta: f64,
    burst: Span,
    derandomise: bool,
    byte_mode: bool,
    mtu: u64,
}

/// The state at one queue; waits in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Control {
    probability: f64,
    /// Wait of the latest departed packet, at present and as it was at the last update.
    wait: f64,
    old_wait: f64,
    /// Time for which a burst may still pass without discards.
    burst: Span,
    /// Sum of the probabilities of packets since the latest discard.
    sum: f64,
    /// Time of the latest departure; `None` after a time without congestion.
    departed: Option<Time>,
    /// Whether a packet waits.
    is_waiting: bool,
}

impl Gains {
    pub(super) fn new(params: &Params, context: &Context<'_>) -> Gains {
        let &Params { law, target, update, alpha, beta, burst, derandomise, byte_mode, mtu, .. } = params;
        let frame = context.contracts.iter().map(|contract| contract.octets).max().unwrap_or(0);
        let mtu = mtu.map_or(frame, |mtu| mtu.0);
        let target = target.as_secs_f64();
        Gains { law, target, update, alpha, beta, burst, derandomise, byte_mode, mtu }
    }

    /// Return the divisor of the controller's gains at this probability (RFC 8033, section 4.2).
    fn divisor(probability: f64) -> f64 {
        match probability {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        }
    }

    /// Return whether a queue of `octets` octets is too short for any discard.
    fn is_short(&self, octets: u64) -> bool {
        match self.law {
            PieVersion::Rfc => octets <= 2 * self.mtu,
            PieVersion::Linux => octets < 2 * self.mtu,
        }
    }
}

impl Control {
    pub(super) fn new(gains: &Gains) -> Control {
        Control {
            probability: 0.0,
            wait: 0.0,
            old_wait: 0.0,
            burst: gains.burst,
            sum: 0.0,
            departed: None,
            is_waiting: false,
        }
    }

    pub(super) fn probability(&self) -> f64 {
        self.probability
    }

    /// Set the state after packets have waited this long at this probability.
    #[cfg(test)]
    pub(super) fn set(&mut self, probability: f64, wait: f64) {
        (self.probability, self.wait, self.old_wait) = (probability, wait, wait);
    }

    /// Update the probability (RFC 8033, section 4.2).
    pub(super) fn update(&mut self, gains: &Gains) {
        let Control { wait, old_wait, .. } = *self;
        let change = (gains.alpha * (wait - gains.target) + gains.beta * (wait - old_wait))
            / Gains::divisor(self.probability);
        let mut change = if self.probability >= 0.1 { change.min(STEP) } else { change };
        if gains.law == PieVersion::Linux && wait > LONG {
            change += STEP;
        }
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        if wait == 0.0 && old_wait == 0.0 {
            self.probability *= self.decay(gains.law);
        }
        self.refresh_burst(gains);
        self.old_wait = wait;
    }

    /// Return the factor by which the probability shrinks at an update without waits.
    fn decay(&self, law: PieVersion) -> f64 {
        match law {
            PieVersion::Rfc => 0.98,
            PieVersion::Linux if self.is_waiting => 1.0,
            PieVersion::Linux => 63.0 / 64.0,
        }
    }

    /// Permit bursts again after a time without congestion (RFC 8033, section 4.4).
    fn refresh_burst(&mut self, gains: &Gains) {
        if gains.law == PieVersion::Rfc {
            self.burst = Span(self.burst.0.saturating_sub(gains.update.0));
        }
        let is_calm = |wait: f64| wait < gains.target / 2.0;
        if self.probability == 0.0 && is_calm(self.wait) && is_calm(self.old_wait) {
            self.burst = gains.burst;
            if gains.law == PieVersion::Linux {
                (self.sum, self.departed) = (0.0, None);
            }
        }
    }

    /// Return whether a packet of `bytes` octets that meets `waiting` octets in the queue is discarded; `draw` returns
    /// a number from 0 to 1.
    pub(super) fn draws(
        &mut self,
        gains: &Gains,
        waiting: u64,
        bytes: u16,
        draw: impl FnOnce() -> f64,
    ) -> bool {
        let wait = if gains.law == PieVersion::Rfc { self.old_wait } else { self.wait };
        let is_calm = wait < gains.target / 2.0 && self.probability < 0.2;
        if self.burst > Span::ZERO || is_calm || gains.is_short(waiting) {
            return false;
        }
        let p = match gains.byte_mode && u64::from(bytes) <= gains.mtu {
            true => self.probability * f64::from(bytes) / gains.mtu as f64,
            false => self.probability,
        };
        self.sum = if p == 0.0 { 0.0 } else { self.sum + p };
        let drawn = match self.sum {
            sum if gains.derandomise && sum < 0.85 => false,
            sum if gains.derandomise && sum >= 8.5 => true,
            _ => draw() < p,
        };
        if drawn {
            self.lost();
        }
        drawn
    }

    /// Record that a packet has joined the queue.
    pub(super) fn joined(&mut self) {
        self.is_waiting = true;
    }

    /// Record that a packet was lost.
    pub(super) fn lost(&mut self) {
        self.sum = 0.0;
    }

    /// Record a departure; `waited` is the wait of the departing packet, or `None` if no packet waits behind it.
    pub(super) fn departs(&mut self, gains: &Gains, now: Time, waited: Option<Span>) {
        (self.wait, self.is_waiting) = (waited.map_or(0.0, Span::as_secs_f64), waited.is_some());
        if gains.law == PieVersion::Linux {
            let gap = self.departed.map_or(Span::ZERO, |departed| now.since(departed));
            self.burst = Span(self.burst.0.saturating_sub(gap.0));
            self.departed = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::admission::pie::tests::params;
    use crate::vectors::{numbers, vector};

    fn gains(change: impl Fn(&mut Params)) -> Gains {
        let mut params = params();
        change(&mut params);
        Gains::new(&params, &Context::alone(100, 1))
    }

    /// A controller after these waits, now and at the last update, with this probability.
    fn control(probability: f64, wait: f64, old_wait: f64) -> Control {
        let gains = gains(|params| params.burst = Span::ZERO);
        Control { probability, wait, old_wait, ..Control::new(&gains) }
    }

    fn updated(probability: f64, (wait, old_wait): (f64, f64), law: PieVersion) -> f64 {
        let mut control = control(probability, wait, old_wait);
        control.update(&gains(|params| params.law = law));
        control.probability
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found} instead of {expected}");
    }

    #[test]
    fn the_probability_follows_a_wait_of_30_ms() {
        let case = &vector("pie")["probability"][0];
        for law in [PieVersion::Rfc, PieVersion::Linux] {
            let gains = gains(|params| params.law = law);
            let mut control = control(0.0, case["delay"].as_f64().unwrap(), 0.0);
            for expected in numbers(&case["sequence"]) {
                control.update(&gains);
                assert_close(control.probability, expected);
            }
        }
    }

    #[test]
    fn the_gains_go_by_the_probability_before_the_update() {
        for (probability, divisor) in [
            (0.0, 2048.0),
            (0.999e-6, 2048.0),
            (1e-6, 512.0),
            (1e-5, 128.0),
            (1e-4, 32.0),
            (1e-3, 8.0),
            (1e-2, 2.0),
            (0.099, 2.0),
        ] {
            let expected = probability + 0.125 * 0.005 / divisor;
            assert_close(updated(probability, (0.02, 0.02), PieVersion::Rfc), expected);
        }
    }

    #[test]
    fn a_large_probability_rises_by_two_hundredths_at_most_and_in_linux_by_as_much_more_at_a_long_wait() {
        assert_close(updated(0.1, (0.24, 0.0), PieVersion::Rfc), 0.12);
        assert_close(updated(0.1, (0.26, 0.0), PieVersion::Rfc), 0.12);
        assert_close(updated(0.1, (0.24, 0.0), PieVersion::Linux), 0.12);
        assert_close(updated(0.1, (0.26, 0.0), PieVersion::Linux), 0.14);
        assert_close(updated(0.5, (0.0, 0.3), PieVersion::Rfc), 0.5 - 0.125 * 0.015 - 1.25 * 0.3);
    }

    #[test]
    fn without_waits_the_probability_decays() {
        let controlled = 0.5 - 0.125 * 0.015;
        assert_close(updated(0.5, (0.0, 0.0), PieVersion::Rfc), 0.98 * controlled);
        assert_close(updated(0.5, (0.0, 0.0), PieVersion::Linux), controlled * 63.0 / 64.0);
        let mut control = control(0.5, 0.0, 0.0);
        control.is_waiting = true;
        control.update(&gains(|params| params.law = PieVersion::Linux));
        assert_close(control.probability, controlled);
        assert_eq!(updated(0.0, (0.0, 0.0), PieVersion::Rfc), 0.0);
        assert_eq!(updated(1.0, (9.0, 9.0), PieVersion::Rfc), 1.0);
    }

    /// Of 2000 packets with random numbers between 0 and 1, count the discards, and return the shortest and the longest
    /// gap.
    fn discards(probability: f64, derandomise: bool) -> (usize, usize, usize) {
        let gains = gains(|params| params.derandomise = derandomise);
        let mut control = control(probability, 0.03, 0.03);
        let mut stream = crate::rng::Stream::new(1, "draws");
        let places: Vec<usize> =
            (0..2000).filter(|_| control.draws(&gains, 9000, 1500, || stream.unit())).collect();
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
        (places.len(), gaps.clone().min().unwrap(), gaps.max().unwrap())
    }

    #[test]
    fn discards_are_neither_close_together_nor_far_apart() {
        let (plain, shortest, _) = discards(0.1, false);
        assert!((150..250).contains(&plain) && shortest == 1, "{plain}, {shortest}");
        let (spread, shortest, longest) = discards(0.1, true);
        assert!(shortest >= 9 && longest <= 85, "0.85 / 0.1 and 8.5 / 0.1: {shortest} to {longest}");
        assert!(spread > 80, "{spread}");
    }

    #[test]
    fn a_packet_passes_in_a_burst_when_calm_and_in_a_short_queue() {
        let drawn = |control: Control, law: PieVersion, octets: u64| {
            let gains = gains(|params| (params.law, params.mtu) = (law, Some(crate::units::Bytes(1500))));
            let mut control = Control { sum: 8.5, ..control };
            control.draws(&gains, octets, 1500, || 1.0)
        };
        for law in [PieVersion::Rfc, PieVersion::Linux] {
            assert!(drawn(control(0.1, 0.03, 0.03), law, 9000));
            assert!(!drawn(Control { burst: Span(1), ..control(0.1, 0.03, 0.03) }, law, 9000));
            assert!(!drawn(control(0.19, 0.007, 0.007), law, 9000), "below half the target");
            assert!(drawn(control(0.2, 0.007, 0.007), law, 9000), "unless p is 0.2");
            assert!(!drawn(control(0.1, 0.03, 0.03), law, 2999), "octets, not packets");
            assert_eq!(drawn(control(0.1, 0.03, 0.03), law, 3000), law == PieVersion::Linux);
            assert!(drawn(control(0.1, 0.03, 0.03), law, 3001));
        }
        assert!(drawn(control(0.1, 0.0, 0.03), PieVersion::Rfc, 9000), "by the wait at the last update");
        assert!(!drawn(control(0.1, 0.0, 0.03), PieVersion::Linux, 9000), "by the present one");
    }

    #[test]
    fn in_byte_mode_a_short_packet_counts_by_its_length() {
        let gains = gains(|params| (params.byte_mode, params.mtu) = (true, Some(crate::units::Bytes(1500))));
        let mut control = control(0.5, 0.03, 0.03);
        assert!(!control.draws(&gains, 9000, 150, || 0.0));
        assert_close(control.sum, 0.05);
        assert!(!control.draws(&gains, 9000, 1600, || 0.0));
        assert_close(control.sum, 0.55);
    }

    #[test]
    fn a_burst_passes_for_ten_updates_and_again_after_a_time_without_congestion() {
        let gains = gains(|_| ());
        let mut control = Control { wait: 0.03, old_wait: 0.03, ..Control::new(&gains) };
        for update in 1..=10 {
            assert!(control.burst > Span::ZERO, "update {update}");
            control.update(&gains);
        }
        assert_eq!(control.burst, Span::ZERO);
        (control.wait, control.old_wait, control.probability) = (0.0, 0.0, 0.0);
        control.update(&gains);
        assert_eq!(control.burst, gains.burst);
    }

    #[test]
    fn in_linux_a_burst_passes_for_150_ms_of_departures() {
        let gains = gains(|params| params.law = PieVersion::Linux);
        let mut control = Control::new(&gains);
        let mut depart = |millis: u64| {
            control.departs(&gains, Time::ZERO + Span::millis(millis), Some(Span::millis(20)));
            control.burst
        };
        assert_eq!(depart(1000), Span::millis(150));
        assert_eq!(depart(1100), Span::millis(50));
        assert_eq!(depart(1150), Span::ZERO);
    }
}
