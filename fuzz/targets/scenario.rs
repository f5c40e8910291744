//! Any text is a scenario or gets a message, and what is a scenario can be explained: its explicit form is the same scenario.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pushout_core::scenario::{explain, load};

/// More is only slower.
const MOST_FLOWS: usize = 1000;

fuzz_target!(|text: &str| {
    let Ok(scenario) = load(text, "fuzz.toml", &[]) else { return };
    if scenario.flows.len() > MOST_FLOWS {
        return;
    }
    let explicit = explain(&scenario);
    let again = load(&explicit.to_string(), "explicit.json", &[]);
    let again = again.unwrap_or_else(|message| panic!("the explicit form is refused:\n{message}"));
    assert_eq!(explain(&again), explicit, "the explicit form is another scenario");
});
