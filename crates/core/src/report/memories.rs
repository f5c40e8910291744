//! The occupancy of the memories that ports share.

use serde_json::{Value as Json, json};

use super::curves::sampled;
use crate::engine::Outcome;
use crate::language::spec::Field;
use crate::memory::{Memory, SharedQueue};
use crate::scenario::model::{self, MemoryPool, MemoryQueue, Scenario};

/// Return the report's entry of a memory.
pub(super) fn entry(scenario: &Scenario, spec: &model::NodeMemory, memory: &Memory, is_traced: bool) -> Json {
    let pools = spec.pools.iter().enumerate().map(|(number, spec)| pool(spec, memory, number));
    let queues = spec.queues.iter().zip(memory.queues());
    let queues =
        queues.map(|(spec_of_queue, queue)| of_queue(scenario, spec, spec_of_queue, queue, is_traced));
    let mut entry = json!({
        "name": spec.name,
        "node": scenario.nodes[spec.node].name,
        "cells": spec.cells,
        "cell_octets": spec.cell.octets,
        "occupancy_mean": memory.occupancy().mean(),
        "occupancy_max": memory.occupancy().max(),
        "pools": pools.collect::<Json>(),
        "queues": queues.collect::<Json>(),
    });
    if is_traced {
        entry["occupancy"] = over_time(scenario, json!(memory.occupancy().trace()));
    }
    entry
}

/// Return the entries of all memories of a run.
pub(super) fn entries(scenario: &Scenario, outcome: &Outcome) -> Json {
    let memories = scenario.memories.pairs().zip(outcome.network.memories());
    let entry =
        |((number, spec), memory)| entry(scenario, spec, memory, scenario.measure.memories.contains(&number));
    memories.map(entry).collect()
}

fn pool(spec: &MemoryPool, memory: &Memory, number: usize) -> Json {
    let pool = &memory.pools()[number];
    json!({
        "name": spec.name,
        "side": spec.side.write(),
        "shared": spec.shared,
        "headroom": spec.headroom,
        "occupancy_mean": pool.occupancy().mean(),
        "occupancy_max": pool.occupancy().max(),
        "headroom_max": pool.headroom_max(),
    })
}

fn of_queue(
    scenario: &Scenario,
    memory: &model::NodeMemory,
    spec: &MemoryQueue,
    queue: &SharedQueue,
    is_traced: bool,
) -> Json {
    let line = &scenario.lines[spec.line].name;
    let mut entry = json!({
        "name": format!("{line}/{}", spec.class),
        "port": line,
        "queue": spec.class,
        "pool": memory.pools[spec.pool].name,
        "occupancy_mean": queue.occupancy().mean(),
        "occupancy_max": queue.occupancy().max(),
        "threshold_min": queue.threshold_min(),
        "headroom_max": queue.headroom_max(),
        "dropped": queue.dropped,
        "marked": queue.marked,
        "pushed_out_octets": queue.pushed_out_octets,
    });
    if queue.trimmed > 0 {
        entry["trimmed"] = queue.trimmed.into();
    }
    if is_traced {
        entry["occupancy"] = over_time(scenario, json!(queue.occupancy().trace()));
        entry["threshold"] = over_time(scenario, json!(queue.thresholds()));
    }
    entry
}

fn over_time(scenario: &Scenario, values: Json) -> Json {
    let mut samples = sampled(scenario);
    samples["values"] = values;
    samples
}
