//! The transfers of a workload, as if the scenario listed them as flows.

use super::expand::SectionedFile;
use super::file::FlowSection;
use super::model::Workload;
use crate::language::item::Item;
use crate::language::spec::{Field, read_section};
use crate::language::tree::{Fault, Key, Node, TextPlace, Value, join};
use crate::language::values::FileText;
use crate::units::Span;
use crate::workload::Spec;
use crate::workload::list;
use crate::workload::order::Order;
use crate::workload::rows::{LATEST, Row, RowFault, parse};

/// Keys of `[flows]` that a workload gives for each transfer, or that join flows.
pub(super) const GIVEN: [&str; 6] = ["source", "start", "start_spread", "stop", "pvc", "connections"];

/// Keys of a flow that a row gives, and of which a fault is that of the row.
const OF_ROWS: [&str; 4] = ["name", "from", "to", "queue"];

/// Read the section of the workload, with the rows of its file.
pub(super) fn read(file: &SectionedFile<'_>) -> Result<Option<Spec>, Fault> {
    let Some(node) = file.workload else { return Ok(None) };
    let mut spec = Spec::read(node, "workload")?;
    let Spec::TransferList(params) = &mut spec;
    let rows = params.file.as_ref().and_then(|name| file.rows?.get(name));
    if let (None, Some(rows)) = (&params.data, rows) {
        params.data = Some(FileText::read(rows, list::Params::TABLE)?);
    }
    match (&params.file, &params.data) {
        (_, Some(_)) => Ok(Some(spec)),
        (None, None) => Err(node.fault("workload", "must have the key file: the list of transfers")),
        (Some(_), None) => {
            let why = "the file has not been read; only pushout reads files, and an override cannot name another one";
            Err(node.fault_along("workload", "file", why))
        }
    }
}

/// A list of transfers, before they have routes.
pub(super) struct List<'a> {
    params: &'a list::Params,
    node: &'a Node,
    pub(super) rows: Vec<Row<'a>>,
    names: Vec<String>,
    /// What all transfers have in common.
    pub(super) flow: FlowSection,
    /// The defaults of flows, as a table.
    pub(super) defaults: Node,
    pub(super) order: Option<Order>,
}

impl<'a> List<'a> {
    /// Read the rows of a list, at most `most`.
    pub(super) fn new(file: &SectionedFile<'a>, spec: &'a Spec, most: usize) -> Result<List<'a>, Fault> {
        let Spec::TransferList(params) = spec;
        let node = file.workload.expect("a list is read from its section");
        check_defaults(file)?;
        let text = &params.data.as_ref().expect("a list that has been read has rows").0;
        let at = |RowFault { line, why }| fault(params, node, line, &why);
        let rows = parse(text, most).map_err(at)?;
        let name = |(number, row): (usize, &Row<'_>)| match row.name {
            "" => format!("{}.{}", Workload::NAME, number + 1),
            name => name.to_string(),
        };
        let names: Vec<String> = rows.iter().enumerate().map(name).collect();
        let order = Order::new(&rows, &names).map_err(at)?;
        check_delay(params.after_delay, &rows)
            .map_err(|why| node.fault_along("workload", "after_delay", why))?;
        let mut defaults = file.with_defaults(&template(node.place), 0)?;
        let flow = read_section(&defaults, "flows")?;
        if let Value::Table(keys) = &mut defaults.value {
            keys.retain(|(key, _)| !OF_ROWS.contains(&key.name.as_str())); // messages show values of rows instead
        }
        Ok(List { params, node, rows, names, flow, defaults, order })
    }

    /// Return a transfer as an entry of `[[flow]]`, between hosts with these names.
    pub(super) fn flow(&self, number: usize, [from, to]: [&str; 2]) -> Item<'_, FlowSection> {
        let row = &self.rows[number];
        let or = |own: &str, default: &str| if own.is_empty() { default } else { own }.to_string();
        let it = FlowSection {
            name: self.names[number].clone(),
            from: from.to_string(),
            to: to.to_string(),
            start: if row.waits() { row.start + self.params.after_delay } else { row.start },
            queue: if row.queue.is_empty() { self.flow.queue.clone() } else { Some(row.queue.to_string()) },
            class: or(row.class, &self.flow.class),
            ..self.flow.clone()
        };
        Item { it, node: &self.defaults, path: "flows".to_string() }
    }

    /// Build the fault of a row.
    pub(super) fn fault(&self, number: usize, why: &str) -> Fault {
        fault(self.params, self.node, self.rows[number].line, why)
    }

    /// Blame a row for a fault of its flow, unless the fault is in what all transfers have in common.
    pub(super) fn blame(&self, number: usize, wrong: Fault) -> Fault {
        match OF_ROWS.into_iter().find(|key| wrong.path == join("flows", key)) {
            Some(key) => self.fault(number, &Fault { path: key.to_string(), ..wrong }.to_string()),
            None => wrong,
        }
    }
}

/// Refuse a delay that no transfer has, or with which a transfer could start only after the longest run.
fn check_delay(delay: Span, rows: &[Row<'_>]) -> Result<(), &'static str> {
    match rows.iter().filter(|row| row.waits()).map(|row| row.start).max() {
        None if delay > Span::ZERO => Err("must be 0 s where no row names transfers in the column after"),
        Some(start) if delay > LATEST - start => {
            Err("must be at most 50 days together with the start of a row that waits")
        }
        _ => Ok(()),
    }
}

fn fault(params: &list::Params, node: &Node, line: u32, why: &str) -> Fault {
    let key = params.key();
    node.along(key).fault(&join("workload", key), format!("{}: {why}", params.place(line)))
}

/// Refuse defaults of flows that contradict a workload.
fn check_defaults(file: &SectionedFile<'_>) -> Result<(), Fault> {
    let Some(Node { value: Value::Table(keys), .. }) = file.flows else { return Ok(()) };
    match keys.iter().find(|(key, _)| GIVEN.contains(&key.name.as_str())) {
        None => Ok(()),
        Some((key, _)) => {
            let message = "cannot be a default beside [workload], which says what is sent and when; leave the key out, or write \
                           it in a [[flow]]";
            Err(Fault { place: key.place, path: join("flows", &key.name), message: message.to_string() })
        }
    }
}

/// Return the table of a flow that has nothing but what every transfer has: data for its transport.
fn template(place: TextPlace) -> Node {
    let text = |(key, text): (&str, &str)| {
        let text = Node { value: Value::Text(text.to_string()), place };
        (Key { name: key.to_string(), place }, text)
    };
    let mut keys: Vec<(Key, Node)> = [("name", Workload::NAME), ("from", ""), ("to", "")].map(text).into();
    let source = Node { place, ..Node::named("kind", "greedy") };
    keys.push((Key { name: "source".to_string(), place }, source));
    Node { value: Value::Table(keys), place }
}
