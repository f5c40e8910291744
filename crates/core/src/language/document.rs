//! A file that is written like a scenario but is not one, such as a sweep: its values, and messages that give the
//! position of a fault.

use super::message::Sources;
use super::read::{self, Format};
use super::spec::Table;
use super::tree::{Fault, Key, Node, Value};

/// Content of a TOML or JSON text.
#[derive(Clone, Debug)]
pub struct Document {
    name: String,
    text: String,
    root: Node,
}

impl Document {
    /// Read a text, which must be a table of keys; messages call the text `name`.
    pub fn read(text: String, name: String) -> Result<Document, String> {
        let is_table = |root: &Node| Table::new(root, "").map(|_| ());
        let read = read::read(&text, Format::of(&name, &text));
        match read.and_then(|root| is_table(&root).map(|()| root)) {
            Ok(root) => Ok(Document { name, text, root }),
            Err(fault) => Err(Sources { name: &name, text: &text, sets: &[] }.tell(fault, None)),
        }
    }

    /// Return the table of values.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Return a message with the position of the value at a path, or of its key, or of the longest existing part of
    /// the path. The path gives an entry of a list by its position.
    pub fn tell(&self, path: &[String], key: bool, message: &str) -> String {
        let mut place = self.root.place;
        let mut node = Some(&self.root);
        for (index, name) in path.iter().enumerate() {
            let Some((found, next)) = node.and_then(|node| entry(node, name)) else { break };
            let last = index + 1 == path.len();
            place = found.filter(|_| last && key).map_or(next.place, |found| found.place);
            node = Some(next);
        }
        let fault = Fault::at(place, message);
        Sources { name: &self.name, text: &self.text, sets: &[] }.tell(fault, None)
    }
}

/// Return an entry of a table with its key, or an entry of a list.
fn entry<'a>(node: &'a Node, name: &str) -> Option<(Option<&'a Key>, &'a Node)> {
    match &node.value {
        Value::Table(entries) => {
            entries.iter().find(|(key, _)| key.name == name).map(|(key, node)| (Some(key), node))
        }
        Value::List(items) => Some((None, items.get(name.parse::<usize>().ok()?)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_line(path: &[&str], key: bool) -> String {
        let text = "reps = 5\n[grid]\na.b = [1, 2]\n[[zip]]\nc = 3\n[[zip]]\n".to_string();
        let document = Document::read(text, "s.toml".to_string()).unwrap();
        let path: Vec<String> = path.iter().map(|name| name.to_string()).collect();
        document.tell(&path, key, "no").lines().next().unwrap().to_string()
    }

    #[test]
    fn a_message_stands_at_the_value_or_at_its_key() {
        assert_eq!(first_line(&["reps"], false), "s.toml:1:8: no");
        assert_eq!(first_line(&["reps"], true), "s.toml:1:1: no");
        assert_eq!(first_line(&["grid", "a", "b"], false), "s.toml:3:7: no");
        assert_eq!(first_line(&["grid", "a", "b", "1"], false), "s.toml:3:11: no");
        assert_eq!(first_line(&["zip", "0", "c"], false), "s.toml:5:5: no");
    }

    #[test]
    fn a_missing_value_is_reported_where_its_path_ends() {
        assert_eq!(first_line(&["grid", "x"], false), "s.toml:2:2: no");
        assert_eq!(first_line(&["zip", "1", "c"], false), "s.toml:6:3: no");
        assert_eq!(first_line(&["zip", "7"], false), "s.toml:4:3: no");
        assert_eq!(first_line(&[], false), "s.toml:1:1: no");
    }

    #[test]
    fn the_line_is_shown_below_the_message() {
        let document = Document::read("a = 1\nb = 2\n".to_string(), "s.toml".to_string()).unwrap();
        assert_eq!(document.tell(&["b".to_string()], false, "no"), "s.toml:2:5: no\n 2 | b = 2\n   |     ^");
        let refused = Document::read("a = \n".to_string(), "s.toml".to_string()).unwrap_err();
        assert!(refused.starts_with("s.toml:1:5: this is not TOML: "), "{refused}");
        let refused = Document::read("[1, 2]".to_string(), "s.json".to_string()).unwrap_err();
        assert!(refused.starts_with("s.json:1:1: must be a table of keys, not a list"), "{refused}");
    }
}
