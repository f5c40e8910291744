//! The circuits whose policer matters, and those whose cells it may tag.
//!
//! # What it assumes
//! A policer tags units or loses them, and the tag is read only by the policies of ports.
//!
//! # What it skips
//! Policers that tag units for ports that do not look at tags: they are asked once, and trains pass whole.
//!
//! # Why that is exact
//! A tag that no port reads changes nothing, and no figure counts tags; only whether a number was drawn is reported.
//!
//! # What turns it off
//! A policer that loses units, or a port on the circuit's way that may read tags: then the train is divided where the
//! verdict changes (`forward.rs`).

use super::form::PortForm;
use crate::buffer::admission::Rule;
use crate::police::{self, ExcessAction, Police};
use crate::scenario::model::{Flow, Scenario};
use crate::units::ids::{CircuitId, IdVec, LineId};

/// When the engine must ask a policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicerUse {
    /// Never: the circuit has no policer, or the engine has asked enough.
    Never,
    /// About one unit: its answer changes nothing, but the report says whether the run has drawn a number.
    Once,
    /// About each unit.
    Always,
}

/// What policers may do to the units of each circuit.
#[derive(Debug)]
pub(crate) struct Policing {
    pub(crate) uses: IdVec<CircuitId, PolicerUse>,
    /// Whether some units of a frame may have a tag that a port reads, and others not.
    pub(crate) tags: IdVec<CircuitId, bool>,
}

impl Policing {
    /// Find the circuits in a network whose ports have these forms.
    pub(crate) fn new(scenario: &Scenario, forms: &IdVec<LineId, PortForm>) -> Policing {
        let count = scenario.vcs.len();
        let mut policing =
            Policing { uses: IdVec::filled(PolicerUse::Never, count), tags: IdVec::filled(false, count) };
        for flow in scenario.flows.iter().filter(|flow| flow.police.is_some()) {
            let path = &scenario.vcs[flow.vc].path;
            let tags = action(scenario, flow) == Some(ExcessAction::Tag);
            let is_read = path.iter().any(|&port| may_read_tags(&forms[port]));
            policing.uses[flow.vc] = if is_read || !tags { PolicerUse::Always } else { PolicerUse::Once };
            policing.tags[flow.vc] = is_read && tags;
        }
        policing
    }
}

/// Return the action of a flow's policer on units in excess.
fn action(scenario: &Scenario, flow: &Flow) -> Option<ExcessAction> {
    let context = police::Context { seed: scenario.seed, flow: &flow.name };
    let policer = flow.police.as_ref()?.build(&context);
    Some(policer.expect("a checked scenario can be built").action())
}

/// Return whether a port may look at the tag of a unit: the rule of a queue that decides without its policy does not.
fn may_read_tags(form: &PortForm) -> bool {
    match form {
        PortForm::HostInterface | PortForm::Delay | PortForm::Fifo(Rule::Fits | Rule::Frames { .. }) => false,
        PortForm::HeadDrop(_) => false,
        PortForm::Fifo(Rule::Asked(_)) | PortForm::PerVc(_) | PortForm::PerUnit => true,
    }
}
