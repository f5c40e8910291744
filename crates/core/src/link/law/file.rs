//! Files of lines whose rate changes.
//!
//! A file is one of two lists, which its first line tells apart: one whole number in each line, the millisecond of an opportunity of 1500 octets, as
//! mahimahi writes them; or a time and a rate in each line, between commas, semicolons or blanks, in seconds and bits per second
//! or with units.

use std::sync::Arc;

use super::opportunities::Opportunities;
use super::steps::{Step, Steps, StepsFault};
use super::{Kind, MOST_ENTRIES, Period};
use crate::refused::{Refused, refuse, refuse_if};
use crate::units::{Quantity, Span};

/// The latest millisecond of an opportunity: a hundred days.
const LATEST: u64 = 100 * 24 * 3_600_000;

/// Read the text of a file. No message quotes a line: a scenario of another person may name any file.
pub(super) fn read(name: &str, text: &str, period: Option<Period>) -> Result<Kind, Refused> {
    let lines =
        (1..).zip(text.lines()).map(|(number, line)| (number, line.trim().trim_start_matches('\u{feff}')));
    let lines: Vec<(usize, &str)> =
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect();
    let at =
        |(line, why): (usize, String)| Refused { key: Some("trace"), why: format!("{name}:{line}: {why}") };
    let Some(&(first, _)) = lines.first() else {
        return Err(at((
            1,
            "must have a line with the millisecond of an opportunity, or with a time and a rate".into(),
        )));
    };
    if lines.len() > MOST_ENTRIES {
        return Err(at((
            lines[MOST_ENTRIES].0,
            format!("a trace must have at most {MOST_ENTRIES} lines; cut it"),
        )));
    }
    if words(lines[0].1).len() == 1 {
        let times = opportunities(&lines).map_err(at)?;
        let last = times.last().copied().unwrap_or_default();
        let period = match period {
            None | Some(Period::AsRead) => last,
            Some(Period::Of(time)) => time.0,
        };
        let why = "must be at least the time of the last opportunity in the file";
        refuse_if(period < last, "period", why)?;
        return Ok(Kind::Opportunities(Arc::new(Opportunities::new(times, period))));
    }
    let period = match period {
        Some(Period::AsRead) => {
            return refuse("period", "must be a time here: only opportunities repeat as read");
        }
        Some(Period::Of(time)) => Some(time),
        None => None,
    };
    let table = lines.iter().map(|&(number, line)| step(line).ok_or((number, ROW.to_string())));
    let table = table.collect::<Result<_, _>>().map_err(at)?;
    let steps = Steps::new(table, period);
    let line = |step: Option<usize>| step.map_or(first, |step| lines[step].0);
    let steps = steps.map_err(|StepsFault { step, why }| at((line(step), why)))?;
    Ok(Kind::Steps(Arc::new(steps)))
}

const ROW: &str = "must have a time and a rate from 0, in seconds and bits per second or with units";

fn words(line: &str) -> Vec<&str> {
    let is_mark = |letter: char| matches!(letter, ',' | ';' | '\t');
    let parts: Vec<&str> = match line.contains(is_mark) {
        true => line.split(is_mark).map(str::trim).collect(),
        false => line.split_whitespace().collect(),
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// Read the instants of opportunities, in picoseconds.
fn opportunities(lines: &[(usize, &str)]) -> Result<Vec<u64>, (usize, String)> {
    let mut times: Vec<u64> = Vec::with_capacity(lines.len());
    for &(number, line) in lines {
        let is_whole = line.bytes().all(|letter| letter.is_ascii_digit());
        let Some(ms) = line.parse().ok().filter(|ms: &u64| is_whole && *ms <= LATEST) else {
            let why = format!("must be the millisecond of an opportunity, a whole number from 0 to {LATEST}");
            return Err((number, why));
        };
        let time = Span::millis(ms).0;
        if times.last().is_some_and(|last| time < *last) {
            return Err((
                number,
                "the trace goes back: each millisecond must be at least that of the line before it".into(),
            ));
        }
        times.push(time);
    }
    match (times.last(), lines.last()) {
        (Some(0), Some(&(number, _))) => Err((number, "the last millisecond must be greater than 0".into())),
        _ => Ok(times),
    }
}

/// Read a time and a rate.
fn step(line: &str) -> Option<Step> {
    let parts = words(line);
    let &[time, rate] = parts.as_slice() else { return None };
    Some(Step(quantity(time, "s")?, quantity(rate, "b/s")?))
}

/// Read a quantity, which has the unit `unit` if it has none.
fn quantity<T: Quantity>(text: &str, unit: &str) -> Option<T> {
    let has_unit = text.ends_with(|letter: char| letter.is_alphabetic());
    if has_unit { T::parse(text).ok() } else { T::parse(&format!("{text} {unit}")).ok() }
}
