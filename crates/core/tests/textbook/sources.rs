//! Sources of transfers: the draws of `arrivals` and `query`, written a second time from the texts at the top of their
//! files. A list of transfers is made with equal random numbers, and those of the scenario must be equal to it.

use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::units::ids::NodeId;

/// A transfer: its start (ps), its two hosts, and its octets.
type Transfer = (u64, String, String, u64);

/// Two leaves with three hosts each; one flow draws, from `host1` to `host2` unless its source says otherwise.
fn scenario(seed: u64, source: &str) -> Vec<Transfer> {
    let text = format!(
        r#"
        name = "sources"
        seed = {seed}
        duration = "40 ms"
        adaptation = {{ kind = "packet" }}
        topology = {{ template = "leaf-spine", leaves = 2, spines = 1, hosts = 3, host = {{ rate = "1 Gb/s", delay = "1 us" }}, fabric = {{ rate = "1 Gb/s", delay = "1 us" }} }}
        flows = {{ source = {{ kind = "greedy" }}, transport = {{ kind = "tcp" }} }}
        [[flow]]
        name = "drawn"
        from = "host1"
        to = "host2"
        start = "3 ms"
        stop = "30 ms"
        source = {{ {source} }}
        "#
    );
    let scenario = load(&text, "sources.toml", &[]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let transfers = scenario.flows.iter().filter(|flow| flow.name.starts_with("drawn."));
    let node = |node: NodeId| scenario.nodes[node].name.clone();
    let transfer = |flow: &pushout_core::scenario::model::Flow| {
        (flow.start.0, node(flow.from), node(flow.to), flow.transfer.unwrap().octets)
    };
    transfers.map(transfer).collect()
}

/// The instants from 3 ms to before 30 ms at which events happen with a mean of `rate` in a second.
fn instants(seed: u64, gaps: &str, rate: f64) -> Vec<u64> {
    let mut draw = Stream::new(seed, "flow.drawn.gaps");
    let (mean, mut times, mut time) = (1e12 / rate, Vec::new(), 3e9);
    loop {
        time += match gaps {
            "poisson" => mean * -(1.0 - draw.unit()).ln(),
            _ if times.is_empty() => mean * draw.unit(),
            _ => mean,
        };
        if time >= 30e9 {
            return times;
        }
        times.push(time.round() as u64);
    }
}

/// Return the size below which a share of transfers is, interpolated between entries of a table.
fn inverted(table: &[(f64, f64)], share: f64) -> f64 {
    if share < table[0].1 {
        return table[0].0;
    }
    let pair = table.windows(2).find(|pair| share < pair[1].1).unwrap();
    let [(low, from), (high, to)] = [pair[0], pair[1]];
    low + (share - from) * (high - low) / (to - from)
}

/// A distribution of sizes: its text in a scenario, its mean, and the function from random numbers to a size.
type Sizes = (&'static str, f64, fn(&mut Stream) -> f64);

const SIZES: [Sizes; 5] = [
    ("'20 kB'", 20e3, |_| 20e3),
    ("{ exponential = { mean = '20 kB' } }", 20e3, |draw| -20e3 * (1.0 - draw.unit()).ln()),
    ("{ pareto = { mean = '30 kB', shape = 1.5 } }", 30e3, |draw| {
        10e3 * (1.0 - draw.unit()).powf(-1.0 / 1.5)
    }),
    ("{ log_normal = { mean = '20 kB', sigma = 0.5 } }", 20e3, |draw| {
        let radius = (-2.0 * (1.0 - draw.unit()).ln()).sqrt();
        let normal = radius * (2.0 * std::f64::consts::PI * draw.unit()).cos();
        20e3 * (0.5 * normal - 0.125).exp()
    }),
    ("{ table = [['1 kB', 0.25], ['5 kB', 0.5], ['9 kB', 1]] }", 0.25e3 + 0.75e3 + 3.5e3, |draw| {
        inverted(&[(1e3, 0.25), (5e3, 0.5), (9e3, 1.0)], draw.unit())
    }),
];

/// Return whether two lists of transfers are equal except for an octet or a picosecond, where another logarithm is
/// rounded otherwise.
fn same(one: &[Transfer], other: &[Transfer]) -> bool {
    let near = |one: u64, other: u64| one.abs_diff(other) <= 1;
    let mut pairs = one.iter().zip(other);
    let alike = |(one, other): (&Transfer, &Transfer)| {
        near(one.0, other.0) && one.1 == other.1 && one.2 == other.2 && near(one.3, other.3)
    };
    one.len() == other.len() && pairs.all(alike)
}

#[test]
fn arrivals_are_drawn_as_the_text_says() {
    let destinations: [(&str, &[&str]); 4] = [
        ("", &["host2"]),
        (", to = 'any'", &["host2", "host3", "host4", "host5", "host6"]),
        (", to = 'other-leaf'", &["host4", "host5", "host6"]),
        (", to = ['host6', 'host1', 'host2']", &["host6", "host2"]),
    ];
    let mut drawn = 0;
    for seed in 1..=20 {
        let (sizes, mean, size) = SIZES[seed as usize % SIZES.len()];
        let (to, hosts) = destinations[seed as usize % destinations.len()];
        let gaps = if seed % 3 == 0 { "fixed" } else { "poisson" };
        let (share, rate) = (0.3, 0.3 * 1e9 / (8.0 * mean));
        let source =
            format!("kind = 'arrivals', sizes = {sizes}, load = '{} %', gaps = '{gaps}'{to}", 100.0 * share);
        let (mut octets, mut ends) =
            (Stream::new(seed, "flow.drawn.sizes"), Stream::new(seed, "flow.drawn.to"));
        let transfer = |time: u64| {
            let to = hosts[ends.up_to(hosts.len() as u64 - 1) as usize].to_string();
            (time, "host1".to_string(), to, size(&mut octets).round().max(1.0) as u64)
        };
        let expected: Vec<Transfer> = instants(seed, gaps, rate).into_iter().map(transfer).collect();
        let found = scenario(seed, &source);
        assert!(same(&found, &expected), "seed {seed}, {source}:\n{found:?}\n{expected:?}");
        drawn += found.len();
    }
    assert!(drawn > 500, "{drawn}");
}

#[test]
fn queries_are_drawn_as_the_text_says() {
    for seed in 1..=20 {
        let fan_in = 1 + seed as usize % 5;
        let source = format!("kind = 'query', fan_in = {fan_in}, size = '10007 bytes', rate = '400 per s'");
        let found = scenario(seed, &source);
        let times = instants(seed, "poisson", 400.0);
        assert_eq!(found.len(), fan_in * times.len(), "seed {seed}");
        for (query, time) in found.chunks(fan_in).zip(times) {
            let mut hosts: Vec<&str> = query.iter().map(|answer| answer.1.as_str()).collect();
            hosts.sort_unstable();
            hosts.dedup();
            assert_eq!(hosts.len(), fan_in, "every host answers once");
            assert_eq!(query.iter().map(|answer| answer.3).sum::<u64>(), 10_007);
            let (least, most) = (10_007 / fan_in as u64, 10_007_u64.div_ceil(fan_in as u64));
            for (at, from, to, octets) in query {
                assert!(at.abs_diff(time) <= 1 && to == "host1" && from != "host1");
                assert!((least..=most).contains(octets));
            }
        }
    }
}
