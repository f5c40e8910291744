//! The summary of a report, every figure computed by hand: two flows of datagrams, and a file over TCP that loses one
//! segment.

use crate::behaviour::both::{entry, run_on_both};
use pushout_core::serde_json::{Value as Json, json};

/// Datagrams of 1000 octets every 4 and every 8 ms share a line and never meet; a hundred of the second flow are lost in the second
/// half of the measured time. The file has ten segments of 12 ms at its first line; the second line loses the third segment.
const MIX: &str = r#"
    name = "mix"
    duration = "10 s"
    warmup = "2 s"
    adaptation = { kind = "packet" }
    node = [
        { name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "c", kind = "host" },
        { name = "r", kind = "router" }, { name = "s", kind = "router" },
        { name = "d", kind = "host" }, { name = "e", kind = "host" },
    ]
    link = [
        { from = "a", to = "r", rate = "10 Mb/s", delay = "100 us" },
        { from = "b", to = "r", rate = "10 Mb/s", delay = "100 us" },
        { name = "shared", from = "r", to = "d", rate = "8 Mb/s", delay = "100 us" },
        { from = "c", to = "s", rate = "1 Mb/s", delay = "100 us" },
        { name = "last", from = "s", to = "e", rate = "10 Mb/s", delay = "100 us" },
    ]
    [[flow]]
    name = "two"
    from = "a"
    to = "d"
    weight = 2
    source = { kind = "cbr", rate = "2 Mb/s", size = "972 bytes" }
    transport = { kind = "udp" }
    [[flow]]
    name = "one"
    from = "b"
    to = "d"
    start = "2 ms"
    source = { kind = "cbr", rate = "1 Mb/s", size = "972 bytes" }
    transport = { kind = "udp" }
    [[flow]]
    name = "file"
    from = "c"
    to = "e"
    start = "3 s"
    source = { kind = "file", size = "14600 bytes", off = "100 s" }
    [flow.transport]
    kind = "tcp"
    congestion = "reno"
    mss = 1460
    handshake = false
    delayed_ack = false
    initial_window = 10
    window = "64000 bytes"
"#;

/// The losses of [`MIX`].
fn losses() -> String {
    let numbers: Vec<u64> = (1001..=1100).collect();
    format!(
        "loss=[{{link='shared', flow='one', packets={numbers:?}}}, {{link='last', flow='file', packets=[3]}}]"
    )
}

fn near(value: &Json, wanted: f64, what: &str) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{what}: {value}"));
    assert!((value / wanted - 1.0).abs() < 1e-12, "{what}: {value}, not {wanted}");
}

#[test]
fn every_figure_of_a_summary_is_the_one_that_counting_by_hand_gives() {
    let summary = &run_on_both(MIX, &[&losses()])["summary"];
    // octets in 8 s, which are bits per second: 2000 and 900 datagrams, and the file
    let [two, one, file] = [2000.0 * 972.0, 900.0 * 972.0, 14_600.0];
    let all = two + one + file;
    let mean = all / 3.0;
    let ideal = 3e6 * 0.972 + 1e6 * 1460.0 / 1500.0;
    let late = 1400.0 * 972.0;
    // the repeated segment leaves after the other ten; the transmissions at two lines and those of its ACK, and four
    // delays
    let time = 11.0 * 12e-3 + 1.2e-3 + 32e-6 + 320e-6 + 4.0 * 100e-6;
    for (name, wanted) in [
        ("goodput_bps", all),
        ("ideal_bps", ideal),
        ("goodput_ratio", all / ideal),
        ("fairness_mean_deviation", 1.0 - (two - mean + mean - one + mean - file) / all),
        ("fairness_jain", all * all / (3.0 * (two * two + one * one + file * file))),
        ("difference", (two - file) / mean),
        ("retransmission_ratio", 1.0 / 11.0),
        ("weighted_deviation", 1.0 - file / (all / 4.0)),
        ("goodput_drift", 2.0 * (late - (all - late)) / all),
        ("transfer_time_mean_s", time),
        ("transfer_time_p50_s", time),
        ("transfer_time_p95_s", time),
        ("transfer_time_p99_s", time),
        ("transfer_time_max_s", time),
    ] {
        near(&summary[name], wanted, name);
    }
    assert_eq!((&summary["transfers"], &summary["transfers_unfinished"]), (&json!(1), &json!(0)));
    let without = ["transfer_age_max_s", "transfer_time_drift"].map(|name| &summary[name]);
    assert_eq!(without, [&Json::Null; 2], "no file is under way, and one has no halves");
    assert_eq!(summary.as_object().unwrap().len(), 18, "{summary}");
}

#[test]
fn a_summary_without_tcp_has_no_ratio_of_retransmissions() {
    let sets = ["flow.file.source={ kind = 'cbr', rate = '1 kb/s' }", "flow.file.transport={ kind = 'udp' }"];
    let summary = &run_on_both(MIX, &sets)["summary"];
    assert_eq!(summary.get("retransmission_ratio"), Some(&Json::Null));
    let clean = &run_on_both(MIX, &[])["summary"];
    assert_eq!(clean["retransmission_ratio"], json!(0.0), "TCP that repeats nothing");
}

#[test]
fn the_longest_of_several_files_and_the_oldest_under_way_are_reported() {
    let files = ["flow.file.source.off=1 s", "loss=[{link='last', flow='file', packets=[3]}]"];
    let of_file = entry(&run_on_both(MIX, &files), "flows", "file").clone();
    let clean = 10.0 * 12e-3 + 1.2e-3 + 32e-6 + 320e-6 + 4.0 * 100e-6;
    near(&of_file["transfer_time_max_s"], clean + 12e-3, "the first file, which repeats a segment");
    let count = of_file["transfers"].as_f64().unwrap();
    assert_eq!(count, 7.0, "they begin at 3 s and about 1.122 s after one another");
    near(&of_file["transfer_time_mean_s"], clean + 12e-3 / count, "mean");
    let endless = ["one", "two"].map(|flow| {
        format!("flow.{flow}={{name='{flow}', from='{}', to='d', source={{kind='file', size='1 GB'}}, transport={{kind='tcp'}}, \
                 start='{}'}}", if flow == "one" { "b" } else { "a" }, if flow == "one" { "2 ms" } else { "5 s" })
    });
    let summary = &run_on_both(MIX, &endless.each_ref().map(String::as_str))["summary"];
    assert_eq!(summary["transfers_unfinished"], 2);
    near(&summary["transfer_age_max_s"], 10.0 - 2e-3, "age of the older of two");
}

#[test]
fn an_occupancy_has_percentiles_from_a_thousand_samples_on() {
    let percentile = |duration: &str| {
        let sets =
            ["port.shared.buffer='10 packets'", "sample=1 ms", "warmup=0 s", &format!("duration={duration}")];
        entry(&run_on_both(MIX, &sets), "ports", "shared")["occupancy_p99"].clone()
    };
    assert_eq!(percentile("999 ms"), Json::Null);
    assert_eq!(percentile("1 s"), json!(1));
}

#[test]
fn a_window_that_two_datagrams_end_in_has_more_goodput_than_the_ideal() {
    let slow = "flow.file.source={ kind = 'cbr', rate = '1 kb/s', size = '972 bytes' }";
    let sets = [slow, "flow.file.transport={ kind = 'udp' }", "duration=2004500 us"];
    let summary = &run_on_both(MIX, &sets)["summary"];
    // of the first two flows a datagram each arrives, 2 ms and 4 ms after the warm-up
    let (goodput, ideal) = (2.0 * 972.0 * 8.0 / 4.5e-3, 3.001e6 * 0.972);
    near(&summary["ideal_bps"], ideal, "ideal");
    near(&summary["goodput_ratio"], goodput / ideal, "18 % more than the ideal");
}
