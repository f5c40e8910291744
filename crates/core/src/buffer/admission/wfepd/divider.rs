//! Division of the line's rate among circuits, and choice of the circuits that must lose frames: section V.

use super::Params;
use crate::buffer::context::Context;
use crate::refused::{Refused, probability, refuse, unfit};
use crate::units::ids::{IdVec, PortVc};

/// The parameters of the division: the rate to divide, the shares, and the thresholds.
#[derive(Clone, Debug)]
pub(super) struct Divider {
    /// R, in octets per second.
    capacity: f64,
    pub(super) shares: IdVec<PortVc, f64>,
    bottom: f64,
    top: f64,
    max_p: f64,
}

/// The outcome of section V for one set of rates. Places in the list count from 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Division {
    /// Circuits by falling r / α.
    pub(super) order: Vec<PortVc>,
    /// For each place the rate per share that this circuit and the circuits before it in the list may have: the
    /// right-hand side of (6) divided by α.
    pub(super) parts: Vec<f64>,
    /// Place of the first circuit that is not violating: ω.
    pub(super) omega: usize,
    /// Place of the first circuit that is clear: ν.
    pub(super) nu: usize,
    /// Scheduled rate r_sch of a circuit that violates its share α, divided by that share.
    pub(super) scheduled: f64,
    /// Calculated rate r_calc of a circuit that is not clear, divided by its share α.
    calculated: f64,
}

impl Divider {
    pub(super) fn new(params: &Params, context: &Context<'_>) -> Result<Divider, Refused> {
        probability("bottom", params.bottom)?;
        probability("max_p", params.max_p)?;
        if params.margin <= 0.0 {
            return refuse("margin", "must be greater than 0");
        }
        if params.top < 1.0 {
            return refuse("top", "must be at least 1");
        }
        let shares: IdVec<PortVc, f64> = context.contracts.iter().map(|contract| contract.weight).collect();
        if let Some(share) = shares.iter().find(|share| **share <= 0.0) {
            return unfit(format!("a circuit's weight must be positive, not {share}"));
        }
        let capacity = params.margin * context.rate.as_f64() / 8.0;
        Ok(Divider { capacity, shares, bottom: params.bottom, top: params.top, max_p: params.max_p })
    }

    /// Order the circuits and find ω and ν.
    pub(super) fn divide(&self, rates: &IdVec<PortVc, f64>) -> Division {
        let ratio = |vc: PortVc| rates[vc] / self.shares[vc];
        let mut order: Vec<PortVc> = rates.keys().collect();
        order.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)));
        let overflow = rates.iter().sum::<f64>() - self.capacity; // ψ, equation (3)
        let (mut rate, mut share) = (0.0, 0.0);
        let parts = order.iter().map(|&vc| {
            (rate, share) = (rate + rates[vc], share + self.shares[vc]);
            fair_part(rate, overflow, share)
        });
        let parts: Vec<f64> = parts.collect();
        let first = |factor: f64| {
            let mut list = order.iter().zip(&parts);
            let place = list.position(|(&vc, part)| rates[vc] <= factor * part * self.shares[vc]);
            place.unwrap_or(order.len())
        };
        let (omega, nu) = (first(1.0), first(self.bottom)); // (6) and (8)
        let before = |place: usize| if place > 0 { parts[place - 1] } else { 0.0 };
        let (scheduled, calculated) = (before(omega), before(nu)); // (7) and (11)
        Division { order, parts, omega, nu, scheduled, calculated }
    }

    /// Return for each circuit the probability with which its frames are refused.
    pub(super) fn refusals(&self, rates: &IdVec<PortVc, f64>, division: &Division) -> IdVec<PortVc, f64> {
        let mut refusal = IdVec::filled(0.0, rates.len());
        for (place, &vc) in division.order[..division.nu].iter().enumerate() {
            let (rate, share) = (rates[vc], self.shares[vc]);
            let violating = place < division.omega && rate > self.top * division.scheduled * share; // (9)
            refusal[vc] = if violating { 1.0 } else { self.pending(rate, division.calculated * share) };
        }
        refusal
    }

    /// Return the probability of equation (10), with r_calc in both terms of the denominator.
    fn pending(&self, rate: f64, calculated: f64) -> f64 {
        let (bottom, top) = (self.bottom * calculated, self.top * calculated);
        let height = if top > bottom { (rate - bottom) / (top - bottom) } else { 1.0 };
        self.max_p * height.clamp(0.0, 1.0)
    }
}

/// Return the rate per share that the first circuits of the list may have together: (Σ r − ψ) / Σ α, a term of (6),
/// (7), (8) and (11).
fn fair_part(rate: f64, overflow: f64, share: f64) -> f64 {
    (rate - overflow).max(0.0) / share
}

#[cfg(test)]
mod tests {
    use super::super::tests::near;
    use super::*;

    fn divider(shares: &[f64], max_p: f64) -> Divider {
        Divider { capacity: 100.0, shares: shares.to_vec().into(), bottom: 0.7, top: 1.0, max_p }
    }

    /// Section V.D: rates of circuits I to VI in octets per second, of a line of 100.
    const RATES: [f64; 6] = [30.0, 30.0, 30.0, 20.0, 15.0, 5.0];
    const FIRST: [f64; 6] = [0.25, 0.2, 0.15, 0.1, 0.2, 0.1];
    const SECOND: [f64; 6] = [0.01, 0.4, 0.4, 0.1, 0.05, 0.04];

    #[test]
    fn the_first_example_finds_four_violating_one_pending_and_one_clear_circuit() {
        let divider = divider(&FIRST, 1.0);
        let division = divider.divide(&RATES.into());
        assert_eq!(division.order, [2, 3, 1, 0, 4, 5].map(PortVc), "III, IV, II, I, V, VI");
        assert_eq!((division.omega + 1, division.nu + 1), (5, 6));
        let scheduled = [2, 3, 1, 0].map(|vc| division.scheduled * FIRST[vc]);
        let expected = [17.143, 11.429, 22.857, 28.571];
        assert!(scheduled.iter().zip(expected).all(|(&a, b)| near(a, b, 3)), "{scheduled:?}");
        assert!(near(scheduled.iter().sum(), 80.0, 9));
        let refusals = divider.refusals(&RATES.into(), &division);
        assert!(refusals.iter().take(4).all(|&refusal| refusal == 1.0));
        assert!(near(refusals[PortVc(4)], 0.035, 3), "pending = {{V}}: {}", refusals[PortVc(4)]);
        assert_eq!(refusals[PortVc(5)], 0.0);
    }

    #[test]
    fn the_first_example_has_the_printed_bounds() {
        // Circuits III, IV, II, I, V, VI: sums of rates and shares, ψ = 30
        let sums = [(30.0, 0.15), (50.0, 0.25), (80.0, 0.45), (110.0, 0.7), (125.0, 0.9), (130.0, 1.0)];
        let shares = [0.15, 0.1, 0.2, 0.25, 0.2, 0.1];
        let bounds = sums.iter().zip(shares).map(|(&(rate, sum), share)| fair_part(rate, 30.0, sum) * share);
        let expected = [0.0, 8.0, 22.22, 28.57, 21.11, 10.0];
        assert!(bounds.clone().zip(expected).all(|(a, b)| near(a, b, 2)), "(6), (12)");
        let expected = [0.0, 5.6, 15.56, 20.0, 14.78, 7.0];
        assert!(bounds.zip(expected).all(|(a, b)| near(0.7 * a, b, 2)), "(8), (13), (14)");
        let division = divider(&FIRST, 1.0).divide(&RATES.into());
        let parts = division.parts.iter().zip(shares).map(|(part, share)| part * share);
        assert!(parts.zip([0.0, 8.0, 22.22, 28.57, 21.11, 10.0]).all(|(a, b)| near(a, b, 2)));
        assert!(near(division.calculated * 0.2, 21.11, 2), "(11) for V");
    }

    #[test]
    fn the_second_example_punishes_i_and_v_only() {
        let divider = divider(&SECOND, 1.0);
        let division = divider.divide(&RATES.into());
        assert_eq!(division.order[..2], [0, 4].map(PortVc));
        assert_eq!(division.omega + 1, 3);
        assert!(near(division.scheduled * 0.01, 2.5, 9) && near(division.scheduled * 0.05, 12.5, 9));
        let refusals = divider.refusals(&RATES.into(), &division);
        assert_eq!((refusals[PortVc(0)], refusals[PortVc(4)]), (1.0, 1.0));
        assert!([1, 2, 3, 5].iter().all(|&vc| refusals[PortVc(vc)] < 1.0), "the rest gets what it offers");
    }

    #[test]
    fn no_circuit_is_refused_when_the_line_is_not_filled() {
        let divider = divider(&FIRST, 1.0);
        for rates in [[0.0; 6], [10.0, 10.0, 1.0, 1.0, 1.0, 1.0]] {
            let division = divider.divide(&rates.into());
            assert_eq!((division.omega, division.nu), (0, 0));
            assert_eq!(divider.refusals(&rates.into(), &division), [0.0; 6].into());
        }
    }

    #[test]
    fn a_lone_circuit_above_the_rate_of_the_line_is_violating() {
        let divider = divider(&[1.0], 1.0);
        let division = divider.divide(&[120.0].into());
        assert_eq!((division.omega, division.nu), (1, 1));
        assert_eq!((division.scheduled, division.calculated), (100.0, 100.0));
        assert_eq!(divider.refusals(&[120.0].into(), &division), [1.0].into());
    }

    #[test]
    fn the_top_threshold_turns_slightly_violating_circuits_into_pending_ones() {
        let divider = Divider { top: 1.25, ..divider(&[0.5, 0.5], 0.5) };
        let rates = [60.0, 55.0]; // each may have 50
        let division = divider.divide(&rates.into());
        assert_eq!(division.omega, 2);
        let refusals = divider.refusals(&rates.into(), &division);
        let expected = [0.5 * (60.0 - 35.0) / 27.5, 0.5 * (55.0 - 35.0) / 27.5];
        assert!(refusals.iter().zip(expected).all(|(&a, b)| near(a, b, 9)), "{refusals:?}");
        assert_eq!(
            divider.refusals(&[70.0, 55.0].into(), &divider.divide(&[70.0, 55.0].into()))[PortVc(0)],
            1.0
        );
    }

    #[test]
    fn the_probability_rises_linearly_to_its_maximum_at_the_calculated_rate() {
        let divider = divider(&[1.0], 0.2);
        assert_eq!(divider.pending(70.0, 100.0), 0.0);
        assert!(near(divider.pending(85.0, 100.0), 0.1, 9));
        assert_eq!(divider.pending(100.0, 100.0), 0.2);
        assert_eq!(divider.pending(110.0, 100.0), 0.2);
    }
}
