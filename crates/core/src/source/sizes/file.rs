//! Tables of sizes in files, as they are published: in each line a size in octets, and the share of transfers that are
//! not larger, as a percentage or as a fraction.
//!
//! *Source*: the inputs of the traffic generators of the HPCC family (`0 0`, `10000 15`, …, `30000000 100`), and of those
//! that write the share first.

use serde_json::{Value as Json, json};

use super::super::length::MixPart;
use super::MOST;
use crate::language::spec::Field;
use crate::language::tree::{Fault, Node};
use crate::language::values::FileText;
use crate::units::Bytes;

/// Sizes from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSizes {
    file: String,
    text: FileText,
    /// Sizes with the share of transfers that are not larger.
    pub(super) table: Vec<MixPart>,
}

impl FileSizes {
    /// Read the text of a file; `node` is the value of `sizes`, at `path`.
    pub(super) fn read(node: &Node, path: &str, file: String, text: Option<FileText>) -> Result<Self, Fault> {
        let path = format!("{path}.file");
        let at = || node.along("file");
        let Some(text) = text else {
            let why = "the file has not been read; only pushout reads files, and an override cannot name another one";
            return Err(at().fault(&path, why));
        };
        let table =
            parse(&text.0).map_err(|(line, why)| at().fault(&path, format!("{file}:{line}: {why}")))?;
        Ok(FileSizes { file, text, table })
    }

    /// Write the sizes with the text of the file.
    pub(super) fn write(&self) -> Json {
        json!({ "file": self.file, "data": self.text.write() })
    }
}

/// Read a table; the error is a line and its fault. No message quotes a line: a scenario of another person may name any file.
fn parse(text: &str) -> Result<Vec<MixPart>, (usize, String)> {
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim().trim_start_matches('\u{feff}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match pair(line) {
            Some(pair) => rows.push((number, pair)),
            None if rows.is_empty() && number == 1 && line.contains(char::is_alphabetic) => {} // names of the columns
            None => {
                let why = "must have two numbers from 0: a size in octets, and the share of transfers that are not larger";
                return Err((number, why.to_string()));
            }
        }
    }
    let Some(&(last, end)) = rows.last() else {
        return Err((1, "must have a line with a size and a share".to_string()));
    };
    let is_whole = |share: f64| share == 100.0 || share == 1.0;
    let (size, share) = match (is_whole(end[1]), is_whole(end[0])) {
        (true, _) => (0, 1),
        (false, true) => (1, 0),
        (false, false) => {
            return Err((last, "the last share must be 100 %, written as 100 or 1".to_string()));
        }
    };
    let part = |&(number, pair): &(usize, [f64; 2])| match pair[size] {
        octets if octets.fract() == 0.0 && octets <= MOST as f64 => {
            Ok(MixPart(Bytes(octets as u64), pair[share] / end[share]))
        }
        _ => Err((number, "the size must be a whole number of octets, at most a petabyte".to_string())),
    };
    let table: Vec<MixPart> = rows.iter().map(part).collect::<Result<_, _>>()?;
    let falls = |pair: &[MixPart]| pair[1].0 < pair[0].0 || pair[1].1 < pair[0].1;
    match table.windows(2).position(falls) {
        Some(before) => Err((rows[before + 1].0, "neither size nor share must fall".to_string())),
        None if table[table.len() - 1].0 == Bytes(0) => {
            Err((last, "the last size must be at least 1 octet".to_string()))
        }
        None => Ok(table),
    }
}

/// Return the two numbers of a line, between blanks, tabs, a comma or a semicolon.
fn pair(line: &str) -> Option<[f64; 2]> {
    let words = line.split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';'));
    let numbers = words.filter(|word| !word.is_empty()).map(|word| word.trim_end_matches('%').parse().ok());
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    let numbers: [f64; 2] = numbers.try_into().ok()?;
    numbers.iter().all(|number| number.is_finite() && *number >= 0.0).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(parts: &[(u64, f64)]) -> Vec<MixPart> {
        parts.iter().map(|&(octets, share)| MixPart(Bytes(octets), share)).collect()
    }

    #[test]
    fn percentages_and_fractions_are_read_in_either_order() {
        let expected = table(&[(0, 0.0), (10_000, 0.15), (30_000_000, 1.0)]);
        for text in [
            "0 0\n10000 15\n30000000 100\n",
            "size,percent\n0,0\n# published\n10000,15\n3e7,100\n",
            "0\t0\r\n\r\n0.15; 10000\n1; 30000000",
            "0 0%\n10000 15%\n30000000 100%",
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_wrong_line_is_named_and_not_quoted() {
        for (text, line, part) in [
            ("", 1, "must have a line"),
            ("secret\n0 0\nsecret word\n", 3, "must have two numbers"),
            ("0 0\n10 50\n", 2, "the last share must be 100 %"),
            ("0 0\n10 50\n5 100\n", 3, "must fall"),
            ("0 0\n10 60\n20 50\n30 100\n", 3, "must fall"),
            ("0 0\n1.5 50\n2 100\n", 2, "whole number of octets"),
            ("0 0\n-1 50\n2 100\n", 2, "two numbers from 0"),
            ("0 0\ninf 50\n2 100\n", 2, "two numbers from 0"),
            ("0 0\n0 100\n", 2, "at least 1 octet"),
        ] {
            let (found, why) = parse(text).unwrap_err();
            assert!(
                found == line && why.contains(part) && !why.contains("secret"),
                "{text:?}: {found}: {why}"
            );
        }
    }
}
