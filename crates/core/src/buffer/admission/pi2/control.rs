//! The controller of PI2: a base probability that rises and falls with the wait.

use super::Pi2Law;
use crate::units::Span;

/// The gains of the controller, in the units of the law.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pi2Gains {
    /// Per second of wait.
    Exact { alpha: f64, beta: f64 },
    /// In units of 2⁻³² per nanosecond of wait, times 2⁶.
    Linux { alpha: i128, beta: i128 },
}

/// The state at one port.
#[derive(Clone, Debug)]
pub(super) struct Control {
    gains: Pi2Gains,
    target: Span,
    /// Upper limit of the base probability.
    most: f64,
    probability: f64,
    /// The wait at the last update.
    last: Span,
}

/// A probability of 1 as Linux counts it.
const ONE: f64 = u32::MAX as f64 + 1.0;

impl Pi2Gains {
    pub(super) fn new(law: Pi2Law, alpha: f64, beta: f64) -> Pi2Gains {
        match law {
            Pi2Law::Exact => Pi2Gains::Exact { alpha, beta },
            Pi2Law::Linux => Pi2Gains::Linux { alpha: scaled(alpha), beta: scaled(beta) },
        }
    }

    /// Compute the change of the base probability at an update, from the distances of the wait from its target and from
    /// the wait at the last update, in ps.
    fn step(self, error: i128, change: i128) -> f64 {
        match self {
            Pi2Gains::Exact { alpha, beta } => alpha * (error as f64 / 1e12) + beta * (change as f64 / 1e12),
            Pi2Gains::Linux { alpha, beta } => {
                let delta = error / 1000 * alpha + change / 1000 * beta;
                (delta / 64) as f64 / ONE
            }
        }
    }
}

/// Convert a gain per second as `sch_dualpi2.c` does: first to the configured integer in units of 1/256, then per
/// nanosecond.
fn scaled(gain: f64) -> i128 {
    let configured = libm::round(256.0 * gain) as u64;
    ((u128::from(configured) * u128::from(u32::MAX) / 4) / 1_000_000_000) as i128
}

impl Control {
    pub(super) fn new(gains: Pi2Gains, target: Span, most: f64) -> Control {
        Control { gains, target, most, probability: 0.0, last: Span::ZERO }
    }

    /// Return the base probability p'.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }

    /// Update the probability with this wait.
    pub(super) fn update(&mut self, wait: Span) {
        let [wait_ps, target, last] = [wait, self.target, self.last].map(|span| i128::from(span.0));
        let step = self.gains.step(wait_ps - target, wait_ps - last);
        self.probability = (self.probability + step).clamp(0.0, self.most);
        self.last = wait;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::{numbers, vector};

    #[test]
    fn the_base_probability_follows_the_wait_as_in_the_vectors() {
        for case in vector("dualpi2")["update"].as_array().unwrap() {
            let number = |key: &str| case[key].as_f64().unwrap();
            let law = Pi2Law::from_word(case["law"].as_str().unwrap()).unwrap();
            let micros = |value: f64| Span::micros((1e3 * value).round() as u64);
            let gains = Pi2Gains::new(law, number("alpha"), number("beta"));
            let mut control = Control::new(gains, micros(number("target")), 1.0);
            (control.probability, control.last) = (number("before"), micros(number("wait_before")));
            let after: Vec<f64> = numbers(&case["waits"])
                .into_iter()
                .map(|wait| {
                    control.update(micros(wait));
                    control.probability
                })
                .collect();
            let expected = numbers(&case["after"]);
            let near = |(a, b): (&f64, &f64)| (a - b).abs() < 5e-8;
            assert!(after.len() == expected.len() && after.iter().zip(&expected).all(near), "{after:?}");
        }
    }

    #[test]
    fn linux_scales_its_gains_to_44_and_879() {
        let Pi2Gains::Linux { alpha, beta } = Pi2Gains::new(Pi2Law::Linux, 0.16, 3.2) else {
            panic!("its own gains")
        };
        assert_eq!((alpha, beta), (44, 879));
    }

    #[test]
    fn the_base_probability_stays_between_0_and_its_largest_value() {
        for law in [Pi2Law::Exact, Pi2Law::Linux] {
            let mut control = Control::new(Pi2Gains::new(law, 0.16, 3.2), Span::millis(15), 0.5);
            control.update(Span::secs(100));
            assert_eq!(control.probability(), 0.5);
            control.update(Span::ZERO);
            assert_eq!(control.probability(), 0.0);
        }
    }
}
