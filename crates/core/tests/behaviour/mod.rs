//! Behaviour of networks: hand-made sequences, closed forms and small scenarios, each on both engines where both can
//! run it.

#![allow(clippy::unwrap_used)] // here a panic is the report

mod aggregation;
mod applications;
mod both;
mod changing_delays;
mod classes;
mod completion_times;
mod credits;
mod deliveries;
mod disciplines;
mod erasure_codes;
mod extremes;
mod fabrics;
mod frames;
mod gatekeeper_janitor;
mod guaranteed_rates;
mod hosts;
mod least_frame;
mod lists;
mod losses;
mod marks;
mod measures;
mod memories;
mod pacing;
mod pauses;
mod per_circuit_queues;
mod quiet;
mod removals;
mod reordering;
mod scenario_messages;
mod scenario_properties;
mod shapers;
mod storms;
mod summary;
mod switches;
mod tcp;
mod theory;
mod trimming;
mod unscheduled;
mod waits;
mod workloads;
