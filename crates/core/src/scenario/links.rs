//! Links: two lines each, or one, with their names, rates and media.

use std::sync::Arc;

use super::file::{BackSection, LinkSection};
use super::model::{Line, Medium, NetworkNode, NodeKind, Port, Routing};
use super::ports::{DEFAULT, Ports};
use crate::adaptation;
use crate::language::item::Item;
use crate::language::names::NameIndex;
use crate::language::spec::{Field, Nested, Section};
use crate::language::tree::{self, Fault, arrow};
use crate::link::gate::delay::{Delay, LONGEST};
use crate::link::gate::repeat;
use crate::link::law::{FASTEST, Law, SLOWEST};
use crate::units::ids::{IdVec, LineId, NodeId};
use crate::units::{Bytes, PartsPerMillion, Rate, Span};

/// The greatest weight of a link among equal ones.
const MOST_WEIGHT: u32 = 65_535;

/// Check all links and build their lines; the line of the other direction follows that of the link.
pub(super) fn check(
    entries: &[tree::Node],
    nodes: &IdVec<NodeId, NetworkNode>,
    node_names: &NameIndex,
    adaptation: &adaptation::Spec,
) -> Result<IdVec<LineId, Line>, Fault> {
    let mut names = NameIndex::default();
    let plain = [Medium::Cells, Medium::Packets].map(|medium| (medium, Arc::new(Ports::plain(medium))));
    let mut lines = Vec::with_capacity(2 * entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let item = Item::<LinkSection>::entry(entry, "link", index)?;
        let forth = forth(&item, nodes, node_names, adaptation, &plain)?;
        let first = lines.len();
        let back = if item.it.duplex { Some(back(&item, &forth, LineId::new(first))?) } else { None };
        lines.push(Line { back: back.as_ref().map(|_| LineId::new(first + 1)), ..forth });
        lines.extend(back);
        for line in &lines[first..] {
            let more = if item.it.name.is_none() { "; give this link a name of its own" } else { "" };
            names.add(&line.name).map_err(|why| item.fault("name", why + more))?;
        }
    }
    Ok(lines.into())
}

/// Build the line of a link from its start to its end.
fn forth(
    item: &Item<'_, LinkSection>,
    nodes: &IdVec<NodeId, NetworkNode>,
    names: &NameIndex,
    adaptation: &adaptation::Spec,
    plain: &[(Medium, Arc<Port>)],
) -> Result<Line, Fault> {
    let link = &item.it;
    let end = |key, name: &str| names.find("node", name).map(NodeId::new).map_err(|why| item.fault(key, why));
    let (from, to) = (end("from", &link.from)?, end("to", &link.to)?);
    item.ensure(from != to, "to", "must be a node other than that of from")?;
    let reserved = "this stands for all ports without a section of their own; choose another name";
    item.ensure(link.name.as_deref() != Some(DEFAULT), "name", reserved)?;
    item.ensure(link.class != DEFAULT, "class", reserved)?;
    let simplex = "a link with duplex = false has no other direction";
    item.ensure(link.duplex || link.back.is_none(), "back", simplex)?;
    let default = match adaptation {
        adaptation::Spec::Aal5(_) => Medium::Cells,
        adaptation::Spec::Packet(_) => Medium::Packets,
    };
    let medium = link.medium.unwrap_or(default);
    [from, to].into_iter().try_for_each(|end| check_medium(item, &nodes[end], medium))?;
    check_rate(item, "rate", &link.rate)?;
    check_law_of_delay(item, "delay", &link.delay)?;
    check_delay(item, "pause", link.pause)?;
    let can_rest = link.pause == Span::ZERO || nodes[from].kind == NodeKind::Host;
    item.ensure(can_rest, "pause", "only a host rests between frames")?;
    let (name, class) = (link.name.clone(), link.class.clone());
    let name = name.unwrap_or_else(|| arrow(&link.from, &link.to));
    let (rate, delay, rest) = (link.rate.clone(), link.delay.clone(), link.pause);
    let repeat = repeats(item, "repeat", link.repeat.as_ref(), medium)?;
    let (minimum, weight) = (minimum(item, medium, adaptation)?, link.weight);
    let message = format!("must be from 1 to {MOST_WEIGHT}");
    item.ensure((1..=MOST_WEIGHT).contains(&weight), "weight", &message)?;
    let port = plain.iter().find(|(of, _)| *of == medium).map(|(_, port)| Arc::clone(port));
    let port = port.expect("a plain port for every medium");
    Ok(Line { name, class, from, to, rate, delay, repeat, rest, weight, minimum, medium, back: None, port })
}

/// Build the line in the other direction of line number `first`. Its name is "b->a" for "a->b", "b->a.2" for
/// "a->b.2", and otherwise "NAME.back".
fn back(item: &Item<'_, LinkSection>, forth: &Line, first: LineId) -> Result<Line, Fault> {
    let link = &item.it;
    let none = BackSection { rate: None, delay: None, repeat: None };
    let BackSection { rate, delay, repeat } = link.back.as_ref().map_or(none, |back| back.0.clone());
    let number = forth.name.strip_prefix(&arrow(&link.from, &link.to));
    let name = match number.filter(|number| number.is_empty() || number.starts_with('.')) {
        Some(number) => arrow(&link.to, &link.from) + number,
        None => format!("{}.back", forth.name),
    };
    let class = if forth.class.is_empty() { String::new() } else { format!("{}.back", forth.class) };
    let (rate, delay) =
        (rate.unwrap_or_else(|| link.rate.clone()), delay.unwrap_or_else(|| forth.delay.clone()));
    check_rate(item, "back.rate", &rate)?;
    check_law_of_delay(item, "back.delay", &delay)?;
    let repeat = match &repeat {
        None => forth.repeat.clone(),
        repeat => repeats(item, "back.repeat", repeat.as_ref(), forth.medium)?,
    };
    let (from, to) = (forth.to, forth.from);
    let (minimum, weight, medium, port) =
        (forth.minimum, forth.weight, forth.medium, Arc::clone(&forth.port));
    Ok(Line {
        name,
        class,
        from,
        to,
        rate,
        delay,
        repeat,
        rest: Span::ZERO,
        weight,
        minimum,
        medium,
        back: Some(first),
        port,
    })
}

/// Refuse weights of links where no choice among equal lines follows them.
pub(super) fn check_weights(entries: &[tree::Node], routing: Routing) -> Result<(), Fault> {
    if routing != Routing::First {
        return Ok(());
    }
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.get("weight").is_some()) {
        let item = Item::<LinkSection>::entry(entry, "link", index)?;
        let message = "must be left out with routing = \"first\", which takes the first of equal lines: set routing = \"ecmp\"";
        item.ensure(item.it.weight == 1, "weight", message)?;
    }
    Ok(())
}

/// Return the least octets of units on the lines of a link.
fn minimum(
    item: &Item<'_, LinkSection>,
    medium: Medium,
    adaptation: &adaptation::Spec,
) -> Result<u16, Fault> {
    let of_adaptation = if medium == Medium::Packets { adaptation.minimum() } else { Bytes(0) };
    if let Some(minimum) = item.it.minimum {
        let cells = "must be left out on a link of cells, which all take 53 bytes";
        item.ensure(medium == Medium::Packets, "minimum", cells)?;
        adaptation::packet::check_minimum(minimum).map_err(|refused| item.fault("minimum", refused.why))?;
        let least =
            format!("must be at least {} bytes, to which the adaptation pads every packet", of_adaptation.0);
        item.ensure(minimum >= of_adaptation, "minimum", &least)?;
    }
    Ok(u16::try_from(item.it.minimum.unwrap_or(of_adaptation).0).expect("a checked minimum"))
}

fn check_rate(item: &Item<'_, LinkSection>, key: &str, rate: &Law) -> Result<(), Fault> {
    let Law::Constant(rate) = *rate else { return Ok(()) }; // laws check their rates themselves
    item.ensure(rate > Rate(0), key, "must be greater than 0 b/s")?;
    item.ensure(rate >= SLOWEST, key, "must be at least 1 kb/s")?;
    item.ensure(rate <= FASTEST, key, "must be at most 100 Tb/s")
}

/// Refuse a constant delay that is unrealistically long; steps check theirs themselves.
fn check_law_of_delay(item: &Item<'_, LinkSection>, key: &str, delay: &Delay) -> Result<(), Fault> {
    match delay {
        Delay::Constant(delay) => check_delay(item, key, *delay),
        Delay::Steps(_) => Ok(()),
    }
}

/// Return the repetitions of a line; `None` also for a share of 0 %.
fn repeats(
    item: &Item<'_, LinkSection>,
    key: &str,
    given: Option<&Nested<repeat::Params>>,
    medium: Medium,
) -> Result<Option<Arc<repeat::Params>>, Fault> {
    let Some(Nested(params)) = given else { return Ok(None) };
    item.ensure(medium == Medium::Packets, key, "must be left out on a link of cells: it repeats packets")?;
    params.check().map_err(|refused| item.refuse(key, refused))?;
    Ok((params.share > PartsPerMillion(0)).then(|| Arc::new(params.clone())))
}

/// Refuse a delay that is unrealistically long.
pub(super) fn check_delay<T: Section>(item: &Item<'_, T>, key: &str, delay: Span) -> Result<(), Fault> {
    item.ensure(delay <= LONGEST, key, "must be at most an hour")
}

/// Refuse a medium that a node cannot forward: switches forward cells, routers packets; hosts can have both.
fn check_medium(item: &Item<'_, LinkSection>, node: &NetworkNode, medium: Medium) -> Result<(), Fault> {
    let (forwards, other) = match (node.kind, medium) {
        (NodeKind::Switch, Medium::Packets) => ("cells", "router"),
        (NodeKind::Router, Medium::Cells) => ("packets", "switch"),
        _ => return Ok(()),
    };
    let word = |json: serde_json::Value| json.as_str().unwrap_or_default().to_string();
    let (carries, kind) = (word(medium.write()), word(node.kind.write()));
    let is = format!("this link carries {carries}, but {:?} is a {kind} and forwards {forwards}", node.name);
    Err(item.fault("medium", format!("{is}; make it a {other}, or set medium = {forwards:?}")))
}
