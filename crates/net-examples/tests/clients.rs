//! Tests of stacks over paths, as their authors would write them.

#![allow(clippy::print_stdout)] // a test prints its picture

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use pushout_net::{Host, Path, assert_goodput};
use pushout_net_examples::picture::Picture;
use pushout_net_examples::{quic, tcp};
use quinn_proto::TransportConfig;
use quinn_proto::congestion::{Controller, ControllerFactory};

const OCTETS: usize = 10_000_000;

fn hosts(path: &Path) -> [Host; 2] {
    ["client1", "server1"].map(|name| path.host(name).expect("a host of the path"))
}

/// Ten megabytes over QUIC; returns the path, the picture of the queue, and how many packets the client declared lost.
fn over_quic(mut path: Path, port: &str) -> (Path, Picture, u64) {
    let ends = hosts(&path);
    path.reserve(ends[0], ends[1], 1).expect("time has not passed");
    let mut picture = Picture::new(path.port(port).expect("a port of the path"), 100);
    let client = quic::transfer(&mut path, ends, OCTETS, TransportConfig::default(), &mut picture);
    (path, picture, client.stats().path.lost_packets)
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
    let (again, _, lost_again) = over_quic(network(), "bottleneck");
    assert_eq!((again.now(), again.offered(), lost_again), (path.now(), path.offered(), lost));
    assert_eq!(again.scenario_file(), path.scenario_file(), "the same run gives the same packets");
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

/// The fault of a copy: a window that never falls.
#[derive(Clone)]
struct Stubborn;

impl Controller for Stubborn {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        400_000
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for Stubborn {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Stubborn)
    }
}

/// The test of a client whose window must fall: at most one packet of twenty is lost.
fn loses_little(config: TransportConfig) {
    let mut path = Path::builder().rate("20 Mb/s").delay("10 ms").buffer("64 kB").build().expect("a path");
    let ends = hosts(&path);
    path.reserve(ends[0], ends[1], 1).expect("time has not passed");
    let mut picture = Picture::new(path.port("bottleneck").expect("a port"), 50);
    let client = quic::transfer(&mut path, ends, 3_000_000, config, &mut picture);
    let (lost, all) = (client.stats().path.lost_packets, client.stats().path.sent_packets);
    assert!(lost * 20 < all, "{lost} of {all} packets were lost\n{}", path.explain());
}

#[test]
fn quic_reduces_its_window() {
    loses_little(TransportConfig::default());
}

#[test]
#[should_panic(expected = "port bottleneck lost")]
fn a_window_that_never_falls_is_found() {
    let mut config = TransportConfig::default();
    config.congestion_controller_factory(Arc::new(Stubborn));
    loses_little(config);
}
