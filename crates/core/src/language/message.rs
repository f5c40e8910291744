//! Report of a fault: its position, the reason, and the line itself with a mark below.

use std::fmt;

use super::set;
use super::tree::{Fault, Node, TextPlace, Value, join};
use crate::excerpt::{MESSAGE, excerpt, fitted, is_control};

/// Reason for which a scenario is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// One message for people: position, fault, and the allowed values. A message about an override begins with the
    /// override; the caller puts the form in which it takes overrides before it.
    pub message: String,
    /// The part of the request that has the fault, unless the file has it.
    pub part: Option<RequestPart>,
    /// Messages of further mistakes, in the order of the text.
    pub further: Vec<String>,
}

/// A part of a request other than the file of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// The override with this number, from 0.
    Set(usize),
    /// The engine.
    Engine,
    /// The figure with this path.
    Figure(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal { message, ..Refusal::default() }
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> String {
        refusal.message
    }
}

/// The sources from which a scenario was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a> {
    /// Name of the file; empty if a program made the text.
    pub name: &'a str,
    /// Text of the file.
    pub text: &'a str,
    /// The overrides given with the file.
    pub sets: &'a [String],
}

impl Sources<'_> {
    /// Return a fault in the form for callers; `root` is the tree as far as it was read.
    pub(crate) fn refuse(&self, fault: Fault, root: Option<&Node>) -> Refusal {
        let is_set = (1..=self.sets.len()).contains(&(fault.place.source as usize));
        let part = is_set.then(|| RequestPart::Set(fault.place.source as usize - 1));
        Refusal { message: self.tell(fault, root), part, further: Vec::new() }
    }

    /// Return the message of a fault on one line, without the line of the text.
    pub(crate) fn tell_briefly(&self, fault: Fault, root: &Node) -> String {
        let told = self.tell(fault, Some(root));
        told.split('\n').next().unwrap_or_default().to_string()
    }

    /// Return the message of a fault; `root` is the tree as far as it was read.
    pub(crate) fn tell(&self, mut fault: Fault, root: Option<&Node>) -> String {
        if let Some(path) = root.and_then(|root| written_path(root, &fault)) {
            fault.path = path;
        }
        match fault.place.source {
            0 if self.name.is_empty() => fitted(fault.to_string()),
            _ if fault.place == TextPlace::NONE => fitted(fault.to_string()),
            0 => self.at_line(&fault, root.is_some()),
            n => self.at_override(fault, n),
        }
    }

    /// Return the message of a fault in the file; the message shows the line if there is room for it.
    fn at_line(&self, fault: &Fault, is_read: bool) -> String {
        let (line, column) = line_and_column(self.text, fault.place.offset as usize);
        let name = excerpt(self.name, LONGEST_NAME);
        if !is_quotable(self.name) {
            let fault = if is_read { fault.to_string() } else { UNQUOTED.to_string() };
            return fitted(format!("{name}:{line}:{column}: {fault}"));
        }
        let told = fitted(format!("{name}:{line}:{column}: {fault}"));
        let mark = mark(self.text, line, column);
        let fits = told.chars().count() + mark.chars().count() <= MESSAGE;
        if fits { told + &mark } else { told }
    }

    /// Return the message of a fault in an override; the message does not repeat a path that the override gives.
    fn at_override(&self, mut fault: Fault, source: u32) -> String {
        let argument = &self.sets[source as usize - 1];
        if set::path_of(argument).is_some_and(|path| path == fault.path) {
            fault.path.clear();
        }
        fitted(format!("{}: {fault}", excerpt(argument, LONGEST_OVERRIDE)))
    }
}

/// The reason in the message about an unreadable text, if messages may not show the file's content.
const UNQUOTED: &str = "must be TOML or JSON; the line is shown only of a file named *.toml or *.json";

/// Return whether messages may show lines of this file. By mistake or by another person's intent a command may
/// receive any file, such as a list of passwords, and its messages end up in logs. So messages show only files with
/// the name of a scenario.
fn is_quotable(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with('<') || [".toml", ".json"].iter().any(|suffix| name.ends_with(suffix))
}

/// Greatest number of characters of an override that a message shows.
const LONGEST_OVERRIDE: usize = 100;

/// Greatest number of characters of a line that a message shows.
const LONGEST_SHOWN: usize = 72;

/// Greatest number of characters of a file's name that a message shows.
const LONGEST_NAME: usize = 120;

/// Return the line and the column of an offset, counted from 1 in lines and characters.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (1 + before.matches('\n').count(), 1 + before[start..].chars().count())
}

/// Return the line with a caret below the column; of a long line only the part around the column.
fn mark(text: &str, line: usize, column: usize) -> String {
    let Some(content) = text.split('\n').nth(line - 1).filter(|content| !content.trim().is_empty()) else {
        return String::new();
    };
    let skipped = if column > LONGEST_SHOWN { column - LONGEST_SHOWN / 2 } else { 0 };
    let printable = |c: char| if is_control(c) { ' ' } else { c };
    let shown: String = content.trim_end().chars().skip(skipped).take(LONGEST_SHOWN).map(printable).collect();
    let gutter = " ".repeat(line.to_string().len());
    let blank = " ".repeat(column - 1 - skipped);
    format!("\n {line} | {shown}\n {gutter} | {blank}^")
}

/// Return the path under which the file has the value at the fault's position. It differs from the fault's path if
/// the value was copied before the check: from `[flows]` into a flow, or from a template into a link.
fn written_path(root: &Node, fault: &Fault) -> Option<String> {
    let key = last_key(&fault.path)?;
    find(root, fault.place, "", &|path| last_key(path) == Some(key))
}

/// Return the last key of a path.
fn last_key(path: &str) -> Option<&str> {
    path.rsplit('.').next().filter(|key| !key.is_empty() && !key.ends_with('"'))
}

fn find(node: &Node, place: TextPlace, path: &str, fits: &dyn Fn(&str) -> bool) -> Option<String> {
    let here = || (node.place == place && fits(path)).then(|| path.to_string());
    match &node.value {
        Value::Table(entries) => entries.iter().find_map(|(key, item)| {
            let path = join(path, &key.name);
            if key.place == place && fits(&path) { Some(path) } else { find(item, place, &path, fits) }
        }),
        Value::List(items) => items.iter().enumerate().find_map(|(index, item)| {
            let path = match item.label() {
                Some(label) => join(path, &label),
                None => format!("{path}[{index}]"),
            };
            find(item, place, &path, fits)
        }),
        _ => None,
    }
    .or_else(here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "a = 1\nüb = 2";
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, 6), (2, 1));
        assert_eq!(line_and_column(text, 7), (2, 1)); // inside of a character
        assert_eq!(line_and_column(text, 8), (2, 2));
        assert_eq!(line_and_column(text, 999), (2, 7));
    }

    #[test]
    fn lines_are_shown_only_of_files_that_are_named_as_scenarios() {
        let text = "token = 'secret'\n";
        let told = |name| {
            let sources = Sources { name, text, sets: &[] };
            let root = crate::language::read::read(text, crate::language::read::Format::Toml).unwrap();
            let fault = Fault::at(TextPlace::default(), "unknown key \"token\"");
            (sources.tell(fault.clone(), Some(&root)), sources.tell(fault, None))
        };
        for name in ["a.toml", "A.JSON", "<stdin>"] {
            assert!(told(name).0.contains("secret"), "{name}");
        }
        for name in ["passwd", ".netrc", "a.toml.bak", "toml"] {
            let (read, unread) = told(name);
            assert_eq!(read, format!("{name}:1:1: unknown key \"token\""));
            assert_eq!(unread, format!("{name}:1:1: {UNQUOTED}"));
        }
    }

    #[test]
    fn the_line_is_shown_with_a_caret_below_the_column() {
        assert_eq!(mark("a = 1\n\tb = 2\r\n", 2, 6), "\n 2 |  b = 2\n   |      ^");
        assert_eq!(mark("a = 1\n", 2, 1), "");
        let long = mark(&format!("{}!{}", "x".repeat(1000), "y".repeat(1000)), 1, 1001);
        let lines: Vec<&str> = long.lines().collect();
        assert_eq!(lines[1].chars().count(), 5 + LONGEST_SHOWN);
        assert_eq!(lines[1].chars().position(|c| c == '!'), lines[2].chars().position(|c| c == '^'));
    }
}
