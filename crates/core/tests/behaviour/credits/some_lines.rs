//! A class with credits on some of the lines that bring it to a memory.

use super::{load, run};
use pushout_core::scenario::checked;

/// Four hosts that send 50 Gb/s each over a line of 100 Gb/s; only routers send by credits.
const SENDERS: &str = r#"
    name = "senders"
    duration = "1 ms"
    adaptation = { kind = "packet" }
    queue.rdma = { pool = "lossless" }

    [topology]
    template = "dumbbell"
    sources = 4
    access = { rate = "100 Gb/s", delay = "500 ns" }
    bottleneck = { rate = "100 Gb/s", delay = "500 ns" }
    egress = { rate = "100 Gb/s", delay = "500 ns" }

    [port.default]
    memory = "chip"
    credit = { policy = "cbfc", credit_size = "254 bytes", update = "6400 bytes" }

    [memory.chip]
    size = "2 MB"
    cell = "254 bytes"
    pool.lossless = { side = "ingress" }

    [flows]
    source = { kind = "cbr", rate = "50 Gb/s" }
    transport = { kind = "udp" }
    queue = "rdma"
"#;

const OF_HOSTS: &str =
    "port.access.credit={ policy = 'cbfc', credit_size = '254 bytes', update = '6400 bytes' }";

fn lost(sets: &[&str]) -> u64 {
    let scenario = load(SENDERS, sets);
    let outcome = run(&scenario);
    outcome.network.ports.iter().map(|port| port.counters().lost_total()).sum()
}

fn codes(sets: &[&str]) -> Vec<(&'static str, String)> {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let warnings = checked(SENDERS, "credits.toml", &sets).unwrap().warnings();
    warnings.into_iter().map(|it| (it.code, it.message)).filter(|(code, _)| *code == "credits").collect()
}

#[test]
fn a_line_without_credits_is_named_and_loses() {
    assert!(lost(&[]) > 0);
    let message = "class \"rdma\" may lose packets although it has credits: the line \"access1\" brings it to the memory \
                   \"chip@left\" without credits (3 other lines likewise); give that line credits too, in port.access.credit";
    assert_eq!(codes(&[]), [("credits", message.to_string())]);
}

#[test]
fn with_credits_on_every_line_nothing_is_lost() {
    assert_eq!(lost(&[OF_HOSTS]), 0);
    assert_eq!(codes(&[OF_HOSTS]), []);
}
