//! The answer as JSON: its keys are those of `pushout why --json`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use super::worlds::Progress;
use super::{Decision, Ill, Question, Reaction, Saves, Tried, Trouble, Worlds};
use crate::engine::{self, LossRecord};
use crate::excerpt::quoted;
use crate::scenario::model::{Flow, Scenario};
use crate::transport::tcp::Segment;
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, LineId};
use crate::verdict::Reason;
use crate::view;
use crate::words::nearest::unknown;

/// What is asked, beside the scenario.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// Names of ports, or none for all: it is the one where the frame was lost, or where most frames were marked or cut.
    pub at: Vec<&'a str>,
    /// What happened to the frame.
    pub ill: Ill,
    /// Which frame.
    pub which: Which<'a>,
    /// Whether sources react.
    pub reaction: Reaction,
    /// The most decisions before a frame to be tried.
    pub most: usize,
    /// Decisions before the frame, and while it waited, that are left out: see [`Question::skip`].
    pub skip: usize,
    /// The most sets of two, or three, decisions to be tried if no single one saves the frame.
    pub sets: usize,
}

/// The frame of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// The n-th to which the ill happened, from 1; of all flows, or of one.
    Number(usize, Option<&'a str>),
    /// A frame of a flow, by its number on its circuit, from 1.
    Frame(&'a str, u64),
    /// The decisions of the run whose refusal saves most: this many of them.
    Dearest(usize),
}

/// A scenario that differs in a policy, with the name of the policy.
pub type Rival<'a> = (&'a str, &'a Scenario);

/// The most frames whose decisions are tried for [`Which::Dearest`].
const FRAMES: usize = 1000;

/// Answer a question about a run; `rivals` are run as well.
pub fn answer(
    scenario: &Scenario,
    asked: &Asked<'_>,
    rivals: &[Rival<'_>],
    progress: Progress<'_>,
) -> Result<Json, String> {
    let (worlds, number) = found(scenario, asked)?;
    if let Which::Dearest(count) = asked.which {
        return dearest(scenario, &worlds, count, progress);
    }
    let trouble = &worlds.troubles()[number];
    let worlds_count = worlds.count(&[number]);
    let Tried { saves, open } = worlds.saves(&[number], true, progress)?;
    let mut answer = json!({
        "scenario": scenario.name,
        "seed": scenario.seed,
        "port": scenario.lines[trouble.of.port].name,
        "reaction": worlds.reaction(),
        "ill": asked.ill.word(),
        "frame": frame(scenario, &trouble.of),
        "rule": rule(scenario, trouble),
        "decisions": worlds_count,
        "losses": worlds.losses(),
        "open": open.len(),
    });
    let shown = |each: &Saves| {
        let mut shown = frame(scenario, &worlds.decisions()[each.decision]);
        shown["losses"] = each.losses.into();
        shown
    };
    answer["saves"] = saves.iter().map(shown).collect();
    answer["best"] = best(&saves).map_or(Json::Null, shown);
    let saving: BTreeSet<usize> = saves.iter().map(|each| each.decision).collect();
    let others =
        worlds.window(number).filter(|each| !saving.contains(each)).map(|each| &worlds.decisions()[each]);
    answer["others"] = others
        .filter(|other| other.packet != trouble.of.packet)
        .map(|other| frame(scenario, other))
        .collect();
    answer["shares"] = shares(scenario, &worlds, &saves);
    answer["together"] = if saves.is_empty() {
        together(scenario, &worlds, number, asked.sets, progress)?
    } else {
        Json::Null
    };
    let fates = rivals.iter().map(|(label, other)| {
        let fates = worlds.fates(other, &[number]);
        json!({ "policy": label, "saves": fates.saved[0], "losses": fates.losses })
    });
    answer["policies"] = fates.collect();
    Ok(answer)
}

/// A frame that the question means.
enum Target {
    /// The n-th, from 0, at the port; of all circuits or of one.
    Nth(usize, Option<CircuitId>),
    /// A frame of a circuit, by its serial number.
    Frame(CircuitId, u32),
    /// None in particular.
    Any,
}

/// Record the run, and find the frame in it: its number among the troubles.
fn found<'a>(scenario: &'a Scenario, asked: &Asked<'_>) -> Result<(Worlds<'a>, usize), String> {
    let (port, target) = match asked.at[..] {
        [name] => (port(scenario, name)?, target(scenario, asked)?),
        _ => anywhere(scenario, asked)?,
    };
    let question =
        Question { port, ill: asked.ill, reaction: asked.reaction, most: asked.most, skip: asked.skip };
    let worlds = Worlds::record(scenario, question)?;
    let (name, troubles, verb) = (&scenario.lines[port].name, worlds.troubles(), asked.ill.verb());
    let number = match target {
        _ if troubles.is_empty() => {
            return Err(format!("port {} {verb} no frame after the warm-up", quoted(name)));
        }
        Target::Any => Some(0),
        Target::Nth(number, vc) => {
            let is_it = |each: &&usize| vc.is_none_or(|vc| troubles[**each].of.packet.vc == vc);
            (0..troubles.len()).collect::<Vec<_>>().iter().filter(is_it).nth(number).copied()
        }
        Target::Frame(vc, frame) => {
            troubles.iter().position(|each| (each.of.packet.vc, each.of.frame) == (vc, frame))
        }
    };
    let which = || match asked.which {
        Which::Number(number, flow) => {
            let vc = flow
                .and_then(|name| scenario.flows.iter().find(|flow| flow.name == name))
                .map(|flow| flow.vc);
            let count = troubles.iter().filter(|each| vc.is_none_or(|vc| each.of.packet.vc == vc)).count();
            outside(number, count, &format!("frames{} that port {} {verb}", of_flow(flow), quoted(name)))
        }
        Which::Frame(flow, number) => {
            let (count, first) = (troubles.len(), label(scenario, &troubles[0].of));
            format!(
                "port {} {verb} {count} frames, but not frame {number} of {}; the first was {first}",
                quoted(name),
                quoted(flow)
            )
        }
        Which::Dearest(_) => unreachable!("any frame will do"),
    };
    number.ok_or_else(which).map(|number| (worlds, number))
}

/// Return the port of this name.
fn port(scenario: &Scenario, name: &str) -> Result<LineId, String> {
    let names: Vec<&str> = scenario.lines.iter().map(|line| line.name.as_str()).collect();
    names
        .iter()
        .position(|other| *other == name)
        .map(LineId::new)
        .ok_or_else(|| unknown("port", name, &names))
}

/// Return the frame that is asked for, at a port that is given.
fn target(scenario: &Scenario, asked: &Asked<'_>) -> Result<Target, String> {
    Ok(match asked.which {
        Which::Number(number, name) => {
            let vc = name.map(|name| flow_of(scenario, name)).transpose()?.map(|flow| flow.vc);
            Target::Nth(number.checked_sub(1).ok_or("loss must be at least 1, not 0")?, vc)
        }
        Which::Dearest(_) => Target::Any,
        Which::Frame(name, number) => {
            let vc = flow_of(scenario, name)?.vc;
            let serial = number.checked_sub(1).and_then(|number| u32::try_from(number).ok());
            let refused = || format!("frame must be from 1 to {}, not {number}", u64::from(u32::MAX) + 1);
            Target::Frame(vc, serial.ok_or_else(refused)?)
        }
    })
}

/// Return the flow of this name.
fn flow_of<'a>(scenario: &'a Scenario, name: &str) -> Result<&'a Flow, String> {
    let names: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
    let number =
        names.iter().position(|other| *other == name).ok_or_else(|| unknown("flow", name, &names))?;
    Ok(&scenario.flows[FlowId::new(number)])
}

/// Describe a number beyond those of the frames, which are described too.
fn outside(number: usize, count: usize, frames: &str) -> String {
    match count {
        0 => format!("there are no {frames} after the warm-up"),
        _ => format!("loss must be from 1 to {count}, the number of {frames}, not {number}"),
    }
}

fn of_flow(flow: Option<&str>) -> String {
    flow.map_or_else(String::new, |flow| format!(" of {}", quoted(flow)))
}

/// Choose the port, because none is given: that of the frame, or the one with most such frames.
fn anywhere(scenario: &Scenario, asked: &Asked<'_>) -> Result<(LineId, Target), String> {
    let outcome = engine::run(scenario, true);
    let ports = match asked.at[..] {
        [] => scenario.lines.keys().collect(),
        _ => asked.at.iter().map(|name| port(scenario, name)).collect::<Result<Vec<_>, _>>()?,
    };
    let by_port = |count: &dyn Fn(LineId) -> u64| {
        let most = ports.iter().copied().max_by_key(|&port| (count(port), Reverse(port)));
        most.filter(|&port| count(port) > 0)
    };
    let counters = |port: LineId| outcome.network.ports[port].counters();
    let none = || format!("no port {} a frame after the warm-up", asked.ill.verb());
    match asked.ill {
        Ill::Late(_) => Err("at must name a port if frames are late".to_string()),
        Ill::Marked => {
            Ok((by_port(&|port| counters(port).marked_total()).ok_or_else(none)?, target(scenario, asked)?))
        }
        Ill::Trimmed => {
            Ok((by_port(&|port| counters(port).rare().trimmed).ok_or_else(none)?, target(scenario, asked)?))
        }
        Ill::Lost => {
            let here = outcome.losses.iter().filter(|loss| ports.contains(&loss.port));
            lost_anywhere(scenario, asked, here, none)
        }
    }
}

/// Find a lost frame among those of all ports, in the order in which they were lost.
fn lost_anywhere<'l>(
    scenario: &Scenario,
    asked: &Asked<'_>,
    losses: impl Iterator<Item = &'l LossRecord>,
    none: impl Fn() -> String,
) -> Result<(LineId, Target), String> {
    let (warmup, mut seen) = (Time::ZERO + scenario.warmup, BTreeSet::new());
    let mut is_new = |loss: &&LossRecord| seen.insert((loss.vc, loss.frame)) && loss.time >= warmup;
    let lost: Vec<&LossRecord> = losses
        .filter(|loss| !matches!(loss.reason, Reason::Link | Reason::Policed))
        .filter(&mut is_new)
        .collect();
    let first = *lost.first().ok_or_else(none)?;
    let chosen = match target(scenario, asked)? {
        Target::Nth(number, vc) => {
            let of = |loss: &&&LossRecord| vc.is_none_or(|vc| loss.vc == vc);
            let flow = if let Which::Number(_, flow) = asked.which { flow } else { None };
            let count = || lost.iter().filter(of).count();
            let refused =
                || outside(number + 1, count(), &format!("frames{} that ports lost", of_flow(flow)));
            *lost.iter().filter(of).nth(number).ok_or_else(refused)?
        }
        Target::Frame(vc, frame) => {
            lost.iter().find(|loss| (loss.vc, loss.frame) == (vc, frame)).unwrap_or(&first)
        }
        Target::Any => {
            let mut counts: BTreeMap<LineId, usize> = BTreeMap::new();
            lost.iter().for_each(|loss| *counts.entry(loss.port).or_default() += 1);
            let most = counts.into_iter().max_by_key(|&(port, count)| (count, Reverse(port)));
            return Ok((most.map_or(first.port, |(port, _)| port), Target::Any));
        }
    };
    match asked.which {
        Which::Frame(..) => Ok((chosen.port, target(scenario, asked)?)),
        _ => Ok((chosen.port, Target::Frame(chosen.vc, chosen.frame))),
    }
}

/// Describe a frame: its flow, its number on its circuit, when it came to the port.
fn frame(scenario: &Scenario, decision: &Decision) -> Json {
    let mut shown = Map::new();
    shown.insert("flow".to_string(), flow(scenario, decision).into());
    shown.insert("number".to_string(), (u64::from(decision.frame) + 1).into());
    shown.insert("time_s".to_string(), seconds(decision.time).into());
    shown.insert("port".to_string(), scenario.lines[decision.port].name.clone().into());
    if let Some(segment) = decision.content.and_then(|(_, cargo)| cargo.open::<Segment>()) {
        let key = if segment.is_ack { "ack" } else { "seq" };
        shown.insert(key.to_string(), if segment.is_ack { segment.ack } else { segment.seq }.into());
        shown.insert("repeats".to_string(), segment.repeats.into());
    }
    shown.into()
}

/// Return the name of the flow of a frame.
fn flow(scenario: &Scenario, decision: &Decision) -> String {
    let named = decision.content.and_then(|(flow, _)| scenario.flows.get(flow));
    named.map_or_else(|| scenario.vcs[decision.packet.vc].name.clone(), |flow| flow.name.clone())
}

/// Name a frame in a message.
fn label(scenario: &Scenario, decision: &Decision) -> String {
    format!("frame {} of {}", u64::from(decision.frame) + 1, quoted(&flow(scenario, decision)))
}

fn seconds(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs_f64()
}

/// Describe the rule by which the ill happened, with the figures in force.
fn rule(scenario: &Scenario, trouble: &Trouble) -> Json {
    let port = trouble.of.port;
    let line = &scenario.lines[port];
    let memory = scenario.memories.iter().find(|memory| memory.ports.iter().any(|(other, _)| *other == port));
    let thresholds = view::fixed_thresholds(scenario, port);
    json!({
        "reason": trouble.reason.map(Reason::word),
        "time_s": seconds(trouble.time),
        "policy": memory.map_or(line.port.admission.name(), |memory| memory.sharing.name()),
        "pushout": match memory {
            Some(memory) => memory.pushout.as_ref().map(|policy| policy.name()),
            None => line.port.pushout.as_ref().map(|policy| policy.name()),
        },
        "memory": memory.map(|memory| &memory.name),
        "units": trouble.of.units,
        "octets": trouble.of.octets,
        "capacity": line.port.capacity.limit(),
        "measure": line.port.measure.word(),
        "thresholds": thresholds.into_iter().map(|each| (each.name, each.level.into())).collect::<Map<_, _>>(),
    })
}

/// Return the decision whose world has the fewest losses, of equal ones the latest.
fn best(saves: &[Saves]) -> Option<&Saves> {
    saves.iter().min_by_key(|each| (each.losses, Reverse(each.decision)))
}

/// Return the share of each flow in the decisions that save a frame.
fn shares(scenario: &Scenario, worlds: &Worlds<'_>, saves: &[Saves]) -> Json {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for each in saves {
        *counts.entry(flow(scenario, &worlds.decisions()[each.decision])).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(flow, count)| (flow, json!(count as f64 / saves.len() as f64)))
        .collect::<Map<_, _>>()
        .into()
}

/// Search for pairs of decisions, and if there are none for sets of three, that save a frame which no single one saves.
fn together(
    scenario: &Scenario,
    worlds: &Worlds<'_>,
    trouble: usize,
    limit: usize,
    progress: Progress<'_>,
) -> Result<Json, String> {
    for size in [2, 3] {
        let found = worlds.together(trouble, size, limit, progress)?;
        if !found.sets.is_empty() || size == 3 {
            let shown = |set: &Vec<usize>| -> Json {
                set.iter().map(|&each| frame(scenario, &worlds.decisions()[each])).collect()
            };
            let sets: Json = found.sets.iter().map(shown).collect();
            return Ok(json!({ "size": size, "sets": sets, "complete": found.is_complete }));
        }
    }
    unreachable!("the loop returns at its last size")
}

/// List the decisions of a run whose refusal saves most frames, with the losses of their worlds.
fn dearest(
    scenario: &Scenario,
    worlds: &Worlds<'_>,
    count: usize,
    progress: Progress<'_>,
) -> Result<Json, String> {
    let frames: Vec<usize> = (0..worlds.troubles().len().min(FRAMES)).collect();
    let mut saves = worlds.saves(&frames, false, progress)?.saves;
    saves.sort_by_key(|each| (Reverse(each.saved.len()), each.decision));
    saves.truncate(count);
    let shown = |each: &Saves| {
        let mut shown = frame(scenario, &worlds.decisions()[each.decision]);
        shown["saves"] = each.saved.len().into();
        shown["losses"] = worlds.losses_without(each.decision).into();
        shown
    };
    Ok(json!({
        "scenario": scenario.name,
        "seed": scenario.seed,
        "port": scenario.lines[worlds.troubles()[0].of.port].name,
        "reaction": worlds.reaction(),
        "frames": frames.len(),
        "of": worlds.troubles().len(),
        "decisions": worlds.count(&frames),
        "losses": worlds.losses(),
        "report": saves.iter().map(shown).collect::<Json>(),
    }))
}
