//! Packets that a TCP sender sends before its first acknowledgement are of a class of their own in shared memories, on both engines.

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::scenario::load;
use pushout_core::serde_json::{Value as Json, json};

/// A flow without feedback keeps its queue at the threshold; a transfer of 20 segments joins it at the slow port of a router. Its first
/// window has 8 segments, and its packets fill a cell each.
const CHIP: &str = r#"
name = "chip"
duration = "2 s"
adaptation = { kind = "packet" }
node = [
    { name = "router", kind = "router" }, { name = "old", kind = "host" }, { name = "young", kind = "host" },
    { name = "sink", kind = "host" },
]
link = [
    { name = "old.in", from = "old", to = "router", rate = "100 Mb/s", delay = "0 s" },
    { name = "young.in", from = "young", to = "router", rate = "1 Gb/s", delay = "0 s" },
    { name = "out", from = "router", to = "sink", rate = "10 Mb/s", delay = "0 s" },
]

[port.out]
memory = "chip"

[memory.chip]
size = "90 cells"
cell = "1600 bytes"
admission = { policy = "dynamic-threshold", alpha = 0.5 }

[queue.all]

[queue.first]
alpha = 1024.0

[[flow]]
name = "old"
from = "old"
to = "sink"
stop = "1 s"
source = { kind = "cbr", rate = "20 Mb/s", size = "1460 bytes" }
transport = { kind = "udp" }

[[flow]]
name = "young"
from = "young"
to = "sink"
start = "500 ms"
source = { kind = "file", size = "29200 bytes", off = "100 s" }
transport = { kind = "tcp", mss = 1460, window = "64 KiB", handshake = false, initial_window = 8, unscheduled = "first" }
"#;

const WITHOUT_OLD: &str = "flow.old.stop=\"1 ps\"";

/// The queue of this class in the only memory.
fn queue<'a>(document: &'a Json, class: &str) -> &'a Json {
    let queues = document["memories"][0]["queues"].as_array().unwrap();
    queues.iter().find(|queue| queue["queue"] == class).unwrap()
}

/// Octets of the transfer that have arrived in the two seconds of the run.
fn delivered(document: &Json) -> f64 {
    entry(document, "flows", "young")["goodput_bps"].as_f64().unwrap() / 4.0
}

#[test]
fn the_first_window_is_charged_to_the_class_and_nothing_else_is() {
    let alone = run(CHIP, &[WITHOUT_OLD]);
    assert_eq!(delivered(&alone), 29_200.0);
    assert_eq!(queue(&alone, "first")["occupancy_max"], json!(8));
    let none = run(CHIP, &[WITHOUT_OLD, "queue.first.limit=\"0 cells\""]);
    assert_eq!(queue(&none, "first")["dropped"], json!(8), "later segments are of the class of the flow");
    assert_eq!(delivered(&none), 29_200.0, "so is what the sender sends again");
    assert_eq!(queue(&none, "all")["dropped"], json!(0));
}

#[test]
fn the_factor_of_the_class_admits_a_first_window_where_that_of_the_flow_refuses_it() {
    let sends_once = "flow.young.source.size=\"11680 bytes\"";
    let marked = run(CHIP, &[sends_once]);
    assert_eq!(queue(&marked, "all")["occupancy_max"], json!(30), "90 cells with a factor of a half");
    assert_eq!((&queue(&marked, "first")["dropped"], delivered(&marked)), (&json!(0), 11_680.0));
    assert_eq!(entry(&marked, "flows", "young")["segments_retransmitted"], json!(0));
    let own = "flow.young.transport={kind=\"tcp\", mss=1460, handshake=false, initial_window=8}";
    let unmarked = run(CHIP, &[sends_once, own]);
    let again = entry(&unmarked, "flows", "young")["segments_retransmitted"].as_u64().unwrap();
    assert!(again >= 4, "every other packet of the older flow is lost as well, but only {again} of 8");
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load(CHIP, "chip.toml", &sets).unwrap_err().message.lines().next().unwrap().to_string()
    };
    let key = "flow.young.transport.unscheduled";
    for (set, path, words) in [
        ("flow.young.transport.unscheduled=\"fist\"", key, "unknown queue \"fist\"; did you mean \"first\"?"),
        ("flow.young.transport.unscheduled=\"all\"", key, "must name another class than that of the flow"),
        ("flow.young.queue=\"first\"", key, "must name another class than that of the flow"),
        (
            "port.'young.in'.credit={policy=\"cbfc\", room=\"6 kB\"}",
            "port.'young.in'.credit",
            "must be left out: credits count packets of one class for each circuit, and \"young\" has transport.unscheduled",
        ),
        (
            "queue.first.opposite={pool=\"b\"}",
            "queue.first.opposite",
            "must be left out: flows with transport.unscheduled have packets of this class and of another",
        ),
        (
            "queue.all.pause={xoff=\"9 cells\", xon=\"2 cells\"}",
            "queue.all.pause",
            "must be left out: flows with transport.unscheduled have packets of this class and of another",
        ),
    ] {
        let pools = match path {
            "queue.first.opposite" => "memory.chip.pool={a={}, b={side=\"ingress\"}}",
            "queue.all.pause" => "memory.chip.pool={a={side=\"ingress\", headroom=\"20 cells\"}}",
            _ => "memory.chip.cell=\"1600 bytes\"",
        };
        let message = refused(&[pools, set]);
        assert!(message.contains(path) && message.contains(words), "{set}: {message}");
    }
}

#[test]
fn circuits_that_flows_share_have_one_class_of_unscheduled_packets() {
    let sets = ["flow.young.connections=2".to_string()];
    assert!(load(CHIP, "chip.toml", &sets).is_ok());
    let other = CHIP.replace(
        "name = \"old\"\nfrom = \"old\"\nto = \"sink\"",
        "name = \"old\"\nfrom = \"young\"\nto = \"sink\"\npvc = \"shared\"",
    );
    let shared = other.replace("start = \"500 ms\"", "pvc = \"shared\"");
    let message = load(&shared, "chip.toml", &[]).unwrap_err().message;
    assert!(message.contains("must match the class of unscheduled packets of the flow \"old\""), "{message}");
}
