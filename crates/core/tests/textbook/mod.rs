//! Every scheme against a model of its own, cell by cell.
//!
//! Both engines run the same policies, so no comparison of engines sees a mistake in one. Here each scheme is written a
//! second time, from its paper and from the text at the top of its file, as one would on a blackboard: the cells of a port
//! stand in a list, and whatever a scheme asks of them is counted anew. Random traffic meets the port and its model,
//! and every loss with its reason, every cell sent, and the occupancy have to be the same. `senders` does the same with
//! congestion controls and the recovery of losses, `trimming` with packets that are cut instead of being lost, `credits` with
//! packets that wait for credits.

#![allow(clippy::unwrap_used)] // here a panic is the report

mod behind;
mod board;
mod chips;
mod classes;
mod codel;
mod codes;
mod credits;
mod dualpi2;
mod fair;
mod frames;
mod front;
pub(crate) mod lines;
mod meters;
mod pie;
mod port;
mod pushing;
mod random;
mod rates;
mod senders;
mod sources;
mod spread;
mod trimming;
mod turns;

use port::{Draw, compare};
use pushout_core::buffer::{admission, pushout};
use pushout_core::scheduler;

/// Schemes without a model of their own, and why.
const WITHOUT_MODEL: [(&str, &str); 2] = [
    ("program", "tests/equivalence/programs compares it with the schemes that it can express"),
    ("probe", "only tests have it"),
];

/// The texts of the models.
const MODELS: [&str; 12] = [
    include_str!("chips.rs"),
    include_str!("codel.rs"),
    include_str!("codes.rs"),
    include_str!("dualpi2.rs"),
    include_str!("fair.rs"),
    include_str!("frames.rs"),
    include_str!("front.rs"),
    include_str!("pie.rs"),
    include_str!("pushing.rs"),
    include_str!("random.rs"),
    include_str!("rates.rs"),
    include_str!("turns.rs"),
];

/// Return whether a test builds a port with a scheme of this name: in the keys of a scenario, or by a word that is
/// inserted there.
fn is_modelled(name: &str) -> bool {
    let asked = [format!("\\\"{name}\\\""), format!("\"{name}\"")];
    MODELS.iter().any(|text| asked.iter().any(|asked| text.contains(asked)))
}

#[test]
fn every_scheme_of_a_port_has_a_model_of_its_own() {
    let entries = [admission::CATALOGUE, pushout::CATALOGUE, scheduler::CATALOGUE].into_iter().flatten();
    for entry in entries {
        let why = WITHOUT_MODEL.iter().find(|(name, _)| *name == entry.name);
        assert_ne!(is_modelled(entry.name), why.is_some(), "{}: a model, or a reason for none", entry.name);
    }
    assert!(!is_modelled("half-full"), "a name that no test asks for");
}
