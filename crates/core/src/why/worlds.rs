//! The worlds of a question: runs that differ from the recorded one in what a port refuses.

use std::collections::HashMap;

use super::record::{Decision, Recorder, Trouble};
use super::watch::{Fate, Refusal, Watch};
use super::{Packet, Question, Reaction, scope, undetermined};
use crate::engine::reference::{Offered, Stepper};
use crate::scenario::model::Scenario;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId};

/// A recorded run, from which other worlds depart.
#[derive(Debug)]
pub struct Worlds<'a> {
    scenario: &'a Scenario,
    question: Question,
    scope: IdVec<LineId, bool>,
    decisions: Vec<Decision>,
    units: Vec<Offered>,
    troubles: Vec<Trouble>,
    broken: HashMap<Packet, Time>,
    /// When frames were lost that count, in order.
    losses: Vec<Time>,
}

/// What the refusal of one decision does.
#[derive(Clone, Debug, PartialEq)]
pub struct Saves {
    /// Its number among the decisions.
    pub decision: usize,
    /// Which of the frames it saves, by their numbers among the troubles.
    pub saved: Vec<usize>,
    /// The frames that are lost in its world, itself included; computed if it was asked for, and only where it saves one.
    pub losses: Option<usize>,
}

/// What the worlds of single decisions have shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The decisions that save a frame.
    pub saves: Vec<Saves>,
    /// The decisions in whose worlds a frame still waits when the run ends, so that its fate is open.
    pub open: Vec<usize>,
}

/// Decisions that save a frame only together.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs {
    /// Sets of decisions, by their numbers.
    pub sets: Vec<Vec<usize>>,
    /// Whether all sets of this size were tried.
    pub is_complete: bool,
}

/// What becomes of frames under another policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Fates {
    /// For each frame whether it passes its port; none if it never comes there.
    pub saved: Vec<Option<bool>>,
    /// Frames that are lost.
    pub losses: usize,
}

/// Called before each world with its number and that of all worlds; stops the search with `false`.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize) -> bool;

/// The error of a search that its caller stopped.
fn stopped() -> String {
    "interrupted".to_string()
}

impl<'a> Worlds<'a> {
    /// Run a scenario on the reference engine and record what happens at the port of the question.
    pub fn record(scenario: &'a Scenario, question: Question) -> Result<Worlds<'a>, String> {
        let scope = scope(scenario, question.port);
        if question.reaction == Reaction::Off
            && let Some(why) = undetermined(scenario, &scope)
        {
            return Err(format!("reaction must be on: {why}"));
        }
        let warmup = Time::ZERO + scenario.warmup;
        let recorder = Recorder::new(&scope, question.ill, question.reaction == Reaction::Off, warmup);
        let mut stepper = Stepper::new(scenario, false, recorder);
        stepper.advance(stepper.end());
        let (outcome, recorder) = stepper.finish();
        outcome.complete(scenario).map_err(|refusal| refusal.message)?;
        let Recorder { decisions, units, mut troubles, broken, broken_here, .. } = recorder;
        troubles.retain(|trouble| trouble.of.port == question.port);
        let broken = if question.reaction == Reaction::Off { broken_here } else { broken };
        let mut losses: Vec<Time> = broken.values().copied().filter(|time| *time >= warmup).collect();
        losses.sort_unstable();
        Ok(Worlds { scenario, question, scope, decisions, units, troubles, broken, losses })
    }

    /// Everything that the port, and those that share its memory, decided about.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// The frames to which the ill happened, in the order in which it did.
    pub fn troubles(&self) -> &[Trouble] {
        &self.troubles
    }

    /// Return whether sources react, as users write it.
    pub fn reaction(&self) -> &'static str {
        match self.question.reaction {
            Reaction::On => "on",
            Reaction::Off => "off",
        }
    }

    /// Return the number of frames that were lost: in the network, or without reactions at the ports of the question.
    pub fn losses(&self) -> usize {
        self.losses.len()
    }

    /// Return the decisions that could have saved a frame: as many as asked before it arrived, its own, and all from
    /// then until the ill; or as many before those that are left out.
    pub fn window(&self, trouble: usize) -> std::ops::Range<usize> {
        let Trouble { decisions, busy, own, .. } = self.troubles[trouble];
        let Question { most, skip, .. } = self.question;
        let end = if skip == 0 { decisions } else { own.saturating_sub(skip) };
        let first = own.saturating_sub(skip).saturating_sub(most);
        match self.question.reaction {
            Reaction::On => first..end,
            Reaction::Off => first.max(busy).min(end)..end,
        }
    }

    /// Return which frames each decision could have saved, in order.
    fn candidates(&self, troubles: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let mut of: std::collections::BTreeMap<usize, Vec<usize>> = std::collections::BTreeMap::new();
        for &trouble in troubles {
            let own = self.troubles[trouble].of.packet;
            let others = self.window(trouble).filter(|&number| self.decisions[number].packet != own);
            others.for_each(|number| of.entry(number).or_default().push(trouble));
        }
        of.into_iter().collect()
    }

    /// Return the number of worlds that [`saves`](Worlds::saves) runs.
    pub fn count(&self, troubles: &[usize]) -> usize {
        self.candidates(troubles).len()
    }

    /// Run the world of every decision that could have saved one of these frames, and return those that do. With
    /// `priced` such a world is run to its end, and its losses are counted.
    pub fn saves(&self, troubles: &[usize], priced: bool, progress: Progress<'_>) -> Result<Tried, String> {
        let candidates = self.candidates(troubles);
        let (count, mut trunk) = (candidates.len(), self.trunk());
        let (mut found, mut open) = (Vec::new(), Vec::new());
        for (done, (decision, concerned)) in candidates.into_iter().enumerate() {
            if !progress(done, count) {
                return Err(stopped());
            }
            trunk.advance(self.decisions[decision].time);
            let mut world = trunk.clone();
            world.tracer_mut().refuse(self.refusal(decision));
            world.tracer_mut().follow(concerned.iter().map(|&trouble| self.watched(trouble)));
            let whole = priced && self.question.reaction == Reaction::Off; // recorded arrivals cannot be continued
            self.pass(&mut world, decision, |watch| whole || watch.is_open());
            if world.tracer().is_open() {
                open.push(decision);
            }
            let is_saved =
                |&trouble: &usize| world.tracer().fate(self.troubles[trouble].of.packet) == Fate::Saved;
            let saved: Vec<usize> = concerned.into_iter().filter(is_saved).collect();
            if !saved.is_empty() {
                let losses = priced.then(|| {
                    if !whole {
                        world.advance(world.end());
                    }
                    self.price(&world, decision)
                });
                found.push(Saves { decision, saved, losses });
            }
        }
        Ok(Tried { saves: found, open })
    }

    /// Count the frames that are lost in the world of one decision.
    pub fn losses_without(&self, decision: usize) -> usize {
        let mut world = self.trunk();
        world.advance(self.decisions[decision].time);
        world.tracer_mut().refuse(self.refusal(decision));
        self.pass(&mut world, decision, |_| true);
        self.price(&world, decision)
    }

    /// Return the sets of this many decisions that save a frame only together. If more than `limit` sets are possible, only
    /// those of the latest decisions are tried.
    pub fn together(
        &self,
        trouble: usize,
        size: usize,
        limit: usize,
        progress: Progress<'_>,
    ) -> Result<Pairs, String> {
        let all: Vec<usize> = self.candidates(&[trouble]).into_iter().map(|(number, _)| number).collect();
        let count = (0..=all.len()).rev().find(|&count| sets(count, size) <= limit).unwrap_or(0);
        let latest = &all[all.len() - count..];
        let (mut trunk, mut found, mut done) = (self.trunk(), Vec::new(), 0);
        for (place, &first) in latest.iter().enumerate() {
            trunk.advance(self.decisions[first].time);
            for others in combinations(&latest[place + 1..], size - 1) {
                if !progress(done, sets(count, size)) {
                    return Err(stopped());
                }
                done += 1;
                let mut world = trunk.clone();
                world.tracer_mut().follow([self.watched(trouble)]);
                let set: Vec<usize> = [&[first], &others[..]].concat();
                set.iter().for_each(|&decision| world.tracer_mut().refuse(self.refusal(decision)));
                self.pass(&mut world, first, Watch::is_open);
                if world.tracer().fate(self.troubles[trouble].of.packet) == Fate::Saved {
                    found.push(set);
                }
            }
        }
        Ok(Pairs { sets: found, is_complete: count == all.len() })
    }

    /// Return what becomes of frames of this run in a run of another scenario, which differs in a policy.
    pub fn fates(&self, other: &Scenario, troubles: &[usize]) -> Fates {
        let mut watch = self.watch();
        watch.follow(troubles.iter().map(|&trouble| self.watched(trouble)));
        let warmup = Time::ZERO + other.warmup;
        let mut stepper = Stepper::new(other, false, watch);
        match self.question.reaction {
            Reaction::On => stepper.advance(stepper.end()),
            Reaction::Off => stepper.replay(&self.scope, &self.units, |_| true),
        }
        let watch = stepper.tracer();
        let saved = |&trouble: &usize| match watch.fate(self.troubles[trouble].of.packet) {
            Fate::Open => None,
            fate => Some(fate == Fate::Saved),
        };
        let losses = watch.broken.values().filter(|time| **time >= warmup).count();
        Fates { saved: troubles.iter().map(saved).collect(), losses }
    }

    /// Start the run again, to be cloned on its way.
    fn trunk(&self) -> Stepper<Watch> {
        Stepper::new(self.scenario, false, self.watch())
    }

    /// Make an observer that counts the losses that [`losses`](Worlds::losses) counts.
    fn watch(&self) -> Watch {
        let counted = (self.question.reaction == Reaction::Off).then(|| self.scope.clone());
        Watch::new(self.question.ill, counted)
    }

    fn refusal(&self, decision: usize) -> Refusal {
        let Decision { port, packet, .. } = self.decisions[decision];
        (port, packet)
    }

    fn watched(&self, trouble: usize) -> (LineId, Packet) {
        let of = self.troubles[trouble].of;
        (of.port, of.packet)
    }

    /// Run a world from the instant of a decision, as long as `goes_on` allows it.
    fn pass(&self, world: &mut Stepper<Watch>, decision: usize, goes_on: impl Fn(&Watch) -> bool) {
        match self.question.reaction {
            Reaction::On => world.advance_while(world.end(), goes_on),
            Reaction::Off => {
                let from = self.units.partition_point(|unit| unit.time < self.decisions[decision].time);
                world.replay(&self.scope, &self.units[from..], goes_on);
            }
        }
    }

    /// Count the frames that are lost in the world of a decision, which has been run to its end.
    fn price(&self, world: &Stepper<Watch>, decision: usize) -> usize {
        let from = self.decisions[decision].time;
        let warmup = Time::ZERO + self.scenario.warmup;
        let is_new = |packet: &Packet| self.broken.get(packet).is_none_or(|earlier| *earlier >= from);
        let later = world.tracer().broken.iter().filter(|(packet, lost)| **lost >= warmup && is_new(packet));
        self.losses.partition_point(|lost| *lost < from) + later.count()
    }
}

/// Return the number of sets of `size` out of `count`.
fn sets(count: usize, size: usize) -> usize {
    (0..size).fold(1, |product, step| product * count.saturating_sub(step) / (step + 1))
}

/// List the sets of `size` entries, each in order.
fn combinations(of: &[usize], size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let with = |(place, &first): (usize, &usize)| {
        let rest = combinations(&of[place + 1..], size - 1);
        rest.into_iter().map(move |rest| [&[first], &rest[..]].concat())
    };
    of.iter().enumerate().flat_map(with).collect()
}
