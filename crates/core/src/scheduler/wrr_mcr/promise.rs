//! Checks whether every circuit gets its minimum rate, and names a parameter that ensures it.

use super::credits::CELL;
use super::{Carry, Params, Realisation, guaranteed};
use crate::buffer::context::Context;
use crate::units::{Rate, Span};

/// Return the reason why some circuit may get less than its rate although it always has cells, and the remedy; `None`
/// if every circuit gets its rate.
pub(crate) fn broken(params: &Params, context: &Context<'_>) -> Option<String> {
    let mut rates = guaranteed(params, context).ok()?;
    rates.retain(|rate| *rate > Rate(0));
    if rates.is_empty() {
        return None;
    }
    match (params.realisation, params.carry) {
        (Realisation::Credits, Carry::Floor) => {
            parts_lost(&rates, params).or_else(|| short(&rates, params, context))
        }
        (Realisation::Credits, Carry::Exact) => short(&rates, params, context),
        (Realisation::VirtualClock, Carry::Floor) => {
            Some(format!("intervals between cells are rounded up: {KEEP_PARTS}"))
        }
        (Realisation::VirtualClock, Carry::Exact) => None,
    }
}

const KEEP_PARTS: &str = "set carry = \"exact\"";

/// Return the message about credits of a period that are not whole cells, so that the fraction is lost.
fn parts_lost(rates: &[Rate], params: &Params) -> Option<String> {
    let credits = |rate: &Rate| u128::from(rate.0) * u128::from(params.period.0);
    let broken = rates.iter().find(|rate| !credits(rate).is_multiple_of(CELL.into()))?;
    let cells = credits(broken) as f64 / CELL as f64;
    Some(format!(
        "{broken} are {cells:.3} cells in a period of {}, of which only whole cells count: {KEEP_PARTS}",
        params.period
    ))
}

/// Return the message about a period in which the line cannot send all owed cells if some are late.
fn short(rates: &[Rate], params: &Params, context: &Context<'_>) -> Option<String> {
    let circuits = rates.len();
    let Some(needed) = least_period(rates, context.rate) else {
        return Some(format!(
            "the rates promised to {circuits} circuits fill the line, and no period keeps that: promise less, or set \
             realisation = \"virtual-clock\""
        ));
    };
    (params.period < needed).then(|| {
        format!(
            "a period of {} has too few cells for what was promised to {circuits} circuits: set period = \"{}\" or longer, \
             or realisation = \"virtual-clock\"",
            params.period,
            rounded_up(needed)
        )
    })
}

/// Return the shortest period in which the guaranteed cells leave time for one cell for each circuit and one more;
/// `None` if there is no such period.
fn least_period(rates: &[Rate], line: Rate) -> Option<Span> {
    let left = line.0.checked_sub(rates.iter().map(|rate| rate.0).sum()).filter(|left| *left > 0)?;
    let bits = u128::from(CELL) * (rates.len() as u128 + 1);
    u64::try_from(bits.div_ceil(left.into())).ok().map(Span)
}

/// Round a span up to three digits.
fn rounded_up(span: Span) -> Span {
    let step = 10u64.pow(span.0.ilog10().saturating_sub(2));
    Span(span.0.div_ceil(step).saturating_mul(step))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CLOCK, DEFAULT};
    use super::super::{Layer, Policy};
    use super::*;
    use crate::buffer::context::Contract;
    use crate::rng::Stream;
    use crate::scheduler::tests::{Bench, contracts};
    use crate::units::Time;
    use crate::units::ids::IdSlice;

    fn fault(params: &Params, line: Rate, mcr: &[u64]) -> Option<String> {
        let contracts = contracts(mcr);
        broken(
            params,
            &Context { contracts: IdSlice::new(&contracts), rate: line, ..Context::alone(3000, 0) },
        )
    }

    #[test]
    fn the_period_that_suffices_is_named() {
        let line = Rate(2_000_000); // 4.717 cells in a millisecond
        assert_eq!(fault(&DEFAULT, line, &[0, 0]), None);
        assert_eq!(fault(&DEFAULT, line, &[100]), None);
        let short = fault(&DEFAULT, line, &[300, 300, 300, 0]).unwrap();
        let expected = "a period of 1 ms has too few cells for what was promised to 3 circuits: set period = \"1550 us\" or \
                        longer, or realisation = \"virtual-clock\"";
        assert_eq!(short, expected);
        assert_eq!(fault(&Params { period: Span::micros(1550), ..DEFAULT }, line, &[300, 300, 300, 0]), None);
        assert!(fault(&DEFAULT, line, &[1000, 1000]).unwrap().contains("no period keeps that"));
        assert_eq!(fault(&CLOCK, line, &[1000, 1000]), None);
    }

    #[test]
    fn credits_rounded_down_are_reported() {
        let floor = Params { carry: Carry::Floor, ..DEFAULT };
        let lost = fault(&floor, Rate(155_520_000), &[1000]).unwrap();
        assert!(lost.starts_with("1 Mb/s are 2.358 cells in a period of 1 ms"), "{lost}");
        assert_eq!(fault(&floor, Rate(155_520_000), &[848, 424]), None);
        let clock = Params { carry: Carry::Floor, ..CLOCK };
        assert!(fault(&clock, Rate(155_520_000), &[848]).unwrap().contains("carry = \"exact\""));
    }

    #[test]
    fn rates_at_which_nothing_can_be_promised_are_not_judged() {
        let tcp = Params { layer: Layer::Tcp, ..DEFAULT };
        assert!(fault(&tcp, Rate(1000), &[1000]).is_none());
    }

    /// Draw a port at random: line, rates in kilobits per second, parameters.
    fn drawn(draw: &mut Stream) -> (Rate, Vec<u64>, Params) {
        let mut between = |low: f64, high: f64| low * libm::pow(high / low, draw.unit());
        let line = between(1e6, 155e6) as u64;
        let period = Span(between(5e8, 2e10) as u64);
        let circuits = between(1.0, 12.0) as usize;
        let load = [0.3, 0.6, 0.9, 0.97, 1.0][between(1.0, 5.99) as usize - 1];
        let weights: Vec<f64> = (0..circuits).map(|_| between(1.0, 20.0)).collect();
        let sum: f64 = weights.iter().sum();
        let mut mcr: Vec<u64> =
            weights.iter().map(|weight| (line as f64 * load * weight / sum / 1000.0) as u64).collect();
        mcr.extend([0, 0]);
        let carry = if between(1.0, 5.0) < 1.5 { Carry::Floor } else { Carry::Exact };
        let realisation =
            if between(1.0, 5.0) < 1.5 { Realisation::VirtualClock } else { Realisation::Credits };
        (Rate(line), mcr, Params { realisation, period, carry, ..DEFAULT })
    }

    /// Return by how many cells a circuit that always has cells falls behind its rate, at worst, in some whole periods.
    fn behind(line: Rate, mcr: &[u64], params: &Params) -> f64 {
        let contracts: Vec<Contract> = contracts(mcr);
        let context = Context { contracts: IdSlice::new(&contracts), rate: line, ..Context::alone(3000, 0) };
        let mut bench = Bench::new(&context, |context| Policy::new(params, context));
        let mut served = vec![0u64; mcr.len()];
        (0..mcr.len()).for_each(|queue| bench.join(&[queue, queue]));
        let periods = line.time_of_bits(424 * CELLS).0 / params.period.0;
        let end = Time(periods * params.period.0);
        for cell in 0.. {
            bench.now = Time(line.time_of_bits(424 * cell).0);
            if bench.now >= end {
                break;
            }
            let queue = bench.serve_one().expect("the line never rests while a cell waits");
            served[queue] += 1;
            bench.join(&[queue]);
        }
        let seconds = end.as_secs_f64();
        let owed = |(mcr, served): (&u64, &u64)| *mcr as f64 * 1000.0 * seconds / 424.0 - *served as f64;
        mcr.iter().zip(&served).map(owed).fold(0.0, f64::max)
    }

    /// Cells of a test: in most cases some hundreds of periods.
    const CELLS: u64 = 8000;
    /// Allowed shortfall in cells: the rest of one, and one on the line.
    const ALLOWED: f64 = 2.0;

    #[test]
    fn a_promised_rate_is_kept_or_reported() {
        let draw = &mut Stream::new(1, "promises");
        let (mut kept, mut truly_broken) = (0, 0);
        for _ in 0..150 {
            let (line, mcr, params) = drawn(draw);
            let late = behind(line, &mcr, &params);
            match fault(&params, line, &mcr) {
                None => {
                    kept += 1;
                    assert!(late <= ALLOWED, "{late} cells behind: {line}, {mcr:?} kb/s, {params:?}");
                }
                Some(_) => truly_broken += u32::from(late > ALLOWED),
            }
        }
        assert!(kept > 40 && truly_broken > 10, "{kept} kept, {truly_broken} broken");
    }

    #[test]
    fn the_period_that_is_named_keeps_the_rates() {
        let draw = &mut Stream::new(2, "promises");
        let mut mended = 0;
        for _ in 0..150 {
            let (line, mcr, params) = drawn(draw);
            let params = Params { carry: Carry::Exact, realisation: Realisation::Credits, ..params };
            let rates: Vec<Rate> =
                mcr.iter().filter(|kbps| **kbps > 0).map(|kbps| Rate(kbps * 1000)).collect();
            let Some(needed) = least_period(&rates, line).filter(|needed| *needed > params.period) else {
                continue;
            };
            let params = Params { period: rounded_up(needed), ..params };
            mended += 1;
            assert_eq!(fault(&params, line, &mcr), None);
            let late = behind(line, &mcr, &params);
            assert!(late <= ALLOWED, "{late} cells behind: {line}, {mcr:?} kb/s, {params:?}");
        }
        assert!(mended > 20, "{mended}");
    }
}
