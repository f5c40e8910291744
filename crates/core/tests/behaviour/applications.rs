//! Applications: their stops, and TCP with applications that write at a rate of their own.

use crate::behaviour::both::{entry, run_on_both};
use pushout_core::serde_json::Value as Json;

/// Two flows that start and stop, as in the first example of a well-known tutorial of ns-2.
const STOP: &str = r#"
name = "stop"
duration = "5 s"
adaptation = { kind = "packet" }
node = [{ name = "n0", kind = "host" }, { name = "n1", kind = "host" }, { name = "n2", kind = "router" }, { name = "n3", kind = "host" }]
link = [{ from = "n0", to = "n2", rate = "2 Mb/s", delay = "10 ms" }, { from = "n1", to = "n2", rate = "2 Mb/s", delay = "10 ms" }, { name = "out", from = "n2", to = "n3", rate = "1.7 Mb/s", delay = "20 ms" }]
measure = { window = "100 ms", cwnd = ["ftp"], transfers = true }
[port.out]
buffer = "11 packets"
[[flow]]
name = "ftp"
from = "n0"
to = "n3"
start = "1 s"
stop = "4 s"
source = { kind = "greedy" }
transport = { kind = "tcp", mss = 1000, window = "20000 bytes", delayed_ack = false }
[[flow]]
name = "cbr"
from = "n1"
to = "n3"
start = "100 ms"
stop = "4.5 s"
source = { kind = "cbr", rate = "1 Mb/s", size = "972 bytes" }
transport = { kind = "udp" }
"#;

/// Throughput of a flow in windows of 100 ms.
fn throughput(report: &Json, flow: &str) -> Vec<f64> {
    let windows = entry(report, "flows", flow)["throughput"]["bps"].as_array().unwrap();
    windows.iter().map(|rate| rate.as_f64().unwrap()).collect()
}

#[test]
fn a_source_with_a_period_of_8_ms_sends_550_datagrams_from_100_ms_to_4_5_s() {
    let report = run_on_both(STOP, &[]);
    assert_eq!(entry(&report, "flows", "cbr")["segments_sent"], 550);
}

#[test]
fn greedy_tcp_sends_no_new_data_after_its_stop() {
    let report = run_on_both(STOP, &["port.out.buffer=100 packets"]);
    let rates = throughput(&report, "ftp");
    assert!(rates[..10].iter().all(|rate| *rate == 0.0));
    assert!(rates[10..40].iter().filter(|rate| **rate > 0.0).count() > 25, "{rates:?}");
    // the window has 20 segments; two of them have arrived before the stop, their ACKs are in flight, and the others
    // arrive within 300 ms
    let late: f64 = rates[40..].iter().sum::<f64>() * 0.1 / 8.0;
    assert_eq!((late, rates[43..].iter().sum::<f64>()), (18_000.0, 0.0));
    let sets = ["flow.ftp.stop=1 s", "flow.ftp.start=0 s", "flow.ftp.start_spread=0 s"];
    let early = throughput(&run_on_both(STOP, &sets), "ftp");
    assert!(early[30..].iter().all(|rate| *rate == 0.0), "{early:?}");
}

#[test]
fn a_file_under_way_when_its_flow_stops_stays_unfinished() {
    let sets = ["flow.ftp.source={kind='file', size='50 kB'}", "flow.cbr.stop=200 ms"];
    let report = run_on_both(STOP, &sets);
    let whole = run_on_both(STOP, &[&sets[..], &["flow.ftp.stop=5 s"]].concat());
    let transfers = |report: &Json| entry(report, "flows", "ftp")["transfers"].as_u64().unwrap();
    assert!(transfers(&report) > 3 && transfers(&report) < transfers(&whole));
    let octets = throughput(&report, "ftp").iter().sum::<f64>() * 0.1 / 8.0;
    let (ended, rest) = (transfers(&report) as f64 * 5e4, octets % 5e4);
    assert!((octets - ended - rest).abs() < 1.0 && rest > 1.0, "{octets} octets, {ended} in whole files");
}

#[test]
fn a_flow_whose_random_start_comes_after_its_stop_sends_nothing() {
    let sets = ["flow.ftp.start_spread=4 s", "flow.ftp.stop=1.000001 s", "seed=3"];
    let report = run_on_both(STOP, &sets);
    assert_eq!(entry(&report, "flows", "ftp")["segments_sent"], 0);
}

/// TCP with the data of a telephone: far less than the line could carry.
const PACED: &str = r#"
name = "paced"
duration = "20 s"
adaptation = { kind = "packet" }
node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
link = [{ from = "a", to = "r", rate = "100 Mb/s", delay = "10 ms" }, { name = "out", from = "r", to = "b", rate = "10 Mb/s", delay = "10 ms" }]
measure = { cwnd = ["f"] }
[port.out]
buffer = "100 packets"
[[flow]]
name = "f"
from = "a"
to = "b"
source = { kind = "cbr", rate = "2 Mb/s", size = "1000 bytes" }
transport = { kind = "tcp", mss = 1000, window = "60000 bytes", delayed_ack = false }
"#;

#[test]
fn while_the_application_is_the_limit_the_window_does_not_grow() {
    for more in
        ["", ", sack = true", ", congestion = 'cubic'", ", congestion = 'new-reno', byte_counting = true"]
    {
        let transport = format!(
            "flow.f.transport={{kind='tcp', mss=1000, window='60000 bytes', initial_window=30, handshake=false, delayed_ack=false{more}}}"
        );
        let report = run_on_both(PACED, &[&transport]);
        let flow = entry(&report, "flows", "f");
        let goodput = flow["goodput_bps"].as_f64().unwrap();
        assert!((goodput / 2e6 - 1.0).abs() < 0.005, "{more}: {goodput}");
        // 42 ms at 2 Mb/s are 10.5 segments under way: less than half of the first window
        let windows = flow["cwnd"]["octets"].as_array().unwrap();
        let largest = windows.iter().map(|window| window.as_u64().unwrap()).max().unwrap();
        assert!((30_000..31_000).contains(&largest), "{more}: {largest}");
    }
}

#[test]
fn an_application_that_wants_more_than_the_line_is_limited_by_the_window() {
    let report = run_on_both(PACED, &["flow.f.source.rate=20 Mb/s"]);
    let flow = entry(&report, "flows", "f");
    assert!(flow["goodput_bps"].as_f64().unwrap() > 8.5e6, "{}", flow["goodput_bps"]);
}

#[test]
fn random_pieces_over_tcp_come_at_their_mean_rate() {
    for source in [
        "{kind='poisson', rate='2 Mb/s', size={exponential={mean='700 bytes'}}}",
        "{kind='on-off', peak='6 Mb/s', burst=20, activity=0.3333333333, size={mix=[['100 bytes', 1], ['1500 bytes', 2]]}}",
    ] {
        let report = run_on_both(PACED, &[&format!("flow.f.source={source}")]);
        let goodput = entry(&report, "flows", "f")["goodput_bps"].as_f64().unwrap();
        assert!((goodput / 2e6 - 1.0).abs() < 0.08, "{source}: {goodput}");
    }
}

#[test]
fn in_slow_start_the_window_stops_at_twice_the_most_in_flight() {
    for more in ["", ", sack = true", ", congestion = 'cubic', sack = true, recovery = 'rack'"] {
        let transport = format!(
            "flow.f.transport={{kind='tcp', mss=1000, window='60000 bytes', initial_window=9, handshake=false, delayed_ack=false{more}}}"
        );
        let report = run_on_both(PACED, &[&transport, "flow.f.source.rate=1640 kb/s"]);
        let windows = entry(&report, "flows", "f")["cwnd"]["octets"].as_array().unwrap();
        let largest = windows.iter().map(|window| window.as_u64().unwrap()).max().unwrap();
        // 42 ms at 1.64 Mb/s are 8.6 segments under way: 8 or 9
        assert!((16_000..=19_000).contains(&largest), "{more}: {largest}");
    }
}
