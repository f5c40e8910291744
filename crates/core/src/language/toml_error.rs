//! Describes faults in a text that is not TOML, where the parser reports a position after the fault, or a reason that
//! explains too little.

/// Return the position of the fault and the reason, given the parser's position and reason.
pub(super) fn explain(text: &str, offset: usize, reason: &str) -> (usize, String) {
    let offset = floor_char_boundary(text, offset);
    let line_end = offset + text[offset..].find('\n').unwrap_or(text.len() - offset);
    if let Some(quote) = unclosed_quote(text).filter(|quote| *quote <= line_end) {
        return (quote, "this is not TOML: a quote on this line is not closed".to_string());
    }
    if reason == "duplicate key" {
        return (offset, duplicate(text, offset));
    }
    if text[offset..].starts_with('[') && reason.starts_with("missing key for inline table element") {
        return (offset, "this is not TOML: a table { … } above this line is not closed".to_string());
    }
    let reason =
        match unquoted(&text[offset..]).filter(|_| reason.starts_with("string values must be quoted")) {
            Some("") => "the value is missing".to_string(),
            Some(value) if value.starts_with(CURLY) => {
                format!("quotes must be straight: \"{}\"", value.trim_matches(CURLY))
            }
            Some(value) => format!("a text stands in quotes: \"{value}\""),
            None => reason.to_string(),
        };
    (offset, format!("this is not TOML: {reason}"))
}

/// Quotes of word processors, which TOML does not have.
const CURLY: [char; 5] = ['“', '”', '„', '‘', '’'];

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|offset| text.is_char_boundary(*offset)).unwrap_or(0)
}

/// Find the first quote that is not closed on its line; of several on a line the first after which no value can
/// continue.
fn unclosed_quote(text: &str) -> Option<usize> {
    let mut rest = text;
    let mut suspect = None;
    while let Some(at) = rest.find(['"', '\'', '#', '\n']) {
        let from = &rest[at..];
        let offset = text.len() - from.len();
        let length = match from.as_bytes()[0] {
            b'\n' => {
                suspect = None;
                1
            }
            b'#' => from.find('\n').unwrap_or(from.len()),
            _ => match closed(from) {
                Some(length) => {
                    let follows = from[length..].trim_start_matches([' ', '\t', '\r']).chars().next();
                    let goes_on = follows.is_none_or(|c| ",}]=.#\n".contains(c));
                    suspect = suspect.or((!goes_on).then_some(offset));
                    length
                }
                None => return suspect.or(Some(offset)),
            },
        };
        rest = &from[length..];
    }
    None
}

/// Return the length in octets of the quoted string that begins a text, quotes included, if it is closed.
fn closed(text: &str) -> Option<usize> {
    let quote = &text[..1];
    let long = quote.repeat(3);
    let (open, lines) = if text.starts_with(&long) { (long.as_str(), true) } else { (quote, false) };
    let mut skip = false;
    for (at, c) in text.char_indices().skip(open.len()) {
        if skip {
            skip = false;
        } else if c == '\\' && quote == "\"" {
            skip = true;
        } else if c == '\n' && !lines {
            return None;
        } else if text[at..].starts_with(open) {
            // a string of several lines may end with up to two quotes before the closing ones
            let more = text[at + open.len()..]
                .chars()
                .take(2)
                .take_while(|c| lines && quote.starts_with(*c))
                .count();
            return Some(at + open.len() + more);
        }
    }
    None
}

/// Return the unquoted text that stands in the place of a value.
fn unquoted(text: &str) -> Option<&str> {
    let value = text.split(['\n', ',', '}', ']', '#', '"']).next()?.trim_ascii_end();
    (value.len() <= 40).then_some(value)
}

/// Describe the fault of a key that is given twice, in two forms or in one.
fn duplicate(text: &str, offset: usize) -> String {
    let name = name(&text[offset..]);
    let line_start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let here = form(&text[line_start..], name);
    let mut first = None;
    for (line, number) in text[..line_start].lines().zip(1..) {
        let is_header = line.trim_ascii_start().starts_with('[');
        if is_header && !matches!(here, Some(KeyForm::Header(_))) {
            first = None; // another table begins
        } else if let Some(form) = form(line, name) {
            first = first.or(Some((form, number)));
        }
    }
    match (first, here) {
        (Some((first, line)), Some(here)) if first != here => format!(
            "{name} is given as {} in line {line} and as {} here: use one form",
            first.shown(name),
            here.shown(name)
        ),
        (Some((_, line)), _) => format!("the key {name:?} is given twice, first in line {line}"),
        (None, _) => format!("the key {name:?} is given twice"),
    }
}

/// Form in which a line gives a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyForm {
    /// `[name]`, or `[[name]]`.
    Header(usize),
    /// `name = […]`.
    List,
    /// `name = {…}`.
    Table,
    /// `name = …`, or `name.key = …`.
    Other,
}

impl KeyForm {
    fn shown(self, name: &str) -> String {
        match self {
            KeyForm::Header(brackets) => {
                ["[".repeat(brackets).as_str(), name, &"]".repeat(brackets)].concat()
            }
            KeyForm::List => "a list".to_string(),
            KeyForm::Table => "a table".to_string(),
            KeyForm::Other => "a value".to_string(),
        }
    }
}

/// Return the form in which a line gives the key `name`, if it gives this key.
fn form(line: &str, name: &str) -> Option<KeyForm> {
    let line = line.trim_ascii_start();
    let inside = line.trim_start_matches(['[', ' ', '\t']);
    let brackets = line[..line.len() - inside.len()].matches('[').count();
    let rest = inside.strip_prefix(name)?.trim_ascii_start();
    match (brackets, rest.chars().next()?) {
        (0, '=') => Some(match rest[1..].trim_ascii_start().chars().next() {
            Some('[') => KeyForm::List,
            Some('{') => KeyForm::Table,
            _ => KeyForm::Other,
        }),
        (0, '.') => Some(KeyForm::Other),
        (1 | 2, ']' | '.') => Some(KeyForm::Header(brackets)),
        _ => None,
    }
}

/// Return the key that begins a text.
fn name(text: &str) -> &str {
    match closed(text).filter(|_| text.starts_with(['"', '\''])) {
        Some(length) => &text[..length],
        None => {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
            &text[..end.unwrap_or(text.len())]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::{Format, read};

    /// The text from the position of the fault to the end of its line, and the reason.
    fn fault_of(text: &str) -> (String, String) {
        let fault = read(text, Format::Toml).unwrap_err();
        let rest = &text[fault.place.offset as usize..];
        (rest.lines().next().unwrap_or_default().to_string(), fault.message)
    }

    fn at(text: &str) -> String {
        let (place, message) = fault_of(text);
        assert_eq!(message, "this is not TOML: a quote on this line is not closed", "{text}");
        place
    }

    #[test]
    fn a_quote_that_is_not_closed_is_reported_on_its_line() {
        assert_eq!(at("a = \"x\nb = 1\n"), "\"x");
        assert_eq!(at("a = 'x\nb = 1\n"), "'x");
        assert_eq!(at("a = [\n  { n = \"x, k = \"y\" },\n  { n = \"z\" },\n]\n"), "\"x, k = \"y\" },");
        assert_eq!(at("a = [\n  { n = \"x\", k = \"y },\n  { n = \"z\" },\n]\n"), "\"y },");
        assert_eq!(at("a = { n = \"x\n}\nb = 1\n"), "\"x");
        assert_eq!(at("a = x\"\n"), "\"");
        assert_eq!(at("\"a = 1\nb = \"\"\n"), "\"a = 1");
        assert_eq!(at("a = \"\"\"x\nb = 1\n"), "\"\"\"x");
    }

    #[test]
    fn a_table_that_is_not_closed_and_quotes_of_word_processors_are_named() {
        let open = fault_of("a = { x = 1\n[b]\nx = 1\n");
        assert_eq!(open.1, "this is not TOML: a table { … } above this line is not closed");
        assert!(open.0.starts_with("[b]"));
        let curly = fault_of("a = “10 Mb/s”\n").1;
        assert_eq!(curly, "this is not TOML: quotes must be straight: \"10 Mb/s\"");
    }

    #[test]
    fn quotes_that_are_closed_are_not_blamed() {
        for text in [
            "a = 'it' # don't\nb = \n",
            "a = \"\\\"\" # \"\nb = \n",
            "a = \"\"\"\n\"it's\" \"\"\"\"\nb = \n",
            "a = '''\n\" '''\nb = \n",
            "'a' . \"b\" = [\"x\", 'y']\nb = \n",
        ] {
            let (_, message) = fault_of(text);
            assert_eq!(message, "this is not TOML: the value is missing", "{text}");
        }
    }

    #[test]
    fn a_list_in_two_forms_names_both() {
        let text = "x = 1\nnode = [{ a = 1 }]\n[[link]]\n[[node]]\na = 1\n";
        let fault = fault_of(text);
        assert_eq!(fault.1, "node is given as a list in line 2 and as [[node]] here: use one form");
        assert_eq!(fault.0, "node]]");
        let table = fault_of("topology = { a = 1 }\n[topology]\n").1;
        assert_eq!(table, "topology is given as a table in line 1 and as [topology] here: use one form");
        assert_eq!(fault_of("[[a]]\n[a]\n").1, "a is given as [[a]] in line 1 and as [a] here: use one form");
    }

    #[test]
    fn a_key_that_is_given_twice_says_where_it_was_first() {
        assert_eq!(
            fault_of("b = 0\n[a]\nx = 1\ny = 2\nx = 2\n").1,
            "the key \"x\" is given twice, first in line 3"
        );
        assert_eq!(fault_of("[a]\n[b]\n[a]\n").1, "the key \"a\" is given twice, first in line 1");
        assert_eq!(fault_of("a = { x = 1, x = 2 }\n").1, "the key \"x\" is given twice");
    }

    #[test]
    fn a_text_without_quotes_is_shown_with_them() {
        assert_eq!(
            fault_of("a = 10 Mb/s # fast\n").1,
            "this is not TOML: a text stands in quotes: \"10 Mb/s\""
        );
        assert_eq!(
            fault_of("a = { b = epd, c = 1 }\n").1,
            "this is not TOML: a text stands in quotes: \"epd\""
        );
    }
}
