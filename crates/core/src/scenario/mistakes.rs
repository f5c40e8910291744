//! Further mistakes of a scenario in which one was found, so that one reading reports all that it can.
//!
//! What is wrong is replaced or removed, and the rest is checked again. A mistake that could be a consequence is
//! left out: one that is not in a word itself (an unknown key, unit or value), one in the same table, unless the key is unknown there,
//! and any after a key that gives other tables their meaning.

use super::check::check;
use crate::language::set::Set;
use crate::language::tree::{Fault, Key, Node, TextPlace, Value};

/// Most mistakes that are reported at once, with the first.
const MOST: usize = 10;

/// Keys on which other keys depend: nothing is sought after a mistake in one of these.
const DECISIVE: [&str; 10] =
    ["adaptation", "data", "file", "from", "kind", "name", "policy", "template", "to", "topology"];

/// Values that are put in the place of a wrong one, which may be required: some quantity that can be read there.
const STAND_INS: [&str; 3] = ["1 s", "1 Mb/s", "1 MB"];

/// Return further mistakes in a scenario in which `first` was found.
pub(super) fn further(root: &Node, late: &[Set], first: &Fault) -> Vec<Fault> {
    let (mut root, mut late, mut last) = (root.clone(), late.to_vec(), first.clone());
    let (mut found, mut tables) = (Vec::new(), Vec::new());
    while found.len() + 1 < MOST && !is_decisive(&last) && !is_of_template(&root, &last) {
        if missing_at_top(&last).is_none() {
            tables.push(table_of(&last.path).to_string());
        }
        let Some((mended, next)) = without(&root, &mut late, &last) else { break };
        let is_elsewhere = !tables.iter().any(|table| table_of(&next.path) == table);
        if !is_certain(&next) || !is_elsewhere && !is_unknown(&next) {
            break;
        }
        found.push(next.clone());
        (root, last) = (mended, next);
    }
    found.sort_by_key(|fault| (fault.place.source, fault.place.offset));
    found
}

/// Replace what is wrong, or remove it where no stand-in can be read; return the rest, and the fault that is found in it.
fn without(root: &Node, late: &mut Vec<Set>, wrong: &Fault) -> Option<(Node, Fault)> {
    let before = late.len();
    late.retain(|set| wrong.place.source == 0 || set.value.place.source != wrong.place.source);
    let stand_ins = if is_unknown(wrong) { &[][..] } else { &STAND_INS[..] };
    for value in stand_ins.iter().copied().map(Some).chain([None]) {
        let mut rest = root.clone();
        let is_mended = match missing_at_top(wrong) {
            Some(key) => insert(&mut rest, key, value?),
            None => replace(&mut rest, wrong.place, value),
        };
        if !is_mended && late.len() == before {
            return None;
        }
        let next = check(&rest, late, None).err()?;
        if is_other(&next, wrong) {
            return Some((rest, next));
        }
    }
    None
}

/// Return whether a fault is another one than `wrong`: a template gives its parts other paths, which the file has in one place.
fn is_other(next: &Fault, wrong: &Fault) -> bool {
    match missing_at_top(wrong) {
        Some(_) => next.message != wrong.message,
        None => next.path != wrong.path && next.place != wrong.place,
    }
}

/// Return the key of the scenario itself whose absence is the fault.
fn missing_at_top(fault: &Fault) -> Option<&str> {
    let (key, _) = fault.message.strip_prefix("the key \"")?.split_once("\" is missing")?;
    fault.path.is_empty().then_some(key)
}

/// Give the scenario a key with this text.
fn insert(root: &mut Node, key: &str, text: &str) -> bool {
    let Value::Table(entries) = &mut root.value else { return false };
    let text = Node { value: Value::Text(text.to_string()), place: root.place };
    entries.push((Key { name: key.to_string(), place: root.place }, text));
    true
}

/// Return whether other keys depend on the key of a fault; without a key everything does.
fn is_decisive(fault: &Fault) -> bool {
    let key = fault.path.rsplit('.').next().unwrap_or_default();
    !is_unknown(fault) && missing_at_top(fault).is_none() && (key.is_empty() || DECISIVE.contains(&key))
}

/// Return whether the fault is of an entry that a template makes: its place is that of the template, which must stay.
fn is_of_template(root: &Node, fault: &Fault) -> bool {
    let is_there = root.get("topology").is_some_and(|node| node.place == fault.place);
    is_there && !fault.path.starts_with("topology")
}

/// Return whether the fault is in a word itself, so that no other key can be its cause.
fn is_certain(fault: &Fault) -> bool {
    let is_in_word = fault.message.contains("unknown ") || fault.message.contains("the unit is missing");
    is_in_word || missing_at_top(fault).is_some()
}

/// Return whether the fault is that a table does not have this key.
fn is_unknown(fault: &Fault) -> bool {
    fault.message.starts_with("unknown key")
}

/// Return the path of the table that has the key of a path.
fn table_of(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(table, _)| table)
}

/// Give the key that is at a place, or whose value is, this text, or remove it; a table or a list of tables stays. Returns
/// whether there is such a key.
fn replace(node: &mut Node, place: TextPlace, text: Option<&str>) -> bool {
    match &mut node.value {
        Value::Table(entries) => {
            let is_wrong =
                |key: TextPlace, item: &Node| key == place || item.place == place && is_plain(item);
            let Some(index) = entries.iter().position(|(key, item)| is_wrong(key.place, item)) else {
                return entries.iter_mut().any(|(_, item)| replace(item, place, text));
            };
            match text {
                Some(text) => entries[index].1.value = Value::Text(text.to_string()),
                None => drop(entries.remove(index)),
            }
            true
        }
        Value::List(items) => items.iter_mut().any(|item| replace(item, place, text)),
        _ => false,
    }
}

/// Return whether a value has no keys.
fn is_plain(node: &Node) -> bool {
    match &node.value {
        Value::Table(_) => false,
        Value::List(items) => items.iter().all(is_plain),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::load;

    #[test]
    fn a_flow_of_the_template_without_a_source_leaves_its_hosts_known() {
        let text = LAN.replace("1 sec", "1 s").replace("MB/s", "Mb/s").replace(", bandwith = \"1 Mb/s\"", "");
        let text = text.split("[port.bottleneck]").next().unwrap().to_string();
        let flow = "[[flow]]\nname = 'mine'\nfrom = 'source1'\nto = 'sink2'\n\
                    source = { kind = 'greedy' }\ntransport = { kind = 'tcp' }\n";
        let told = load(&(text.clone() + flow), "lan.toml", &[]).err().unwrap();
        let remedy = "in the flow, or leave out the flows of the template with topology.flows = \"none\"";
        assert!(told.message.contains(remedy), "{}", told.message);
        assert!(told.further.is_empty(), "{:?}", told.further);
        let own = text.replace("sources = 2", "sources = 2\nflows = 'none'") + flow;
        let scenario = load(&own, "lan.toml", &[]).unwrap_or_else(|why| panic!("{own}\n{why}"));
        assert_eq!(scenario.flows.iter().map(|flow| &*flow.name).collect::<Vec<_>>(), ["mine"]);
    }

    const LAN: &str = r#"name = "lan"
duration = "1 sec"
adaptation = { kind = "packet" }
[topology]
template = "dumbbell"
sources = 2
access = { rate = "10 Mb/s", delay = "1 us" }
bottleneck = { rate = "20 MB/s", delay = "2 us", bandwith = "1 Mb/s" }
egress = { rate = "30 Mb/s", delay = "3 us" }
[port.bottleneck]
buffer = "100 pakets"
admission = { policy = "codel", target = "5 msec" }
[flows]
source = { kind = "greedy" }
transport = { kind = "tcp", mss = 1460, cc = "cubic" }
"#;

    fn messages(text: &str, sets: &[&str]) -> Vec<String> {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let refusal = load(text, "lan.toml", &sets).err().unwrap();
        [vec![refusal.message.split('\n').next().unwrap().to_string()], refusal.further].concat()
    }

    #[test]
    fn mistakes_in_different_tables_are_reported_together() {
        let all = messages(LAN, &[]);
        for (line, part) in [
            (2, "write \"1 s\""),
            (8, "bandwith"),
            (11, "packets"),
            (12, "write \"5 ms\""),
            (15, "congestion"),
        ] {
            let place = format!("lan.toml:{line}:");
            assert!(all.iter().any(|one| one.starts_with(&place) && one.contains(part)), "{line}: {all:#?}");
        }
        assert!(all.len() <= super::MOST);
    }

    #[test]
    fn keys_that_a_scenario_lacks_hide_no_other_mistake() {
        let bare = LAN.replace("name = \"lan\"\nduration = \"1 sec\"\n", "").replace("mss = 1460, ", "");
        let all = messages(&bare, &[]);
        for part in ["the key \"name\" is missing", "the key \"duration\" is missing", "bandwith", "pakets"] {
            assert!(all.iter().any(|one| one.contains(part)), "{part}: {all:#?}");
        }
    }

    #[test]
    fn a_stand_in_for_a_wrong_value_is_not_reported_itself() {
        let lan = include_str!("../../../../scenarios/lan.toml");
        let idle = lan.replace("bottleneck = { rate = \"149.76 Mb/s\"", "bottleneck = { rate = \"0 Mb/s\"");
        let all = messages(&idle, &[]);
        assert!(all.len() == 1 && all[0].contains("must be greater than 0 b/s"), "{all:#?}");
    }

    #[test]
    fn one_mistake_is_reported_alone_and_so_is_one_on_which_others_depend() {
        let right = LAN
            .replace("1 sec", "1 s")
            .replace("20 MB/s", "20 Mb/s")
            .replace(", bandwith = \"1 Mb/s\"", "")
            .replace("pakets", "packets")
            .replace("msec", "ms")
            .replace(", cc = \"cubic\"", "");
        load(&right, "lan.toml", &[]).unwrap();
        assert_eq!(messages(&right, &["port.bottleneck.buffer=1 pakets"]).len(), 1);
        assert_eq!(
            messages(&right.replace("codel", "kodel"), &[]).len(),
            1,
            "its parameters are of no policy"
        );
        assert_eq!(
            messages(&right.replace("access = ", "acces = "), &[]).len(),
            1,
            "the key is missing because of it"
        );
        let share = include_str!("../../../../scenarios/lan.toml").replace("8192 cells", "0 cells");
        assert_eq!(messages(&share, &[]).len(), 1, "without a buffer the threshold of 90 % has no meaning");
    }
}
