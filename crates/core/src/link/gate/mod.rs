//! Gates: mechanisms by which a link loses, holds or delays the units of its port.
//!
//! A unit meets the gates of a port at four stages: [`Gate::enters`] before it reaches the buffer, [`Gate::opens`] as
//! long as it is at the head of its queue, [`Gate::starts`] when the port sends it, and [`Gate::arrives`] behind the line. Control
//! frames from the node at the far end reach every gate by [`Gate::receives`].
//!
//! One mechanism is one file. To add one, write its file and add a line to the list below; a mechanism with keys in the
//! section of a port adds them to [`Keys`]. Engines, reports and overrides take the list and the keys from here.

use serde_json::{Map, Value as Json};

use super::control::Control;
use crate::language::spec::Nested;
use crate::metrics::state::Figure;
use crate::refused::{Refused, unfit};
use crate::rng::{Keyed, NameKeys};
use crate::section;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{Rate, Span, Time};
use crate::verdict::Reason;

pub mod calendar;

pub mod cbs;

pub mod ceiling;

pub mod credit;

pub mod delay;

pub mod loss;

pub mod meter;

pub mod pause;

pub mod reorder;

pub mod repeat;

pub mod shaper;

pub mod storm;

pub mod watchdog;

section! {
    /// The gates that the section of a port asks for.
    pub struct Keys {
        /// Token bucket that delays departures; by default none.
        pub shaper: Option<Nested<shaper::Params>> = None,
        /// Credits of the next node, without which the port sends nothing; that node then reserves room for every
        /// circuit, or on packet links for every class of traffic.
        pub credit: Option<credit::Spec> = None,
        /// Watchdog of pauses: what happens to a class that pause frames have stopped for too long; by default it waits.
        pub watchdog: Option<Nested<watchdog::Params>> = None,
        /// Gates that open by a calendar: when classes of traffic may be sent; by default always.
        pub gates: Option<Nested<calendar::Params>> = None,
        /// Policer of what arrives at the port; by default none. Flows have policers of their own.
        pub police: Option<Nested<meter::Params>> = None,
    }
}

/// The line at which gates stand.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Seed of the run, and name of the line: together they seed the random numbers of a gate.
    pub seed: u64,
    /// Keys of the circuits of the network, by their names.
    pub circuits: &'a NameKeys,
    /// Name of the line.
    pub line: &'a str,
    /// Keys of the port's section.
    pub keys: &'a Keys,
    /// Losses by intent on the line.
    pub losses: &'a [&'a loss::Spec],
    /// Delay of the line.
    pub delay: &'a delay::Delay,
    /// Repetitions on the line, if it repeats packets.
    pub repeat: Option<&'a repeat::Params>,
    /// Reordering by intent behind the line.
    pub reorders: &'a [&'a reorder::Spec],
    /// Class of every circuit of the port.
    pub classes: &'a IdVec<PortVc, u32>,
    /// Whether a memory at the far end pauses the line.
    pub is_paused: bool,
    /// Whether the scenario records when that happens.
    pub logs_pauses: bool,
    /// Pauses from outside.
    pub storms: &'a [&'a storm::Spec],
    /// The times after which the port obeys pauses of classes, where it needs any: the class, the memory and the time.
    pub responses: &'a [(u32, u32, Span)],
    /// Least octets of a unit on the line.
    pub minimum: u16,
    /// The maximum rates of classes.
    pub maxima: &'a [ceiling::Maximum],
    /// The credit-based shapers of classes.
    pub slopes: &'a [cbs::Slope],
    /// Rate of the line.
    pub rate: Rate,
    /// Names of the classes of the scenario.
    pub names: &'a [&'a str],
}

/// What belongs to the class of a unit at a port: the class of its circuit, or the lower one into which the policer has put it.
#[derive(Clone, Debug)]
pub(super) struct ByClass<T> {
    of: IdVec<PortVc, T>,
    lowered: Option<T>,
}

impl<T: Copy> ByClass<T> {
    /// Return what belongs to a unit of this circuit.
    pub(super) fn of(&self, unit: &Unit, vc: PortVc) -> T {
        match self.lowered {
            Some(lowered) if unit.is_lowered() => lowered,
            _ => self.of[vc],
        }
    }
}

impl Site<'_> {
    /// Return the lower class of the port's policer, if it has one.
    fn lowered(&self) -> Option<u32> {
        let name = self.keys.lower()?;
        (0..).zip(self.names).find_map(|(class, known)| (*known == name).then_some(class))
    }

    /// Return the numbers of the classes of units at the port, in order.
    pub(super) fn all_classes(&self) -> Vec<u32> {
        let mut classes: Vec<u32> = self.classes.iter().copied().chain(self.lowered()).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Return what belongs to the class of each unit.
    pub(super) fn by_class<T>(&self, of: impl Fn(u32) -> T) -> ByClass<T> {
        ByClass {
            of: self.classes.iter().map(|&class| of(class)).collect(),
            lowered: self.lowered().map(&of),
        }
    }

    /// Return the random numbers for a purpose at this line.
    pub(super) fn keyed(&self, purpose: impl std::fmt::Display) -> Keyed {
        Keyed::new(self.seed, format_args!("line.{}.{purpose}", self.line)).about_circuits(self.circuits)
    }
}

/// A gate that can stand at a line.
pub trait Build: Sized {
    /// Build the gate of a line, if the line has one of this kind.
    fn build(site: &Site<'_>) -> Option<Self>;
}

macro_rules! gates {
    ($( $variant:ident = $gate:ident in $module:ident ),+ $(,)?) => {
        /// A gate of a port.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // documented by their modules
        pub enum Policy { $( $variant($module::$gate) ),+ }

        /// Build the gates of a line, in the order in which units meet them.
        pub fn build(site: &Site<'_>) -> Box<[Policy]> {
            let gates = [$( $module::$gate::build(site).map(Policy::$variant) ),+];
            gates.into_iter().flatten().collect()
        }

        $crate::registry! {
            @trait { $( $variant = $module ),+ }
            /// A mechanism that loses, holds or delays the units of a port.
            pub trait Gate for Policy {
                /// Pass a unit on to the port, where its circuit has the number `vc`; the error is the reason for
                /// which the link loses the unit.
                fn enters(&mut self, now: Time, unit: Unit, vc: PortVc) -> Result<Unit, Reason> {
                    Ok(unit)
                }

                /// Return whether the gate only loses units, before they reach the buffer.
                fn only_loses(&self) -> bool {
                    false
                }

                /// Return whether the gate draws about units that would enter the port.
                fn draws(&self) -> bool {
                    false
                }

                /// Return whether the gate may ever hold waiting units.
                fn holds(&self) -> bool {
                    false
                }

                /// Return whether the gate changes nothing about any unit before a control frame reaches it or it acts by itself.
                fn is_open(&self) -> bool {
                    false
                }

                /// Return whether the port must report what waits by `waits`.
                fn counts_waiting(&self) -> bool {
                    false
                }

                /// Record that the queue of a unit is no longer empty, because the unit joins it, or is empty, because it leaves.
                fn waits(&mut self, now: Time, unit: &Unit, vc: PortVc, waits: bool) {}

                /// Return when a unit at the head of its queue may be sent: `now`, or as things stand at a later instant, or
                /// `Time::NEVER` if it waits for an event.
                fn opens(&self, now: Time, unit: &Unit, vc: PortVc) -> Time {
                    now
                }

                /// Record that the port sends a unit, and return when it may start, at the time `ready` or later.
                fn starts(&mut self, ready: Time, unit: &Unit, vc: PortVc) -> Time {
                    ready
                }

                /// Return when a unit is ready at the far end whose last bit leaves at `ends`; without this gate it
                /// `arrives` at that time.
                fn arrives(&mut self, ends: Time, arrives: Time, unit: &Unit) -> Time {
                    arrives
                }

                /// React to a control frame from the node at the far end.
                fn receives(&mut self, now: Time, control: Control) {}

                /// Return when the gate acts by itself, if it does.
                fn next_action(&self) -> Option<Time> {
                    None
                }

                /// Act by itself, if that is due by `now`; returns whether waiting units that the gate refuses are lost.
                fn act(&mut self, now: Time) -> bool {
                    false
                }

                /// Return whether the gate refuses the units of a circuit, also those that wait.
                fn refuses(&self, vc: PortVc) -> bool {
                    false
                }

                /// Return the gate's variables, for reports over time.
                fn state(&self) -> Vec<Figure> {
                    Vec::new()
                }

                /// Add the gate's figures to those of the port.
                fn report(&self, figures: &mut Map<String, Json>) {}

                /// Reset the gate's counters: the measured time starts now.
                fn reset(&mut self, now: Time) {}

                /// Extend the gate's counters to `now`, the end of the run.
                fn close(&mut self, now: Time) {}
            }
        }
    };
}

gates! {
    Loss = Losses in loss,
    Meter = Policer in meter,
    Pause = Paused in pause,
    Credit = CreditSender in credit,
    Shaper = Shaper in shaper,
    Ceiling = Ceilings in ceiling,
    CreditBased = CreditBased in cbs,
    Calendar = Calendar in calendar,
    Delay = Delays in delay,
    Repeat = Repeating in repeat,
    Reorder = Reordering in reorder,
}

impl Keys {
    /// Return whether the section has no gate.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Keys { shaper: None, credit: None, watchdog: None, gates: None, police: None }
    }

    /// Refuse gates through which units of up to `largest` octets cannot pass, or that contradict each other; the
    /// error has the key.
    pub(crate) fn check(&self, largest: u64) -> Result<(), (&'static str, Refused)> {
        if let Some(Nested(watchdog)) = &self.watchdog {
            watchdog.check().map_err(|refused| ("watchdog", refused))?;
        }
        if let Some(Nested(gates)) = &self.gates {
            gates.check().map_err(|refused| ("gates", refused))?;
            let why = "must be left out beside a shaper, which would delay a frame beyond its window";
            let refused = Refused { key: None, why: why.to_string() };
            self.shaper.is_none().then_some(()).ok_or(("gates", refused))?;
        }
        if let Some(Nested(police)) = &self.police {
            police.check(largest).map_err(|refused| ("police", refused))?;
        }
        let Some(Nested(shaper)) = &self.shaper else { return Ok(()) };
        let pair = match self.credit {
            Some(_) => {
                unfit("cannot be combined with credits, which pace the port already; remove one of them")
            }
            None => Ok(()),
        };
        pair.and_then(|()| shaper.check(largest)).map_err(|refused| ("shaper", refused))
    }

    /// Return the class that gets packets of a colour of the policer, if one does.
    pub(crate) fn lower(&self) -> Option<&str> {
        self.police.as_ref()?.0.lower().map(|(_, class)| class)
    }

    /// Return the rate of octets to which a gate limits the line, if there is such a gate.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.shaper.as_ref().map(|Nested(shaper)| shaper.rate)
    }

    /// Return the name of a gate that delays the start of units, and with them of control frames, if there is one.
    pub(crate) fn delays_controls(&self) -> Option<&'static str> {
        self.shaper.as_ref().map(|_| "a shaper")
    }
}
