//! Unknown names: the message about one, with the name that was probably meant.

use super::aliases::{key_meaning, meaning};
use super::unmodelled::{PAGE, is_unmodelled, is_vocabulary};
use crate::excerpt::quoted;

/// Return a message like: unknown key "bufer"; did you mean "buffer"? Allowed: …
pub fn unknown(what: &str, name: &str, allowed: &[&str]) -> String {
    unknown_but(what, name, nearest(name, allowed), allowed)
}

/// Like `unknown`, with another name as the suggestion.
pub(crate) fn unknown_but(what: &str, name: &str, near: Option<&str>, allowed: &[&str]) -> String {
    let near = match (elsewhere(what, name, allowed), near) {
        (Some(meaning), _) => format!(": {meaning}"),
        (None, Some(candidate)) => format!("; did you mean \"{candidate}\"?"),
        (None, None) => String::new(),
    };
    let list = listing(allowed, if near.is_empty() { LISTED } else { BESIDE });
    format!("unknown {what} {}{near} (allowed: {list})", quoted(name))
}

/// Explain a name that other programs or papers use: its name here, or that it is not modelled.
pub(crate) fn elsewhere(what: &str, name: &str, allowed: &[&str]) -> Option<String> {
    match what {
        _ if is_unmodelled(what, name) => Some(format!("not modelled yet, see {PAGE}")),
        "key" => key_meaning(name, allowed),
        _ if is_vocabulary(what) => meaning(name, allowed),
        _ => None,
    }
}

/// Return the allowed name that `name` probably misspells, if there is one. Swapped letters count as one mistake,
/// like a wrong, a missing or an additional letter; names with the same letters are preferred.
pub(crate) fn nearest<'a>(name: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let mistakes = |candidate: &&str| (distance(name, candidate), letters(name) != letters(candidate));
    let nearest = allowed.iter().copied().min_by_key(mistakes)?;
    is_near(name, nearest).then_some(nearest)
}

/// Return the unit that `unit` probably misspells: it differs in case or, if it is long, in a letter or two.
pub(crate) fn nearest_unit<'a>(unit: &str, units: &[&'a str]) -> Option<&'a str> {
    let same = units.iter().copied().find(|each| each.eq_ignore_ascii_case(unit));
    let long: Vec<&str> = units.iter().copied().filter(|each| each.len() > 2).collect();
    same.or_else(|| nearest(unit, &long).filter(|_| unit.len() > 2))
}

/// Return the letters of a name, in alphabetical order.
fn letters(name: &str) -> Vec<char> {
    let mut letters: Vec<char> = name.chars().collect();
    letters.sort_unstable();
    letters
}

/// Length in characters of the list of allowed names in a message that suggests no name.
pub(crate) const LISTED: usize = 160;
/// Length in characters of that list in a message that suggests a name.
const BESIDE: usize = 120;

/// List names in about `most` characters, at least one name, and say how many others there are.
pub(crate) fn listing(names: &[&str], most: usize) -> String {
    let ends = names.iter().scan(0, |end, name| {
        *end += name.chars().count() + ", ".len();
        Some(*end)
    });
    let shown = ends.take_while(|end| *end <= most + ", ".len()).count().max(1).min(names.len());
    let list = names[..shown].join(", ");
    match names.len() - shown {
        0 if names.is_empty() => "none".to_string(),
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

/// Return whether a name is probably a misspelling of the other: one mistake, or no more than half of the letters.
fn is_near(name: &str, other: &str) -> bool {
    let mistakes = distance(name, other);
    mistakes <= 1 || mistakes <= 1 + other.len() / 3 && 2 * mistakes <= name.len().max(other.len())
}

/// Return the number of edits between two names, without regard to case; a name that is far too long is not compared.
pub(crate) fn distance(name: &str, other: &str) -> usize {
    if name.len() > 200 {
        return usize::MAX;
    }
    strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_one_with_the_fewest_mistakes() {
        let names = ["tail-drop", "red", "udp", "epd"];
        assert_eq!(nearest("edp", &names), Some("epd"), "changed places come before a wrong letter");
        assert_eq!(nearest("taildrop", &names), Some("tail-drop"));
        assert_eq!(nearest("gatekeeper", &names), None);
        assert_eq!(nearest("EPD", &names), Some("epd"), "as papers write it");
        assert_eq!(nearest("Epd", &["ppd", "epd"]), Some("epd"));
        assert_eq!(nearest("Link", &["link", "LINK"]), Some("link"));
        assert_eq!(nearest("epd", &[]), None);
        assert_eq!(nearest("ib", &["fba"]), None, "one letter of three in its place is no misspelling");
    }
}
