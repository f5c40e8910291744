//! Number of packets that gatekeeper and janitor can save: the closed form of paper 004 (S. Chatterjee, W. Xiao),
//! section 5.3.
//!
//! Cells of packets of L cells are marked with probability m, independently. A packet with one marked cell is repaired by
//! its parity cell. Of those with more, a share s can be saved: every saved packet gives up one marked cell, and its k − 1
//! other marked cells take the place of cells of the packets that are sacrificed.
//!
//! The paper prints no equation numbers, and misprints two of its formulas: `r_≥2` must have (1 − m + L·m), and the sum in
//! s must be over `r_k · (k − 1)`, as its own Π says. Π = Φ then gives the s below. Φ counts all L cells of a sacrificed
//! packet, though its marked ones are lost anyway; that is the paper's approximation and left as it is.

/// Probability that a packet of `cells` cells contains exactly `k` marked ones:
/// `r_k` = C(L, k) · m^k · (1 − m)^(L − k).
pub(crate) fn marked(k: u32, m: f64, cells: u32) -> f64 {
    if k > cells {
        return 0.0;
    }
    let power =
        |base: f64, exponent: u32| if exponent == 0 { 1.0 } else { libm::pow(base, f64::from(exponent)) };
    if cells > 1000 {
        // The factors of a long packet leave the range of an f64 one by one, but not together.
        if m <= 0.0 || m >= 1.0 {
            return f64::from(u8::from(k == if m <= 0.0 { 0 } else { cells }));
        }
        let log_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
        let log_choose = log_factorial(cells) - log_factorial(k) - log_factorial(cells - k);
        return libm::exp(log_choose + f64::from(k) * libm::log(m) + f64::from(cells - k) * libm::log1p(-m));
    }
    let choose: f64 = (0..k).map(|i| f64::from(cells - i) / f64::from(i + 1)).product();
    choose * power(m, k) * power(1.0 - m, cells - k)
}

/// Probability that a packet contains at least two marked cells: `r_≥2` = 1 − (1 − m + L·m) · (1 − m)^(L − 1).
pub(crate) fn marked_twice(m: f64, cells: u32) -> f64 {
    let l = f64::from(cells);
    1.0 - (1.0 - m + l * m) * libm::pow(1.0 - m, l - 1.0)
}

/// Mean number of marked cells beyond the first in packets with at least two: b · Σ `r_k` · (k − 1), b = 1 / `r_≥2`.
pub(crate) fn excess(m: f64, cells: u32) -> f64 {
    let sum: f64 = (2..=cells).map(|k| marked(k, m, cells) * f64::from(k - 1)).sum();
    sum / marked_twice(m, cells)
}

/// Share of the packets with at least two marked cells that can be saved:
/// s = 1 / ((b / L) · Σ `r_k` · (k − 1) + 1).
pub(crate) fn saved(m: f64, cells: u32) -> f64 {
    1.0 / (excess(m, cells) / f64::from(cells) + 1.0)
}

mod tests {
    use super::*;
    use pushout_core::rng::Stream;

    /// Marking probabilities of the recomputed table, and its columns for packets of 32 cells.
    const M: [f64; 4] = [0.01, 0.02, 0.05, 0.1];

    fn rounded(values: [f64; 4], digits: i32) -> [f64; 4] {
        let scale = 10f64.powi(digits);
        values.map(|value| (value * scale).round() / scale)
    }

    #[test]
    fn the_table_for_ethernet_packets_comes_out_to_its_last_digit() {
        assert_eq!(rounded(M.map(|m| marked_twice(m, 32)), 5), [0.04068, 0.13399, 0.48004, 0.84358]);
        assert_eq!(rounded(M.map(|m| excess(m, 32)), 4), [1.1056, 1.2231, 1.6534, 2.6486]);
        assert_eq!(rounded(M.map(|m| saved(m, 32)), 5), [0.96660, 0.96319, 0.95087, 0.92356]);
        assert_eq!(rounded(M.map(|m| saved(m, 192)), 5), [0.99041, 0.98368, 0.95710, 0.91342]);
    }

    #[test]
    fn the_formula_as_printed_gives_other_values() {
        let printed = |m: f64| {
            let sum: f64 = (2..=32).map(|k| marked(k, m, 32) + f64::from(k - 1)).sum();
            1.0 / (sum / marked_twice(m, 32) / 32.0 + 1.0)
        };
        assert_eq!(rounded(M.map(printed), 6), [0.002618, 0.008568, 0.030012, 0.051532]);
        let printed_twice = |m: f64| 1.0 - (1.0 - m + 32.0) * m * (1.0 - m).powi(31);
        assert!(M.iter().all(|&m| (printed_twice(m) - marked_twice(m, 32)).abs() > 0.03));
    }

    #[test]
    fn the_sum_has_a_closed_form() {
        // s = L / (L + (L·m − 1 + (1 − m)^L) / r_≥2)
        for cells in [2, 11, 32, 192, 1366] {
            for m in M {
                let l = f64::from(cells);
                let closed = l / (l + (l * m - 1.0 + (1.0 - m).powf(l)) / marked_twice(m, cells));
                assert!((saved(m, cells) - closed).abs() < 1e-9, "L = {cells}, m = {m}");
            }
        }
        assert!((saved(1e-5, 32) - 32.0 / 33.0).abs() < 1e-4, "for m → 0 every excess is one cell");
    }

    #[test]
    fn packets_marked_at_random_are_as_the_formulas_say() {
        let mut stream = Stream::new(11, "gpj");
        let packets = 40_000;
        let (mut twice, mut beyond) = (0u32, 0u32);
        for _ in 0..packets {
            let k = (0..32).filter(|_| stream.chance(0.05)).count() as u32;
            if k >= 2 {
                (twice, beyond) = (twice + 1, beyond + k - 1);
            }
        }
        assert!((f64::from(twice) / f64::from(packets) - marked_twice(0.05, 32)).abs() < 0.01);
        assert!((f64::from(beyond) / f64::from(twice) - excess(0.05, 32)).abs() < 0.03);
    }

    #[test]
    fn the_probabilities_of_a_packet_sum_to_one() {
        for (m, cells) in [(0.0, 32), (0.3, 32), (1.0, 32), (0.02, 2000), (0.0, 2000), (1.0, 2000)] {
            let sum: f64 = (0..=cells).map(|k| marked(k, m, cells)).sum();
            assert!((sum - 1.0).abs() < 1e-9, "m = {m}, L = {cells}: {sum}");
        }
        assert_eq!(marked(33, 0.1, 32), 0.0);
    }
}
