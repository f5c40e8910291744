//! Documentation of the code as text for people.

/// Join a paragraph to one line, without links to items of the code.
pub(crate) fn plain(doc: &str) -> String {
    unlinked(&doc.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Remove links to items of the code from a line: `` [`item`] `` and `[words](item)` become words,
/// `[words](https://…)` stays.
pub(crate) fn unlinked(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once('[') {
        text += before;
        let Some((label, behind)) = after.split_once(']') else { return text + "[" + after };
        let target = behind.strip_prefix('(').and_then(|target| target.split_once(')'));
        match target {
            Some((target, end)) if !target.contains('/') => {
                text += label;
                rest = end;
            }
            None if label.starts_with('`') => {
                text += label;
                rest = behind;
            }
            _ => {
                text = format!("{text}[{label}]");
                rest = behind;
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_into_the_code_become_words() {
        assert_eq!(unlinked("a [`Sender`] and [one](super::Sender), [1] too"), "a `Sender` and one, [1] too");
        assert_eq!(
            unlinked("see [page](https://example.org/x) [open"),
            "see [page](https://example.org/x) [open"
        );
    }
}
