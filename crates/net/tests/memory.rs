//! What a path holds is freed with it. The test is alone in its process, since it reads the memory of the process.

#![allow(clippy::unwrap_used)] // what fails fails the test

use std::time::Duration;

use pushout_net::{Ecn, Path, Time};

/// Octets of this process in memory (Linux).
fn resident() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}

#[test]
fn a_path_that_is_dropped_leaves_nothing() {
    let run = |count| {
        for _ in 0..count {
            let mut path = Path::builder().policy("fq-codel").build().unwrap();
            let (client, server) = (path.host("client1").unwrap(), path.host("server1").unwrap());
            let flow = path.open(client, server).unwrap();
            for _ in 0..40 {
                path.offer(Time::ZERO, client, 1500, flow, Ecn::Ect0).unwrap();
            }
            path.clone().take(Duration::from_millis(30));
        }
    };
    run(100);
    let Some(before) = resident() else { return };
    run(10_000);
    let grown = resident().unwrap().saturating_sub(before);
    assert!(grown < 1_000_000, "{grown} octets");
}
