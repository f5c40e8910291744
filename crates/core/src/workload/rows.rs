//! Reads the rows of a list of transfers.

use crate::excerpt::quoted;
use crate::number;
use crate::source::sizes::MOST;
use crate::units::{Bytes, Quantity, Span};

/// A transfer of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Line of the list, from 1.
    pub line: u32,
    /// Host that sends.
    pub from: &'a str,
    /// Host that receives.
    pub to: &'a str,
    /// Octets to send.
    pub octets: u64,
    /// Start, or the delay of the start after the end of the transfers in `after`.
    pub start: Span,
    /// Name; empty if the row has none.
    pub name: &'a str,
    /// Class in shared memories; empty for the default.
    pub queue: &'a str,
    /// Class of flows in the report; empty for the default.
    pub class: &'a str,
    /// Names of the transfers that must end first, separated by semicolons.
    pub after: &'a str,
}

impl<'a> Row<'a> {
    /// Return the names of the transfers that must end first.
    pub fn awaited(&self) -> impl Iterator<Item = &'a str> {
        self.after.split(';').map(str::trim).filter(|name| !name.is_empty())
    }

    /// Return whether the transfer waits for others.
    pub fn waits(&self) -> bool {
        self.awaited().next().is_some()
    }
}

/// A fault of a list: the line, from 1, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    /// Line of the list, from 1.
    pub line: u32,
    /// The fault, with what is allowed.
    pub why: String,
}

/// The columns of a list; the first four of them are required.
pub const COLUMNS: [&str; 8] = ["from", "to", "bytes", "start", "name", "queue", "class", "after"];
const NEEDED: usize = 4;

/// Latest start, equal to the longest run.
pub(crate) const LATEST: Span = Span::secs(50 * 86_400);

/// Read the rows of a list, at most `most`. A message quotes a field only if the first line has shown that the text is
/// such a list: a scenario of another person may name any file.
pub fn parse(text: &str, most: usize) -> Result<Vec<Row<'_>>, RowFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines());
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let fault = |line: u32, why: String| Err(RowFault { line, why });
    let Some((number, first)) = lines.next() else {
        return fault(1, format!("must have a first line that names the columns: {}", columns()));
    };
    let places = places(first).map_err(|why| RowFault { line: number, why })?;
    let mut rows = Vec::new();
    for (line, text) in lines {
        if rows.len() == most {
            return fault(line, format!("a scenario has at most {most} transfers; cut the list"));
        }
        rows.push(row(line, text, &places).map_err(|why| RowFault { line, why })?);
    }
    if rows.is_empty() {
        fault(number, "the list has no transfer below its first line".to_string())
    } else {
        Ok(rows)
    }
}

/// Describe the columns of a list.
fn columns() -> String {
    format!("{} and perhaps {}", COLUMNS[..NEEDED].join(", "), COLUMNS[NEEDED..].join(", "))
}

/// The place of every column in a line, and the number of fields of a line.
struct Places {
    of: [Option<usize>; COLUMNS.len()],
    count: usize,
}

/// Find the columns in the first line of a list.
fn places(line: &str) -> Result<Places, String> {
    let mut of = [None; COLUMNS.len()];
    let mut count = 0;
    for (place, name) in fields(line).enumerate() {
        let Some(column) = COLUMNS.iter().position(|column| *column == name) else {
            let how =
                if line.contains([';', '\t']) && !line.contains(',') { ", separated by commas" } else { "" };
            return Err(format!("column {} is unknown; the columns are {}{how}", place + 1, columns()));
        };
        if of[column].replace(place).is_some() {
            return Err(format!("the column {name} must be there once, not twice"));
        }
        count += 1;
    }
    match COLUMNS[..NEEDED].iter().zip(of).find(|(_, place)| place.is_none()) {
        Some((name, _)) => Err(format!("the column {name} is missing; the columns are {}", columns())),
        None => Ok(Places { of, count }),
    }
}

fn row<'a>(line: u32, text: &'a str, places: &Places) -> Result<Row<'a>, String> {
    let mut found = [""; COLUMNS.len()];
    let mut count = 0;
    for (place, field) in fields(text).enumerate() {
        if let Some(column) = places.of.iter().position(|column| *column == Some(place)) {
            found[column] = field;
        }
        count += 1;
    }
    if count != places.count {
        return Err(format!("must have {} fields, as the first line has, not {count}", places.count));
    }
    let [from, to, octets, start, name, queue, class, after] = found;
    let octets = octets_of(octets)?;
    let start = if start.is_empty() && !after.is_empty() { Span::ZERO } else { start_of(start)? };
    Ok(Row { line, from, to, octets, start, name, queue, class, after })
}

fn octets_of(field: &str) -> Result<u64, String> {
    let wrong = |why: &str| {
        format!("bytes must be a whole number from 1, or a size as in 64 kB, not {}{why}", quoted(field))
    };
    match read::<Bytes>(field, "bytes").map(|Bytes(octets)| octets) {
        Some(0) | None => Err(wrong("")),
        Some(octets) if octets > MOST => Err(wrong("; at most a petabyte (1000000 GB)")),
        Some(octets) => Ok(octets),
    }
}

fn start_of(field: &str) -> Result<Span, String> {
    let start = read::<Span>(field, "s").filter(|start| *start <= LATEST);
    let rule = "start must be from 0 to 50 days: seconds, or a time as in 20 us, down to a picosecond";
    start.ok_or_else(|| format!("{rule}, not {}", quoted(field)))
}

/// Read a quantity; a number without a unit is in `unit`.
fn read<Q: Quantity>(field: &str, unit: &str) -> Option<Q> {
    let (number, own) = number::split(field);
    let whole = if own.is_empty() { Q::parse(&format!("{number} {unit}")) } else { Q::parse(field) };
    whole.ok()
}

/// Split a line at commas outside of double quotes; a field loses its quotes and the blanks around it.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let mut is_quoted = false;
        let end = text.find(|letter| {
            is_quoted ^= letter == '"';
            letter == ',' && !is_quoted
        });
        rest = end.map(|end| &text[end + 1..]);
        let field = text[..end.unwrap_or(text.len())].trim();
        Some(field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field))
    })
}

/// Write a field so that [`parse`] reads it.
pub fn field(text: &str) -> String {
    if text.contains(',') { format!("\"{text}\"") } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> (u32, String) {
        let RowFault { line, why } = parse(text, 3).unwrap_err();
        (line, why)
    }

    #[test]
    fn columns_stand_in_any_order_and_rows_keep_their_lines() {
        let text = "# made by hand\r\n\r\nbytes, from ,to,name,start\r\n64 kB,a,b,\"one, first\",20 us\r\n\r\n9,b,a,,0.5\r\n";
        let rows = parse(text, 9).unwrap();
        let first = Row {
            line: 4,
            from: "a",
            to: "b",
            octets: 64_000,
            start: Span::micros(20),
            name: "one, first",
            queue: "",
            class: "",
            after: "",
        };
        let second = Row {
            line: 6,
            from: "b",
            to: "a",
            octets: 9,
            start: Span::millis(500),
            name: "",
            ..first.clone()
        };
        assert_eq!(rows, [first, second]);
    }

    #[test]
    fn a_transfer_after_others_needs_no_start() {
        let rows = parse("from,to,bytes,start,after\na,b,1,,x; y ;\na,b,1,3 ns,", 9).unwrap();
        assert_eq!(rows[0].awaited().collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!((rows[0].start, rows[1].start, rows[1].awaited().count()), (Span::ZERO, Span(3000), 0));
    }

    #[test]
    fn a_fault_names_its_line_and_what_is_allowed() {
        let head = "from,to,bytes,start\n";
        for (text, line, part) in [
            ("", 1, "must have a first line"),
            ("root:x:0:0\n", 1, "column 1 is unknown"),
            ("from;to;bytes;start\n", 1, "and perhaps name, queue, class, after, separated by commas"),
            ("from,to,bytes\n", 1, "the column start is missing"),
            ("from,to,bytes,start,to\n", 1, "the column to must be there once"),
            (head, 1, "no transfer"),
            (&format!("{head}a,b,1,0\na,b,1\n"), 3, "must have 4 fields, as the first line has, not 3"),
            (&format!("{head}\na,b,0,0\n"), 3, "bytes must be a whole number from 1"),
            (&format!("{head}a,b,-5,0\n"), 2, "not \"-5\""),
            (&format!("{head}a,b,1.5,0\n"), 2, "not \"1.5\""),
            (&format!("{head}a,b,9e15,0\n"), 2, "at most a petabyte"),
            (&format!("{head}a,b,1,-1\n"), 2, "start must be from 0"),
            (&format!("{head}a,b,1,nan\n"), 2, "not \"nan\""),
            (&format!("{head}a,b,1,\n"), 2, "not \"\""),
            (&format!("{head}a,b,1,1e-13\n"), 2, "down to a picosecond"),
            (&format!("{head}a,b,1,9e9\n"), 2, "50 days"),
            (&format!("{head}{}", "a,b,1,0\n".repeat(4)), 5, "at most 3 transfers"),
        ] {
            let (found, message) = why(text);
            assert!(found == line && message.contains(part), "{text:?}: {found}: {message}");
        }
        assert!(!why("root:x:0:0\n").1.contains("root"), "a foreign file is not quoted");
    }
}
