//! Fairness of an allocation among flows, as papers 000 and 003 define it.

/// Paper 000, eqs. (2) and (3): φ = 1 − (1/N) Σ |t_i − t̄| / t̄.
///
/// Between 2/N − 1 and 1; `None` without flows or when nothing was delivered.
pub fn mean_deviation(rates: &[f64]) -> Option<f64> {
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let deviation = rates.iter().map(|rate| (rate - mean).abs()).sum::<f64>();
    (mean > 0.0).then(|| 1.0 - deviation / (n * mean))
}

/// Paper 003, eq. (5), Jain's index of the rates of flows beyond their minimum rates: (Σx)² / (n Σx²), x = rate − MCR.
///
/// Between 0 and 1; `None` without flows or when all excesses are zero.
pub fn jain(excess: &[f64]) -> Option<f64> {
    let sum = excess.iter().sum::<f64>();
    let squares = excess.iter().map(|x| x * x).sum::<f64>();
    (squares > 0.0).then(|| sum * sum / (excess.len() as f64 * squares))
}

/// Paper 003, eq. (6) as written: (max − min) / mean. Its Table 1 prints half of this.
///
/// `None` without flows or when nothing was delivered.
pub fn difference(rates: &[f64]) -> Option<f64> {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let (low, high) = rates.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &x| (low.min(x), high.max(x)));
    (mean > 0.0).then(|| (high - low) / mean)
}

/// Standard deviation of the flows' rates divided by their mean: 0 if all rates are equal.
///
/// `None` without flows or when nothing was delivered.
pub fn relative_deviation(rates: &[f64]) -> Option<f64> {
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / n;
    (mean > 0.0).then(|| libm::sqrt(variance) / mean)
}

/// The throughput of a class of flows, and its fair throughput (in the same unit) or fair share.
#[derive(Clone, Copy, Debug)]
pub struct ClassRate {
    /// The throughput.
    pub rate: f64,
    /// The fair throughput; only the ratio between two classes matters.
    pub fair: f64,
}

/// Paper 001, section 4.3: the throughputs of two classes of flows, each divided by its fair throughput, and the ratio
/// of the two quotients. 1 is fair; above 1 the first class gets more than its share.
///
/// `None` when the second class got nothing.
pub fn class_ratio(class: ClassRate, other: ClassRate) -> Option<f64> {
    (other.rate > 0.0).then(|| (class.rate / class.fair) / (other.rate / other.fair))
}

/// The share of each circuit in the total, divided by its share of all weights: 1 is what paper 002 calls its
/// required share, α_i · Σ.
///
/// `None` when nothing was delivered.
pub fn weighted_shares(rates: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
    let (all, weight) = (rates.iter().sum::<f64>(), weights.iter().sum::<f64>());
    let share = |(x, w): (&f64, &f64)| (x / all) / (w / weight);
    (all > 0.0).then(|| rates.iter().zip(weights).map(share).collect())
}

/// The largest deviation of a weighted share from 1; `None` without shares.
pub fn weighted_deviation(shares: &[f64]) -> Option<f64> {
    shares.iter().map(|share| (share - 1.0).abs()).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collapse_of_paper_000_has_the_printed_fairness() {
        let rates: Vec<f64> = (0..50).map(|i| if i < 27 { 680.0 } else { 2.0 }).collect();
        assert!((mean_deviation(&rates).unwrap() - 0.085).abs() < 5e-4);
    }

    #[test]
    fn the_drop_tail_row_of_paper_003_table_1_has_the_printed_fairness_and_difference() {
        let rates = [13.26, 11.97, 11.42, 11.7, 10.27, 11.83, 11.15, 11.27, 11.64, 13.04];
        let excess = rates.map(|rate| rate - 1.0);
        assert!((jain(&excess).unwrap() - 0.9941).abs() < 5e-5);
        assert!((difference(&rates).unwrap() / 2.0 - 0.1272).abs() < 5e-5);
    }

    #[test]
    fn classes_are_compared_by_what_would_be_fair_for_each() {
        // paper 001: with credits two thirds of the link would be fair for the end-to-end connections
        let class = |rate, fair| ClassRate { rate, fair };
        let ratio = class_ratio(class(0.65, 2.0 / 3.0), class(0.33, 1.0 / 3.0)).unwrap();
        assert!((ratio - 0.9848).abs() < 5e-5);
        assert_eq!(class_ratio(class(3.0, 0.5), class(4.0, 0.5)), Some(0.75));
        assert_eq!(class_ratio(class(1.0, 0.5), class(0.0, 0.5)), None);
    }

    #[test]
    fn a_weighted_share_is_what_a_circuit_got_over_its_part_of_all() {
        // paper 002, figure 11: five shares of 1/15 and five of 2/15
        let weights: Vec<f64> = (0..10).map(|i| if i < 5 { 1.0 } else { 2.0 }).collect();
        let rates: Vec<f64> = weights.iter().map(|weight| 150e3 * weight).collect();
        let shares = weighted_shares(&rates, &weights).unwrap();
        assert!(weighted_deviation(&shares).unwrap() < 1e-12, "{shares:?}");
        let shares = weighted_shares(&[3.0, 1.0], &[1.0, 1.0]).unwrap();
        assert_eq!((shares[0], shares[1], weighted_deviation(&shares)), (1.5, 0.5, Some(0.5)));
        assert_eq!(weighted_shares(&[0.0], &[1.0]), None);
        assert_eq!(weighted_deviation(&[]), None);
    }

    #[test]
    fn nothing_delivered_has_no_fairness() {
        assert_eq!((mean_deviation(&[0.0, 0.0]), jain(&[0.0])), (None, None));
        assert_eq!([&[][..], &[0.0]].map(difference), [None, None]);
        assert_eq!(mean_deviation(&[3.0, 3.0]), Some(1.0));
    }

    #[test]
    fn the_relative_deviation_is_that_of_all_flows_over_their_mean() {
        assert_eq!(relative_deviation(&[1.0, 3.0]), Some(0.5));
        assert_eq!(relative_deviation(&[2.0, 2.0]), Some(0.0));
        assert_eq!(relative_deviation(&[4.0, 0.0]), Some(1.0), "one of two flows has everything");
        assert_eq!([&[][..], &[0.0]].map(relative_deviation), [None, None]);
    }
}
