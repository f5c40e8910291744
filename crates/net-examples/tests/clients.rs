//! Tests of stacks over paths, as their authors would write them.

#![allow(clippy::print_stdout)] // a test prints its picture

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pushout_core::api::{self, Request};
use pushout_net::{Counts, Delivery, Host, Path, assert_goodput};
use pushout_net_examples::picture::Picture;
use pushout_net_examples::quic::{Transfer, as_received};
use pushout_net_examples::{quic, tcp};
use quinn_proto::congestion::{BbrConfig, Controller, ControllerFactory};
use quinn_proto::{EcnCodepoint, TransportConfig};

const OCTETS: usize = 10_000_000;

fn hosts(path: &Path) -> [Host; 2] {
    ["client1", "server1"].map(|name| path.host(name).expect("a host of the path"))
}

/// Ten megabytes over QUIC; returns the path, the picture of the queue, and how many packets the client declared lost: those that
/// the path lost, but for the ones whose loss it could not know at the end.
fn over_quic(path: Path, port: &str) -> (Path, Picture, u64) {
    over_quic_with(TransportConfig::default(), path, port)
}

/// Like `over_quic`, with this configuration.
fn over_quic_with(config: TransportConfig, mut path: Path, port: &str) -> (Path, Picture, u64) {
    let ends = hosts(&path);
    path.reserve(ends[0], ends[1], 1).expect("time has not passed");
    let mut picture = Picture::new(path.port(port).expect("a port of the path"), 100);
    let Transfer { client, packets, .. } =
        quic::transfer(&mut path, ends, OCTETS, config, as_received, &mut picture);
    // a packet counts as lost when a later one by three is acknowledged: what was sent half a second before the end is decided
    let late = path.now().duration().saturating_sub(Duration::from_millis(500));
    let lost = |packet: &&Delivery| packet.lost().is_some();
    let (early, all) = (
        packets.iter().filter(|packet| packet.sent.duration() < late).filter(lost).count() as u64,
        packets.iter().filter(lost).count() as u64,
    );
    let declared = client.stats().path.lost_packets;
    assert!((early..=all).contains(&declared), "{declared} declared lost\n{}", path.explain());
    (path, picture, declared)
}

#[test]
fn quic_fills_a_port_with_fq_codel_and_keeps_its_queue_short() {
    let network =
        || Path::builder().rate("20 Mb/s").delay("10 ms").policy("fq-codel").build().expect("a path");
    let (path, picture, lost) = over_quic(network(), "bottleneck");
    println!(
        "{}{} packets declared lost, {} offered, mean queue {:.0} octets, at {}",
        picture.text(),
        lost,
        path.offered(),
        picture.mean(),
        path.now()
    );
    assert_goodput!(path, OCTETS as u64, "17 Mb/s");
    assert!(picture.mean() < 60_000.0, "{}\n{}", picture.text(), path.explain());
    let ours = by_ours("discipline = \"fq-codel\"", "congestion = \"cubic\", hystart = \"off\", ecn = true");
    let (time, octets) = (path.now().seconds() / ours.0, picture.mean() / ours.1);
    println!("of the simulator's own CUBIC: {time:.4} times the time, {octets:.3} times the queue");
    assert!((0.95..1.05).contains(&time) && (0.95..1.05).contains(&octets), "{time} {octets}");
    let (again, _, lost_again) = over_quic(network(), "bottleneck");
    assert_eq!((again.now(), again.offered(), lost_again), (path.now(), path.offered(), lost));
    assert_eq!(again.scenario_file(), path.scenario_file(), "the same run gives the same packets");
}

#[test]
fn bbr_of_quinn_keeps_a_deep_queue_short_as_ours_does() {
    let network = || Path::builder().rate("20 Mb/s").delay("10 ms").buffer("500 kB").build().expect("a path");
    let mut config = TransportConfig::default();
    config.congestion_controller_factory(Arc::new(BbrConfig::default()));
    let (path, picture, lost) = over_quic_with(config, network(), "bottleneck");
    let (cubic_path, cubic, cubic_lost) = over_quic(network(), "bottleneck");
    let own = |sender: &str| by_ours("buffer = \"500 kB\"", sender);
    let [ours, our_cubic] = [
        own("congestion = \"bbr\""),
        own("congestion = \"cubic\", hystart = \"off\""), // quinn has no HyStart
    ];
    println!("BBR: {} s, {:.0} octets, {lost} lost; ours {ours:?}", path.now().seconds(), picture.mean());
    println!(
        "CUBIC: {} s, {:.0} octets, {cubic_lost} lost; ours {our_cubic:?}",
        cubic_path.now().seconds(),
        cubic.mean()
    );
    assert_goodput!(path, OCTETS as u64, "16 Mb/s");
    assert!(picture.mean() < cubic.mean() / 2.0, "{}\n{}", picture.text(), path.explain());
    assert!(ours.1 < our_cubic.1 / 2.0, "{ours:?} {our_cubic:?}");
}

/// Transfer as many octets by a sender of the simulator over a port with these keys; returns the seconds, and the mean octets in the queue
/// during them.
fn by_ours(port: &str, sender: &str) -> (f64, f64) {
    let text = format!(
        r#"
        name = "cubic"
        duration = "10 s"
        adaptation = {{ kind = "packet" }}
        node = [
            {{ name = "client1", kind = "host" }}, {{ name = "left", kind = "router" }}, {{ name = "right", kind = "router" }},
            {{ name = "server1", kind = "host" }},
        ]
        link = [
            {{ from = "client1", to = "left", rate = "10 Gb/s", delay = "0 s" }},
            {{ name = "bottleneck", from = "left", to = "right", rate = "20 Mb/s", delay = "10 ms" }},
            {{ from = "right", to = "server1", rate = "10 Gb/s", delay = "0 s" }},
        ]
        port = {{ bottleneck = {{ {port} }} }}
        [[flow]]
        name = "own"
        from = "client1"
        to = "server1"
        source = {{ kind = "file", size = "10000000 bytes", at = ["0 s"] }}
        transport = {{ kind = "tcp", profile = "linux", mss = 1440, {sender} }}
    "#
    );
    let request = Request { text: &text, name: "cubic", sets: &[], seed: None, engine: None, audit: true };
    let report = api::run(&request, || 0.0).expect("a run");
    let seconds = report["summary"]["transfer_time_mean_s"].as_f64().expect("the transfer completes");
    let port = report["ports"].as_array().expect("ports").iter().find(|port| port["name"] == "bottleneck");
    let port = port.expect("the bottleneck");
    let mean = port["occupancy_mean"].as_f64().expect("a mean");
    let octets = if port["occupancy_unit"] == "bytes" { mean } else { mean * 1480.0 };
    (seconds, octets * 10.0 / seconds)
}

#[test]
fn quic_recovers_from_random_losses() {
    let network =
        Path::builder().rate("20 Mb/s").delay("10 ms").policy("codel").loss(0.01).build().expect("a path");
    let (path, picture, lost) = over_quic(network, "bottleneck");
    println!(
        "{}{} packets declared lost, {} offered, at {}",
        picture.text(),
        lost,
        path.offered(),
        path.now()
    );
    assert!(lost > 50, "{}", path.explain());
    assert_goodput!(path, OCTETS as u64, "2 Mb/s");
}

/// A chip whose memory two ports share, one of them with traffic of the network's own.
const MEMORY: &str = r#"
name = "chip"
duration = "60 s"
adaptation = { kind = "packet" }
node = [
    { name = "client1", kind = "host" }, { name = "server1", kind = "host" }, { name = "source", kind = "host" },
    { name = "sink", kind = "host" }, { name = "chip", kind = "router" },
]
link = [
    { from = "client1", to = "chip", rate = "1 Gb/s", delay = "5 ms" },
    { from = "source", to = "chip", rate = "1 Gb/s", delay = "5 ms" },
    { name = "out", class = "down", from = "chip", to = "server1", rate = "20 Mb/s", delay = "5 ms" },
    { name = "other", class = "down", from = "chip", to = "sink", rate = "20 Mb/s", delay = "5 ms" },
]
[[flow]]
name = "own"
from = "source"
to = "sink"
source = { kind = "greedy" }
transport = { kind = "tcp", congestion = "cubic" }
[port.down]
memory = "chip"
[memory.chip]
size = "100 kB"
cell = "256 bytes"
admission = { policy = "dynamic-threshold", alpha = 1 }
"#;

#[test]
fn quic_shares_a_memory_with_tcp_at_another_port() {
    let (path, picture, lost) = over_quic(Path::from_toml(MEMORY).expect("a path"), "out");
    println!(
        "{}{} packets declared lost, {} offered, at {}",
        picture.text(),
        lost,
        path.offered(),
        path.now()
    );
    assert_goodput!(path, OCTETS as u64, "14 Mb/s");
}

/// Three megabytes over TCP with this window, in octets; the bottleneck has room for 64 kB.
fn over_tcp(window: usize) -> Path {
    let mut path = Path::builder().rate("20 Mb/s").delay("10 ms").buffer("64 kB").build().expect("a path");
    let (ends, octets) = (hosts(&path), 3_000_000);
    path.reserve(ends[0], ends[1], 1).expect("time has not passed");
    let mut picture = Picture::new(path.port("bottleneck").expect("a port"), 50);
    tcp::transfer(&mut path, ends, octets, window, &mut picture);
    println!("{}{} offered, at {}", picture.text(), path.offered(), path.now());
    assert_goodput!(path, octets as u64, "15 Mb/s");
    path
}

#[test]
fn tcp_of_smoltcp_fills_the_bottleneck_with_a_window_that_fits() {
    let (path, again) = (over_tcp(60_000), over_tcp(60_000));
    assert_eq!(again.scenario_file(), path.scenario_file());
}

/// smoltcp 0.12 sends its whole window again after a loss, so that a window beyond buffer and round trip costs it the goodput.
#[test]
#[should_panic(expected = "by tail-drop: the buffer")]
fn a_window_that_does_not_fit_is_found_by_its_losses() {
    over_tcp(1 << 18);
}

/// A window that never changes.
#[derive(Clone)]
struct Constant(u64);

impl Controller for Constant {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        self.0
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.0
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for Constant {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new((*self).clone())
    }
}

/// A client with a window of this many octets at all times.
fn constant(window: u64) -> TransportConfig {
    let mut config = TransportConfig::default();
    config.congestion_controller_factory(Arc::new(Constant(window)));
    config
}

/// Three megabytes through a port with this policy and 64 kB; returns what became of the packets of the client.
fn three_megabytes(
    policy: &str,
    config: TransportConfig,
    echo: fn(Option<EcnCodepoint>) -> Option<EcnCodepoint>,
) -> (Path, Counts) {
    let network = Path::builder().rate("20 Mb/s").delay("10 ms").policy(policy).buffer("64 kB");
    let mut path = network.build().expect("a path");
    let ends = hosts(&path);
    path.reserve(ends[0], ends[1], 1).expect("time has not passed");
    let mut picture = Picture::new(path.port("bottleneck").expect("a port"), 50);
    let flow = quic::transfer(&mut path, ends, 3_000_000, config, echo, &mut picture).flow;
    let counts = path.counts(flow, ends[1]).expect("its flow is open");
    (path, counts)
}

/// The test of a client whose window must fall: at most one packet of ten is lost. Slow start alone loses one of twenty here.
fn loses_little(config: TransportConfig) {
    let (path, counts) = three_megabytes("tail-drop", config, as_received);
    assert!(counts.loss() < 0.1, "{}", path.explain());
}

#[test]
fn quic_reduces_its_window() {
    loses_little(TransportConfig::default());
}

#[test]
#[should_panic(expected = "client1-server1.1: offered 7414, arrived 2285, lost 5129 (69.2 %)")]
fn a_window_that_never_falls_is_found() {
    loses_little(constant(400_000));
}

/// The test of a client that paces: a window that fits into line and buffer together loses nothing.
fn paces(mut config: TransportConfig) {
    config.send_window(90_000);
    let (path, counts) = three_megabytes("tail-drop", config, as_received);
    assert!(counts.lost == 0, "{}", path.explain());
}

#[test]
fn quic_paces_its_window() {
    paces(constant(90_000));
}

/// quinn does not pace windows beyond 32 bits; what is under way is then bounded by its buffer alone.
#[test]
#[should_panic(expected = "longest burst: ")]
fn a_client_that_does_not_pace_is_found() {
    paces(constant(1 << 33));
}

/// The test of a client that reduces its window for marks: at most one packet of ten arrives with one.
fn has_few_marks(echo: fn(Option<EcnCodepoint>) -> Option<EcnCodepoint>) {
    let policy = "{ policy = \"step\", threshold = \"30 kB\" }";
    let (path, counts) = three_megabytes(policy, TransportConfig::default(), echo);
    assert!(counts.marked > 0 && counts.marks() < 0.1, "{}", path.explain());
}

#[test]
fn quic_reduces_its_window_for_marks() {
    has_few_marks(as_received);
}

#[test]
#[should_panic(expected = "of them marked 1138")]
fn a_stack_that_does_not_echo_marks_is_found() {
    has_few_marks(|ecn| ecn.map(|_| EcnCodepoint::Ect0));
}
