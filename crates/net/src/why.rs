//! Why a packet was lost: which decision, made differently, would have saved it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use pushout_core::scenario::model::Scenario;
use pushout_core::units::ids::LineId;
use pushout_core::verdict::Reason;
use pushout_core::why::{Ill, Question, Reaction, Trouble, Worlds};

use crate::delivery::{Counts, Handle, Port};
use crate::error::Error;
use crate::path::{Path, State};
use crate::time::Time;

/// Decisions before a packet that [`Path::why`] tries.
const LAST: usize = 200;
/// Decisions before each packet, and packets, that [`Path::explain`] tries.
const FEW: usize = 50;
const FRAMES: usize = 100;
/// Directions of flows that [`Path::explain`] describes.
const LINES: usize = 4;
/// Packets of one instant that [`Path::explain`] calls a burst: more than ten, the initial window of RFC 6928 and of RFC 9002.
const BURST: usize = 11;

/// Why a packet was lost or marked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Why {
    /// The port.
    pub port: Port,
    /// Its name.
    pub port_name: String,
    /// The rule that decided, by its name in scenarios.
    pub rule: &'static str,
    /// The reason, as reports name it.
    pub reason: &'static str,
    /// When the packet arrived at the port.
    pub arrived: Time,
    /// Packets that it found there, and their octets.
    pub found: (u64, u64),
    /// Decisions that were tried: at most the 200 before the loss.
    pub tried: usize,
    /// Earlier packets without any one of which this one would have passed, in the order of their arrival. It is empty where a place that
    /// becomes free is taken by another packet before; and a policy with state, as CoDel, may have decided long before this packet.
    pub saved_by: Vec<Cause>,
}

/// A packet whose admission cost another one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cause {
    /// The packet, if the caller offered it.
    pub handle: Option<Handle>,
    /// Its flow, as the scenario file names it.
    pub flow: String,
    /// Its number in its flow, from 1.
    pub number: u64,
    /// When it arrived at the port.
    pub at: Time,
    /// Packets of the whole run that would be lost without it, itself included.
    pub losses: usize,
    /// Packets that would pass without it.
    pub saves: usize,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Why { port_name, rule, reason, arrived, found: (packets, octets), tried, saved_by, .. } = self;
        write!(
            f,
            "{reason} by {rule} at port {port_name}: arrived at {arrived}, found {packets} packets of {octets} octets; "
        )?;
        match &saved_by[..] {
            [] => write!(f, "no one of {tried} earlier packets cost it its place alone"),
            [first, rest @ ..] => {
                write!(f, "{} of {tried} earlier packets each cost it its place: {first}", saved_by.len())?;
                rest.last().map_or(Ok(()), |last| write!(f, " to {last}"))
            }
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet {} of {} at {}", self.number, self.flow, self.at)
    }
}

impl Path {
    /// Repeat the run without each earlier packet in turn, and return which of them would have saved this one, which was lost or
    /// marked; none for a packet that was delivered, is on its way, or was lost by intent.
    ///
    /// The other packets of the caller come as recorded; background traffic reacts. The 200 decisions before the loss are tried.
    ///
    /// ```
    /// use pushout_net::{Ecn, Path, Time};
    ///
    /// let mut path = Path::builder().rate("12 Mb/s").buffer("2 packets").build()?;
    /// let (client, server) = (path.host("client1")?, path.host("server1")?);
    /// let flow = path.open(client, server)?;
    /// let sent: Vec<_> = (0..3).map(|_| path.offer(Time::ZERO, client, 1500, flow, Ecn::NotEct)).collect::<Result<_, _>>()?;
    /// path.take(std::time::Duration::from_millis(20));
    /// let why = path.why(sent[2])?.expect("it was lost");
    /// assert_eq!((why.port_name.as_str(), why.rule, why.found.0), ("bottleneck", "tail-drop", 2));
    /// assert_eq!(why.saved_by.iter().map(|cause| cause.handle).collect::<Vec<_>>(), [Some(sent[0]), Some(sent[1])]);
    /// # Ok::<(), pushout_net::Error>(())
    /// ```
    pub fn why(&self, handle: Handle) -> Result<Option<Why>, Error> {
        let &packet = self.packet(handle)?;
        let (port, reason, ill) = match packet.state {
            State::Lost(port, reason) if !by_intent(reason) => (port, reason, Ill::Lost),
            State::Marked(port) => (port, Reason::Early, Ill::Marked),
            _ => return Ok(None),
        };
        let scenario = self.checked(self.repeated())?;
        let worlds = self.worlds(&scenario, port, ill, LAST)?;
        let name = &self.slot_of(packet.direction as usize).0.names[packet.direction as usize % 2];
        let is_it = |trouble: &Trouble| {
            let decision = &trouble.of;
            scenario.vcs[decision.packet.vc].name == *name && decision.frame == packet.number
        };
        let Some(trouble) = worlds.troubles().iter().position(is_it) else { return Ok(None) };
        let found = &worlds.troubles()[trouble].of;
        let tried = worlds.saves(&[trouble], true, &mut |_, _| true).map_err(Error::Scenario)?;
        let saved_by = tried
            .saves
            .iter()
            .map(|each| self.cause(&scenario, &worlds, each.decision, each.losses, 1))
            .collect();
        Ok(Some(Why {
            port: Port(port.0),
            port_name: scenario.lines[port].name.clone(),
            rule: Path::rule(&scenario, port, reason),
            reason: if ill == Ill::Marked { "mark" } else { reason.word() },
            arrived: found.time.into(),
            found: (found.units, found.octets),
            tried: worlds.count(&[trouble]),
            saved_by,
        }))
    }

    /// Return what happened to the packets so far, for the message of a failed test: what each flow offered, what
    /// arrived and was lost, its longest silence and the longest burst (more than ten packets at one instant), where packets were lost and by
    /// which rule, and the three decisions that cost most.
    pub fn explain(&self) -> String {
        let mut text = format!("up to {}:\n", self.now());
        let directions: BTreeSet<u32> = self.packets.iter().map(|packet| packet.direction).collect();
        let mut counts: Vec<(u32, Counts)> =
            directions.iter().map(|&direction| (direction, self.counts_of(direction))).collect();
        counts.sort_by_key(|(direction, counts)| (Reverse(counts.lost), *direction));
        for (direction, counts) in counts.iter().take(LINES) {
            text.push_str(&self.outcome_line(*direction, counts));
        }
        if counts.len() > LINES {
            let _ = writeln!(text, "and {} more directions of flows, which lost less", counts.len() - LINES);
        }
        let Some(scenario) = self.scenario() else { return text };
        if let Some((direction, at, packets)) = self.longest_burst() {
            let flow = self.name_of(direction);
            let _ = writeln!(text, "longest burst: {packets} packets of {flow} at {at}");
        }
        let mut losses: BTreeMap<(LineId, Reason), usize> = BTreeMap::new();
        for packet in &self.packets {
            if let State::Lost(port, reason) = packet.state {
                *losses.entry((port, reason)).or_default() += 1;
            }
        }
        for ((port, reason), lost) in &losses {
            let (name, rule) = (&scenario.lines[*port].name, Path::rule(scenario, *port, *reason));
            let _ = writeln!(text, "port {name} lost {lost} by {rule}: {}", reason.meaning());
        }
        let decided = losses.iter().filter(|((_, reason), _)| !by_intent(*reason));
        if let Some((&(port, _), _)) = decided.max_by_key(|((port, _), lost)| (**lost, Reverse(*port))) {
            match self.dearest(port) {
                Ok(dearest) => text.push_str(&dearest),
                Err(why) => {
                    let _ = writeln!(text, "the decisions cannot be tried: {why}");
                }
            }
        }
        text
    }

    /// Return the name of a direction of a slot.
    fn name_of(&self, direction: u32) -> &str {
        &self.slot_of(direction as usize).0.names[direction as usize % 2]
    }

    /// Describe how the packets of a direction have ended, and for how long it was silent.
    fn outcome_line(&self, direction: u32, counts: &Counts) -> String {
        let Counts { offered, arrived, marked, cut, lost, under_way, .. } = counts;
        let mut sent =
            self.packets.iter().filter(|packet| packet.direction == direction).map(|packet| packet.sent);
        let first = sent.next().unwrap_or_default();
        let (silence, _) =
            sent.fold((0, first), |(most, before), at| (most.max(at.picos() - before.picos()), at));
        let mut text = format!("{}: offered {offered}, arrived {arrived}", self.name_of(direction));
        for (count, what) in [(marked, "of them marked"), (cut, "cut"), (under_way, "on their way")] {
            if *count > 0 {
                let _ = write!(text, ", {what} {count}");
            }
        }
        let (percent, silence) = (100.0 * counts.loss(), Time::from_picos(silence));
        let _ = writeln!(text, ", lost {lost} ({percent:.1} %); longest silence {silence}");
        text
    }

    /// Return the direction of a slot from which most packets were offered at one instant, the instant and their number, if they are
    /// a burst.
    fn longest_burst(&self) -> Option<(u32, Time, usize)> {
        let mut longest: Option<(u32, Time, usize)> = None;
        let mut latest: BTreeMap<u32, (Time, usize)> = BTreeMap::new();
        for packet in &self.packets {
            let (at, packets) = latest.entry(packet.direction).or_insert((packet.sent, 0));
            *packets = if *at == packet.sent { *packets + 1 } else { 1 };
            *at = packet.sent;
            if *packets >= longest.map_or(BURST, |(.., most)| most + 1) {
                longest = Some((packet.direction, packet.sent, *packets));
            }
        }
        longest
    }

    /// Describe the three decisions of a port that cost most packets.
    fn dearest(&self, port: LineId) -> Result<String, Error> {
        let scenario = self.checked(self.repeated())?;
        let worlds = self.worlds(&scenario, port, Ill::Lost, FEW)?;
        let frames: Vec<usize> = (0..worlds.troubles().len().min(FRAMES)).collect();
        let mut saves = worlds.saves(&frames, false, &mut |_, _| true).map_err(Error::Scenario)?.saves;
        saves.sort_by_key(|each| (Reverse(each.saved.len()), each.decision));
        let mut text = format!(
            "of {} decisions before the first {} losses at port {}, the refusal of these would save most:\n",
            worlds.count(&frames),
            frames.len(),
            scenario.lines[port].name
        );
        let (mut are_any, all) = (false, worlds.losses());
        for each in saves.iter().take(3) {
            let losses = worlds.losses_without(each.decision);
            if losses < all {
                let cause = self.cause(&scenario, &worlds, each.decision, Some(losses), each.saved.len());
                let _ = writeln!(text, "  {cause}: {losses} losses in the run instead of {all}");
                are_any = true;
            }
        }
        if !are_any {
            text.push_str("  none alone: another packet is lost instead\n");
        }
        Ok(text)
    }

    fn worlds<'s>(
        &self,
        scenario: &'s Scenario,
        port: LineId,
        ill: Ill,
        most: usize,
    ) -> Result<Worlds<'s>, Error> {
        let question = Question { port, ill, reaction: Reaction::On, most, skip: 0 };
        Worlds::record(scenario, question).map_err(Error::Scenario)
    }

    fn cause(
        &self,
        scenario: &Scenario,
        worlds: &Worlds<'_>,
        decision: usize,
        losses: Option<usize>,
        saves: usize,
    ) -> Cause {
        let decision = &worlds.decisions()[decision];
        let flow = scenario.vcs[decision.packet.vc].name.clone();
        let names = || self.slots.iter().flat_map(|slot| &slot.names);
        let direction = names().position(|name| *name == flow);
        Cause {
            handle: direction.and_then(|direction| self.handle(direction, decision.frame)),
            flow,
            number: u64::from(decision.frame) + 1,
            at: decision.time.into(),
            losses: losses.unwrap_or_default(),
            saves,
        }
    }
}

/// Return whether a packet is lost for this reason before a port decides about it.
fn by_intent(reason: Reason) -> bool {
    matches!(reason, Reason::Link | Reason::Policed)
}
