#![allow(clippy::all, clippy::print_stdout, missing_docs)]
use pushout_core::buffer::{admission, size::*};
use pushout_core::scenario::model::*;
use pushout_core::scenario::spec::{Section, Table, Field};
use pushout_core::scenario::tree::{Node as TN, Place, Value};
use pushout_core::units::*;
use pushout_core::{engine, report, audit, source, transport, scheduler};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mss: u32 = args[1].parse().unwrap();
    let epd = args[2] == "epd";
    let seed: u64 = args[3].parse().unwrap();
    let t = |s: &str| TN { value: Value::Text(s.into()), place: Place::default() };
    let mut tcp = transport::tcp::Params::take(&mut Table::new(&TN { value: Value::Table(vec![]), place: Place::default() }, "").unwrap()).unwrap();
    tcp.mss = mss; tcp.slow_timer = Span::millis(200); tcp.fast_timer = Span::millis(50);
    if let Some(m) = args.get(4) { tcp.min_rto = Span::parse(m).unwrap(); }
    let off = args.get(5).map(|s| s == "noreconnect").unwrap_or(false);
    tcp.handshake = !args.contains(&"nohs".to_string());
    let n = 10;
    let rate = Rate(149_760_000);
    let delay = Span::micros(100);
    let mut nodes = vec![];
    let mut lines = vec![];
    for i in 0..n { nodes.push(Node { name: format!("source{i}"), kind: NodeKind::Host, latency: Span::ZERO }); }
    for i in 0..n { nodes.push(Node { name: format!("sink{i}"), kind: NodeKind::Host, latency: Span::ZERO }); }
    nodes.push(Node { name: "left".into(), kind: NodeKind::Switch, latency: Span::ZERO });
    nodes.push(Node { name: "right".into(), kind: NodeKind::Switch, latency: Span::ZERO });
    let free = Port { measure: Measure::Cells, capacity: u64::MAX, admission: admission::Spec::TailDrop(admission::tail_drop::Params {}), scheduler: scheduler::Spec::Fifo(scheduler::fifo::Params {}) };
    let mut line = |name: String, from, to, port: Port| { lines.push(Line { name, class: "".into(), from, to, rate, delay, medium: Medium::Cells, port }); lines.len() - 1 };
    let mut bp = free.clone();
    bp.capacity = 8192;
    if epd { bp.admission = admission::Spec::Epd(admission::epd::Params { threshold: Level::read(&t("90 %"), "").unwrap(), reserve: None, pass_eom: true }); }
    let b = line("bottleneck".into(), 20, 21, bp);
    let bb = line("bottleneck.back".into(), 21, 20, free.clone());
    let mut vcs = vec![]; let mut flows = vec![];
    for i in 0..n {
        let a = line(format!("access{i}"), i, 20, free.clone());
        let ab = line(format!("access{i}.back"), 20, i, free.clone());
        let e = line(format!("egress{i}"), 21, 10 + i, free.clone());
        let eb = line(format!("egress{i}.back"), 10 + i, 21, free.clone());
        let vc = |path| Vc { name: "x".into(), path, mcr: Rate(0), weight: 1.0, llc_snap: true, packet: mss + 40 };
        vcs.push(vc(vec![a, b, e])); vcs.push(vc(vec![eb, bb, ab]));
        flows.push(Flow { name: format!("flow{i}"), from: i, to: 10 + i, vc: 2 * i, back: Some(2 * i + 1), start: Span::ZERO, start_spread: Span::millis(100),
            source: source::Spec::File(source::file::Params { size: Bytes(5_000_000), off: Span::ZERO, reconnect: !off }), transport: transport::Spec::Tcp(tcp.clone()) });
    }
    let s = Scenario { name: "lan".into(), title: "".into(), seed, duration: Span::secs(40), warmup: Span::ZERO, engine: Engine::Reference, nodes, lines, vcs, flows };
    let t0 = std::time::Instant::now();
    let o = engine::run(&s, false);
    let w = t0.elapsed();
    let a = audit::audit(&s, &o);
    let r = report::report(&s, &o, Some(&a));
    println!("{} wall {:?} ns/hop {:.1} events {}", r["summary"], w, w.as_nanos() as f64 / o.work.cell_hops as f64, o.work.events);
    println!("q {} max {} lost {} {}", r["ports"][0]["occupancy_mean"], r["ports"][0]["occupancy_max"], r["ports"][0]["lost"], r["audit"]);
    println!("{}", r["flows"][0]);
}
