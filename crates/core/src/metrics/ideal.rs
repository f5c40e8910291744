//! The ideal against which goodput is measured: max–min fair payload rates with every overhead counted.
//!
//! Each flow's rate grows at the same pace until a line on its path is full or its source has no more to offer (D.
//! Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section 6.5.2). A payload bit costs a line the bits of a
//! full packet on this line divided by the payload bits of the packet: headers, trailer, padding and cell headers.
//! For paper 000 this gives the printed ideals: 12.892 and 13.451 Mb/s in the LAN, 584.0 and 609.3 kb/s in the access
//! network. Acknowledgements and TCP options are not charged, as in the paper.

use crate::units::ids::{IdVec, LineId};

/// A flow that competes for max–min fair rates: its path and the rate of its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Lines on the flow's path, with the line bits that one payload bit costs there.
    pub lines: Vec<(LineId, f64)>,
    /// Rate of the flow's source, in payload bits per second; infinite for a source that fills its transport.
    pub limit: f64,
}

/// Return the max–min fair payload rates in bits per second, for lines with these capacities in bits per second.
pub fn max_min(capacities: &IdVec<LineId, f64>, demands: &[Demand]) -> Vec<f64> {
    let mut rates = vec![0.0; demands.len()];
    let mut growing: Vec<usize> = (0..demands.len()).collect();
    let mut room = capacities.clone();
    let mut cost: IdVec<LineId, f64> = IdVec::filled(0.0, capacities.len());
    let mut level = 0.0;
    while !growing.is_empty() {
        cost.fill(0.0);
        for &flow in &growing {
            demands[flow].lines.iter().for_each(|&(line, bits)| cost[line] += bits);
        }
        let until_full =
            |line: LineId| if cost[line] > 0.0 { room[line] / cost[line] } else { f64::INFINITY };
        let by_lines = room.keys().map(until_full).fold(f64::INFINITY, f64::min);
        let by_limits = growing.iter().map(|&flow| demands[flow].limit - level).fold(f64::INFINITY, f64::min);
        let step = by_lines.min(by_limits).max(0.0);
        assert!(step.is_finite(), "every flow has a path");
        level += step;
        for (left, spent) in room.iter_mut().zip(&cost) {
            *left -= step * spent;
        }
        let full = |line: LineId| room[line] <= 1e-9 * capacities[line];
        growing.retain(|&flow| {
            let stops = level >= demands[flow].limit * (1.0 - 1e-12)
                || demands[flow].lines.iter().any(|&(line, _)| full(line));
            if stops {
                rates[flow] = level;
            }
            !stops
        });
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greedy(lines: &[(u32, f64)]) -> Demand {
        Demand {
            lines: lines.iter().map(|&(line, cost)| (LineId(line), cost)).collect(),
            limit: f64::INFINITY,
        }
    }

    #[test]
    fn ten_sources_of_paper_000_get_the_printed_ideal() {
        for (mss, cells, ideal) in [(1460.0, 32.0, 12.8921e6), (9140.0, 192.0, 13.4513e6)] {
            let cost = 53.0 * cells / mss;
            let demands: Vec<Demand> = (0..10).map(|i| greedy(&[(i, cost), (10, cost)])).collect();
            let rates = max_min(&[149.76e6; 11].into(), &demands);
            assert!(rates.iter().all(|rate| (rate / ideal - 1.0).abs() < 1e-5), "{rates:?}");
        }
    }

    #[test]
    fn a_long_flow_leaves_its_share_to_the_short_ones() {
        // two unit lines, a long flow over both, one short flow on the first, two on the second
        let demands =
            [greedy(&[(0, 1.0), (1, 1.0)]), greedy(&[(0, 1.0)]), greedy(&[(1, 1.0)]), greedy(&[(1, 1.0)])];
        let rates = max_min(&[1.0, 1.0].into(), &demands);
        let expected = [1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0];
        assert!(rates.iter().zip(expected).all(|(rate, wanted)| (rate - wanted).abs() < 1e-9));
    }

    #[test]
    fn a_source_gets_no_more_than_it_offers() {
        let limited = |limit| Demand { lines: vec![(LineId(0), 1.0)], limit };
        let rates = max_min(&[1.0].into(), &[limited(0.1), limited(0.3), greedy(&[(0, 1.0)])]);
        let expected = [0.1, 0.3, 0.6];
        assert!(rates.iter().zip(expected).all(|(rate, wanted)| (rate - wanted).abs() < 1e-9), "{rates:?}");
    }
}
