//! The memory that the port in view shares with others, as JSON: its constants, and its present content.

use serde_json::{Value as Json, json};

use pushout_core::memory::{Memory, SharedPool, SharedQueue};
use pushout_core::network::Network;
use pushout_core::scenario::model::{self, MemoryPool, MemoryQueue, Scenario};
use pushout_core::units::ids::LineId;

/// Its name, cells, pools and queues; null if the port has a buffer of its own.
pub(crate) fn terms(scenario: &Scenario, port: LineId) -> Json {
    let shares = |memory: &&model::NodeMemory| memory.ports.iter().any(|&(shared_by, _)| shared_by == port);
    let Some(memory) = scenario.memories.iter().find(shares) else { return Json::Null };
    let pool = |pool: &MemoryPool| json!([pool.name, pool.shared, pool.headroom]);
    let queue = |queue: &MemoryQueue| json!([queue.line.0, queue.class, queue.pool, queue.limits.reserved]);
    json!({
        "name": memory.name,
        "section": scenario.lines[port].port.memory,
        "cells": memory.cells,
        "pools": memory.pools.iter().map(pool).collect::<Vec<_>>(),
        "queues": memory.queues.iter().map(queue).collect::<Vec<_>>(),
    })
}

/// Return the cells in use: of the memory, of the shared room and the headroom of every pool, and of every queue, with
/// its limit.
pub(crate) fn filled(network: &Network, port: LineId) -> Json {
    let Some(share) = network.ports[port].share() else { return Json::Null };
    let memory =
        network.memories().nth(share.number().index()).expect("a port shares a memory of its network");
    let pool = |pool: &SharedPool| json!([pool.books().total(), pool.headroom_used()]);
    let queue = |queue: &SharedQueue| json!([queue.held(), room(memory, queue)]);
    json!({
        "used": memory.used(),
        "pools": memory.pools().iter().map(pool).collect::<Vec<_>>(),
        "queues": memory.queues().iter().map(queue).collect::<Vec<_>>(),
    })
}

/// The most that a queue may have now: reserved room, and shared room up to its threshold and its limit.
fn room(memory: &Memory, queue: &SharedQueue) -> f64 {
    let threshold = memory.pools()[queue.pool].threshold(queue.number);
    let limit = queue.limits.limit.map_or(f64::INFINITY, |limit| limit as f64);
    queue.limits.reserved as f64 + threshold.min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::stepper;
    use pushout_core::scenario::load;
    use pushout_core::units::{Span, Time};

    #[test]
    fn the_queues_of_a_memory_fill_it_and_keep_to_their_thresholds() {
        let text = include_str!("../../../scenarios/chip.toml");
        let scenario = load(text, "chip.toml", &[]).unwrap();
        let port = scenario.lines.position(|line| line.name == "to-aggregator").unwrap();
        let terms = terms(&scenario, port);
        let mut stepper = stepper(&scenario, port, 1);
        stepper.advance(Time::ZERO + Span::millis(11));
        let now = filled(stepper.network(), port);
        assert_eq!((&terms["name"], &terms["section"]), (&json!("chip"), &json!("chip")));
        assert_eq!(terms["queues"].as_array().unwrap().len(), now["queues"].as_array().unwrap().len());
        let held = |queue: &Json| queue[0].as_f64().unwrap();
        let queues = now["queues"].as_array().unwrap();
        assert_eq!(queues.iter().map(held).sum::<f64>(), now["used"].as_f64().unwrap());
        let busy: Vec<&Json> = queues.iter().filter(|queue| held(queue) > 0.0).collect();
        assert!(busy.len() >= 2 && now["used"].as_u64() <= terms["cells"].as_u64());
        let free = terms["cells"].as_f64().unwrap() - now["used"].as_f64().unwrap();
        assert!(busy.iter().all(|queue| (queue[1].as_f64().unwrap() - 8.0 * free).abs() < 1e-6), "α is 8");
    }

    #[test]
    fn a_port_with_a_buffer_of_its_own_has_no_memory() {
        let scenario = load(include_str!("../../../scenarios/lan.toml"), "lan.toml", &[]).unwrap();
        assert_eq!(terms(&scenario, LineId(0)), Json::Null);
        assert_eq!(filled(&Network::new(&scenario), LineId(0)), Json::Null);
    }
}
