//! Questions as texts, for callers in other languages.

use pushout_core::buffer;
use pushout_core::language::read::{Format, read};
use pushout_core::language::registry::Entry;
use pushout_core::language::spec::Field;
use pushout_core::language::tree::{Fault, Key, Node, TextPlace, Value};
use pushout_core::memory::decide::Policies;
use pushout_core::memory::decide::lossless::Headroom;
use pushout_core::memory::{pushout, sharing};
use pushout_core::words::nearest::unknown;

use crate::frames::{Frames, Port};
use crate::never::Event;
use crate::pauses::{Pauses, Senders};
use crate::ratio::Ratio;
use crate::side::Memory;
use crate::{Failure, MOST_VISITED, Question, Subject, Watch};

impl Question {
    /// Read a question: a JSON object with `policy` and perhaps `against`, each a table of a memory's policies or of one of
    /// them, and with `ports`, `memory` and `states`.
    pub fn read(text: &str) -> Result<Question, Failure> {
        Question::of(&read(text, Format::Json)?)
    }

    fn of(node: &Node) -> Result<Question, Failure> {
        let number = |key: &str| match node.get(key) {
            Some(node) => u64::read(node, key),
            None => Err(node.fault(key, "must be given")),
        };
        let question = Question {
            subject: subject(node)?,
            ports: usize::try_from(number("ports")?).unwrap_or(usize::MAX),
            cells: number("memory")?,
            limit: usize::try_from(number("states")?).unwrap_or(usize::MAX),
            reach: node.get("reach").map(|reach| fraction(reach, "reach")).transpose()?,
            searches: node.get("search").map_or(Ok(false), |search| bool::read(search, "search"))?,
        };
        question.check(MOST_VISITED)?;
        question.try_policies(node)?;
        Ok(question)
    }

    /// Build each policy once, for a refusal with the value of the key that is wrong.
    fn try_policies(&self, node: &Node) -> Result<(), Failure> {
        let table = |key| node.get(key).expect("a policy was read");
        match &self.subject {
            Subject::Memory { policies, against } => {
                let pairs = std::iter::once(("policy", policies))
                    .chain(against.iter().map(|other| ("against", other)));
                for (key, policies) in pairs {
                    let built = Memory::new(policies, self.cells, self.ports);
                    built.map_err(|why| refused(table(key), key, why.key, &why.why))?;
                }
                Ok(())
            }
            Subject::Frames { policy, length } => {
                let frames = Frames { length: *length, circuits: self.ports, cells: self.cells };
                let built = Port::new(policy, frames);
                built.map_err(|why| refused(table("policy"), "policy", why.key, &why.why))?;
                Ok(())
            }
            Subject::Pauses { scheme, pauses } => {
                let built = Senders::new(scheme, self.cells, self.ports, *pauses);
                built.map_err(|why| match why.key {
                    Some("memory") => node.fault("memory", why.why),
                    key => refused(table("policy"), "policy", key, &why.why),
                })?;
                Ok(())
            }
        }
    }

    /// Answer the question of a text with a document: the worst ratio, or with `never` whether an event never happens.
    pub fn ask(text: &str, watch: Watch<'_>) -> Result<String, Failure> {
        let node = read(text, Format::Json)?;
        let question = Question::of(&node)?;
        let document = match node.get("never") {
            Some(never) => question.never(question.event(&node, never)?, watch)?.document(&question),
            None if asks_for_delay(&node)? => question.delay(watch)?.document(&question),
            None => question.answer(watch)?.document(&question),
        };
        Ok(document.to_string())
    }

    /// Read the event that shall never happen; nothing else can be asked about beside it.
    fn event(&self, question: &Node, never: &Node) -> Result<Event, Fault> {
        if let Some(key) = ["against", "reach"].into_iter().find(|key| question.get(key).is_some()) {
            return Err(question.fault(key, "must be left out with never, which is about the policy alone"));
        }
        let name = String::read(never, "never")?;
        Event::read(&name, &self.subject).map_err(|why| never.fault("never", why))
    }
}

/// Return whether the objective of a question is the longest delay; by default it is what both sides send.
fn asks_for_delay(question: &Node) -> Result<bool, Fault> {
    let Some(objective) = question.get("objective") else { return Ok(false) };
    let name = String::read(objective, "objective")?;
    match name.as_str() {
        "throughput" => Ok(false),
        "delay" => match ["against", "reach", "search"].into_iter().find(|key| question.get(key).is_some()) {
            None => Ok(true),
            Some(key) => Err(question
                .fault(key, "must be left out with the objective delay, which is about the policy alone")),
        },
        _ => Err(objective.fault("objective", unknown("objective", &name, &["throughput", "delay"]))),
    }
}

/// Read the policy of a question: that of a port if frames are given, else of a memory.
fn subject(node: &Node) -> Result<Subject, Fault> {
    if let Some(pause) = node.get("pause") {
        return paused(node, pause);
    }
    let Some(frames) = node.get("frames") else {
        let against = node.get("against").map(|_| policies(node, "against")).transpose()?;
        return Ok(Subject::Memory { policies: policies(node, "policy")?, against });
    };
    if let Some(against) = node.get("against") {
        return Err(against.fault("against", "must be left out: frames are compared with the optimum"));
    }
    let table = node.get("policy").ok_or_else(|| node.fault("policy", "must be given"))?;
    let length = u64::read(frames, "frames")?;
    Ok(Subject::Frames {
        policy: buffer::admission::Spec::read(table, "policy")?,
        length: u16::try_from(length).unwrap_or(u16::MAX),
    })
}

/// Read a memory that stops its senders.
fn paused(node: &Node, pause: &Node) -> Result<Subject, Fault> {
    if let Some(key) = ["frames", "against"].into_iter().find(|key| node.get(key).is_some()) {
        return Err(
            node.fault(key, "must be left out with pause, which is about packets and the policy alone")
        );
    }
    if node.get("never").is_none() {
        return Err(pause.fault("pause", "needs never, as in never lossless_drop"));
    }
    let Policies { admission: scheme, pushout: None } = policies(node, "policy")? else {
        return Err(node.fault("policy", "must be a scheme that divides a memory: push-out loses packets"));
    };
    let number = |key: &str| pause.get(key).map(|node| u64::read(node, key)).transpose();
    let needed = |key: &str| number(key)?.ok_or_else(|| pause.fault("pause", format!("must have {key}")));
    let (xoff, response) = (needed("xoff")?, needed("response")?);
    let senders = u64::read(node.get("ports").ok_or_else(|| node.fault("ports", "must be given"))?, "ports")?;
    let all = number("headroom")?.unwrap_or_else(|| xoff.saturating_mul(senders));
    let headroom = Headroom { xoff, xon: number("xon")?.unwrap_or(0), all };
    Ok(Subject::Pauses { scheme, pauses: Pauses { headroom, response } })
}

/// Read a ratio.
fn fraction(node: &Node, key: &str) -> Result<Ratio, Fault> {
    let ratio = node.text().and_then(Ratio::read);
    ratio
        .ok_or_else(|| node.fault(key, format!("must be a fraction above 0, as in 5/4, not {}", node.show())))
}

/// Build the fault of a policy, with the value of the key that is wrong.
fn refused(table: &Node, path: &str, key: Option<&str>, why: &str) -> Fault {
    match key {
        Some(key) => table.fault_along("", key, why),
        None => table.fault(path, why),
    }
}

/// Read the policies under a key: a table with `admission` or `pushout`, or the table of one policy of a memory.
fn policies(question: &Node, key: &str) -> Result<Policies, Fault> {
    let table = question.get(key).ok_or_else(|| question.fault(key, "must be given"))?;
    if table.get("admission").or(table.get("pushout")).is_some() {
        return Policies::read(table);
    }
    let Some(name) = table.get("policy").and_then(Node::text) else {
        return Err(
            table.fault(key, "must be the name of a policy, or a table with policy, admission or pushout")
        );
    };
    let has = |entries: &[Entry]| entries.iter().any(|entry| entry.name == name);
    let place = TextPlace::default();
    let under = |kind: &str| {
        let key = Key { name: kind.to_string(), place };
        Policies::read(&Node { value: Value::Table(vec![(key, table.clone())]), place })
    };
    match (has(sharing::CATALOGUE), has(pushout::CATALOGUE)) {
        (true, _) => under("admission"),
        (false, true) => under("pushout"),
        (false, false) => Err(table.fault(key, unfit(name))),
    }
}

/// Say of a name that no memory has such a policy, and which it has.
fn unfit(name: &str) -> String {
    let names = |entries: &[Entry]| entries.iter().map(|entry| entry.name).collect::<Vec<_>>();
    let of_memories = [names(sharing::CATALOGUE), names(pushout::CATALOGUE)].concat();
    let of_ports = names(buffer::admission::CATALOGUE);
    match of_ports.contains(&name) {
        true => {
            format!(
                "{name:?} decides about one port, not about a memory; a memory takes: {}",
                of_memories.join(", ")
            )
        }
        false => unknown("policy", name, &of_memories),
    }
}
