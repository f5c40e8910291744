//! Prepares texts from outside for messages: on one line, without control characters, and cut in the middle when
//! long.

/// Greatest number of characters of a value in a message.
pub const VALUE: usize = 60;

/// Greatest number of characters of a message.
pub const MESSAGE: usize = 300;

/// Quote a text on one line, in at most `most` characters: escapes stand for unprintable characters, an ellipsis for
/// the part cut out of the middle.
pub fn excerpt(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return cut(&printable(text), most);
    }
    let end = text.char_indices().nth_back(most - 1).map_or(0, |(start, _)| start);
    let head: String = text.chars().take(most).collect();
    cut(&(printable(&head) + &printable(&text[end..])), most)
}

/// Return a value in quotes, cut if it is long.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", excerpt(text, VALUE))
}

/// Cut a message to at most [`MESSAGE`] characters: in the list of what is allowed, if it ends with one.
pub fn fitted(message: String) -> String {
    let over = message.chars().count().saturating_sub(MESSAGE);
    let list = message.rfind(ALLOWED).map(|start| message.split_at(start + ALLOWED.len()));
    match list.map(|(head, list)| (head, list, list.chars().count())) {
        Some((head, list, length)) if over > 0 && length > over + LEAST_LIST => {
            format!("{head}{}", cut(list, length - over))
        }
        _ => cut(&message, MESSAGE),
    }
}

/// The beginning of the list of what is allowed, and the characters that must be left of it.
const ALLOWED: &str = " (allowed: ";
const LEAST_LIST: usize = 30;

/// Cut a printable text to at most `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_string();
    }
    let (head, tail) = (most / 2, most - most / 2 - 1);
    let parts =
        [text.chars().take(head).collect(), "…".to_string(), text.chars().skip(count - tail).collect()];
    parts.concat()
}

/// Return whether a character is a control character, breaks a line or reorders the text around it: a terminal executes
/// it instead of showing it.
pub fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if is_visible(c) { c.to_string() } else { c.escape_debug().to_string() }).collect()
}

/// Return whether a character is visible, or is a plain blank.
fn is_visible(c: char) -> bool {
    let hidden = is_control(c) || c.is_whitespace() || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}');
    !hidden || c == ' '
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_in_the_middle() {
        assert_eq!(excerpt("8192 cells", 10), "8192 cells");
        assert_eq!(excerpt("8192 cells!", 10), "8192 …lls!");
        assert_eq!(excerpt(&"é".repeat(1_000_000), 5), "éé…éé");
        assert_eq!(quoted(&"7".repeat(10_000)).chars().count(), VALUE + 2);
        assert_eq!(fitted("x".repeat(301)).chars().count(), MESSAGE);
    }

    #[test]
    fn of_a_long_message_the_list_of_what_is_allowed_is_cut_first() {
        let head = format!("{}: it is called \"codel\" here (allowed: ", "x".repeat(220));
        let told = fitted(format!("{head}{})", "name, ".repeat(40)));
        assert!(told.starts_with(&format!("{head}name, ")) && told.ends_with("name, )"), "{told}");
        assert_eq!(told.chars().count(), MESSAGE);
        assert_eq!(fitted(format!("{} (allowed: a)", "x".repeat(400))).chars().count(), MESSAGE);
    }

    #[test]
    fn what_does_not_print_is_escaped() {
        assert_eq!(excerpt("a\u{1b}[2J\n\0", 60), "a\\u{1b}[2J\\n\\0");
        assert_eq!(excerpt("5\u{a0}ms \"x\" it's \\", 60), "5\\u{a0}ms \"x\" it's \\");
        assert_eq!(excerpt("5\u{200b}ms e\u{301}", 60), "5\\u{200b}ms e\u{301}");
        assert!(excerpt(&"\u{1b}".repeat(99), 60).chars().all(|c| !is_control(c)));
        assert_eq!(excerpt(&"\u{202e}".repeat(99), 60).chars().count(), 60);
    }

    #[test]
    fn terminals_obey_control_characters_line_breaks_and_directions() {
        assert!("\0\t\n\u{1b}\u{7f}\u{9b}\u{2028}\u{202e}\u{2066}\u{feff}".chars().all(is_control));
        assert!(!"a ü → 東 👩‍🔬".chars().any(is_control));
    }
}
