//! Meaning of a file: names, ports, routes and flows of the checked model.

use super::model::{Line, Medium, NodeKind, Scenario};
use super::{RequestPart, load};
use crate::adaptation::Framing;
use crate::adaptation::packet::Padding;
use crate::buffer::capacity::Capacity;
use crate::source;
use crate::transport;
use crate::units::ids::{CircuitId, FlowId, NodeId};
use crate::units::{Rate, Span};

const DUMBBELL: &str = r#"name = "d"
duration = "1 s"
[topology]
template = "dumbbell"
sources = 2
access = { rate = "10 Mb/s", delay = "1 us" }
bottleneck = { rate = "20 Mb/s", delay = "2 us" }
egress = { rate = "30 Mb/s", delay = "3 us", back = { rate = "1 Mb/s" } }
[flows]
source = { kind = "file", size = "5 MB", off = "1 s" }
transport = { kind = "tcp", mss = 1000 }
"#;

fn scenario(text: &str) -> Scenario {
    load(text, "test.toml", &[]).unwrap_or_else(|message| panic!("{message}"))
}

fn line<'a>(scenario: &'a Scenario, name: &str) -> &'a Line {
    scenario.lines.iter().find(|line| line.name == name).unwrap()
}

/// Names of the lines of a circuit.
fn path(scenario: &Scenario, vc: CircuitId) -> Vec<&str> {
    scenario.vcs[vc].path.iter().map(|line| scenario.lines[*line].name.as_str()).collect()
}

/// A network of switches: `links` as "from to", with hosts a and b; one flow from a to b.
fn mesh(links: &str, flow: &str) -> String {
    let mut text = "name = \"m\"\nduration = \"1 s\"\n".to_string();
    let mut seen = Vec::new();
    for link in links.split(", ") {
        let (from, to) = link.split_once(' ').unwrap();
        let (to, duplex) = to.strip_suffix('!').map_or((to, true), |to| (to, false));
        for name in [from, to].into_iter().filter(|name| !seen.contains(name)).collect::<Vec<_>>() {
            let kind = if ["a", "b"].contains(&name) { "host" } else { "switch" };
            text += &format!("[[node]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
            seen.push(name);
        }
        text += &format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nduplex = {duplex}\n");
        text += "rate = \"1 Mb/s\"\ndelay = \"1 ms\"\n";
    }
    text + "[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsource = { kind = \"greedy\" }\ntransport = { kind = \"tcp\" }\n"
        + flow
}

#[test]
fn a_dumbbell_has_the_names_of_the_documentation() {
    let scenario = scenario(DUMBBELL);
    let nodes: Vec<&str> = scenario.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(nodes, ["source1", "source2", "left", "right", "sink1", "sink2"]);
    assert_eq!(path(&scenario, CircuitId(0)), ["access1", "bottleneck", "egress1"]);
    assert_eq!(path(&scenario, CircuitId(1)), ["access2", "bottleneck", "egress2"]);
    assert_eq!(path(&scenario, CircuitId(2)), ["egress1.back", "bottleneck.back", "access1.back"]);
    assert_eq!(
        (scenario.flows[FlowId(1)].vc, scenario.flows[FlowId(1)].back),
        (CircuitId(1), Some(CircuitId(3)))
    );
    assert_eq!((scenario.vcs[CircuitId(1)].packet, scenario.vcs[CircuitId(3)].packet), (1040, 40));
    let back = line(&scenario, "egress1.back");
    assert_eq!(
        (back.class.as_str(), back.rate.fixed(), back.delay.least()),
        ("egress.back", Rate(1_000_000), Span::micros(3))
    );
    assert_eq!(scenario.lines[back.back.unwrap()].name, "egress1");
}

#[test]
fn the_flows_of_a_parking_lot_form_two_classes() {
    let text = "name = \"p\"\nduration = \"1 s\"\ntopology = { template = \"parking-lot\" }\n\
        [flows]\nsource = { kind = \"greedy\" }\ntransport = { kind = \"tcp\" }\n";
    let flows = scenario(text).flows;
    let of_class = |class: &str| flows.iter().filter(|flow| flow.class == class).count();
    assert_eq!((of_class("end-to-end"), of_class("cross")), (4, 6));
}

#[test]
fn the_nodes_of_a_dumbbell_may_take_time() {
    let keys = "sources = 2\nhost_latency = \"500 us\"\nswitch_latency = \"4 us\"\n";
    let scenario = scenario(&DUMBBELL.replace("sources = 2\n", keys));
    let latencies: Vec<Span> = scenario.nodes.iter().map(|node| node.latency).collect();
    let (host, switch) = (Span::micros(500), Span::micros(4));
    assert_eq!(latencies, [host, host, switch, switch, host, host]);
}

#[test]
fn each_source_may_have_a_link_of_its_own() {
    let own = "[{ rate = \"10 Mb/s\", delay = \"5 ms\" }, { rate = \"10 Mb/s\", delay = \"7 ms\" }]";
    let scenario = scenario(&DUMBBELL.replace("{ rate = \"10 Mb/s\", delay = \"1 us\" }", own));
    assert_eq!(line(&scenario, "access1").delay.least(), Span::millis(5));
    assert_eq!(line(&scenario, "access2").delay.least(), Span::millis(7));
}

#[test]
fn sinks_have_the_links_of_their_sources_unless_they_have_their_own() {
    let of = |key: &str| DUMBBELL.lines().find(|line| line.starts_with(key)).unwrap();
    let access = "access = [{ rate = \"9 Mb/s\", delay = \"5 ms\", pause = \"3 us\" }, { rate = \"8 Mb/s\", delay = \"7 ms\" }]";
    let scenario = scenario(&DUMBBELL.replace(of("access"), access).replace(of("egress"), ""));
    for number in [1, 2] {
        let [access, egress] = ["access", "egress"].map(|class| line(&scenario, &format!("{class}{number}")));
        assert_eq!(
            (egress.rate.fixed(), egress.delay.least(), egress.rest),
            (access.rate.fixed(), access.delay.least(), Span::ZERO)
        );
    }
}

#[test]
fn only_hosts_pause_between_frames() {
    let pause = |key: &str| {
        let wire = format!("{key} = {{ rate = \"10 Mb/s\", delay = \"1 us\", pause = \"3 us\" }}\n");
        let line = DUMBBELL.lines().find(|line| line.starts_with(key)).unwrap();
        load(&DUMBBELL.replace(line, &wire), "test.toml", &[])
    };
    let scenario = pause("access").unwrap();
    let rests = ["access1", "access2", "access2.back", "bottleneck"].map(|name| line(&scenario, name).rest);
    assert_eq!(rests, [Span::micros(3), Span::micros(3), Span::ZERO, Span::ZERO]);
    assert!(pause("bottleneck").unwrap_err().message.contains("only a host rests between frames"));
}

#[test]
fn packets_need_routers_and_carry_the_header_of_their_line() {
    let packets = "[adaptation]\nkind = \"packet\"\nheader = \"38 bytes\"\n";
    let scenario = scenario(&(DUMBBELL.to_string() + packets));
    assert_eq!(scenario.nodes[NodeId(2)].kind, NodeKind::Router);
    assert!(scenario.lines.iter().all(|line| line.medium == Medium::Packets));
    assert!(scenario.vcs.iter().all(|vc| vc.framing == Framing::Packet(Padding { header: 38, minimum: 0 })));
}

#[test]
fn a_port_takes_the_section_of_its_line_else_of_its_class_else_the_default() {
    let ports = "[port.egress2]\nbuffer = \"2 cells\"\n[port.egress]\nbuffer = \"3 cells\"\n\
        [port.default]\nbuffer = \"4 cells\"\n";
    let scenario = scenario(&(DUMBBELL.to_string() + ports));
    let limit = |name| line(&scenario, name).port.capacity.limit();
    assert_eq!((limit("egress2"), limit("egress1"), limit("bottleneck")), (Some(2), Some(3), Some(4)));
    assert_eq!(limit("access1.back"), Some(4));
    assert_eq!((limit("access1"), limit("egress1.back")), (None, None)); // hosts
}

#[test]
fn a_flow_changes_keys_of_the_same_kind_and_replaces_another_kind() {
    let flows = "[[flow]]\nname = \"flow1\"\nsource = { off = \"0 s\" }\ntransport = { mss = 500 }\n\
        [[flow]]\nname = \"flow2\"\nsource = { kind = \"greedy\" }\nweight = 3\n";
    let scenario = scenario(&(DUMBBELL.to_string() + flows));
    let source::Spec::File(file) = &*scenario.flows[FlowId(0)].source else { panic!("still a file") };
    assert_eq!((file.size.0, file.off), (5_000_000, Span::ZERO));
    let transport::Spec::Tcp(tcp) = &*scenario.flows[FlowId(0)].transport else { panic!("still TCP") };
    assert_eq!(tcp.mss, 500);
    assert_eq!(scenario.flows[FlowId(1)].source.name(), "greedy");
    assert_eq!((scenario.vcs[CircuitId(0)].weight, scenario.vcs[CircuitId(1)].weight), (1.0, 3.0));
}

#[test]
fn nodes_links_and_flows_stand_beside_a_template_or_change_it() {
    let more = "[[node]]\nname = \"tap\"\nkind = \"host\"\n[[node]]\nname = \"left\"\nlatency = \"4 us\"\n\
        [[link]]\nfrom = \"tap\"\nto = \"left\"\nrate = \"1 Mb/s\"\ndelay = \"0 s\"\n\
        [[link]]\nname = \"access1\"\ndelay = \"9 us\"\n\
        [[flow]]\nname = \"extra\"\nfrom = \"tap\"\nto = \"sink2\"\n";
    let scenario = scenario(&(DUMBBELL.to_string() + more));
    assert_eq!(
        (scenario.nodes[NodeId(2)].kind, scenario.nodes[NodeId(2)].latency),
        (NodeKind::Switch, Span::micros(4))
    );
    assert_eq!(
        (line(&scenario, "access1").rate.fixed(), line(&scenario, "access1").delay.least()),
        (Rate(10_000_000), Span::micros(9))
    );
    assert_eq!(path(&scenario, CircuitId(2)), ["tap->left", "bottleneck", "egress2"]);
    assert_eq!(scenario.vcs[CircuitId(5)].name, "extra.back");
    assert_eq!(path(&scenario, CircuitId(5)), ["egress2.back", "bottleneck.back", "left->tap"]);
}

#[test]
fn a_route_has_the_fewest_hops_and_then_the_lines_declared_first() {
    let long_first = scenario(&mesh("a p, p q, q r, p s, s r, p r, r b", ""));
    assert_eq!(path(&long_first, CircuitId(0)), ["a->p", "p->r", "r->b"]);
    let tie = scenario(&mesh("a p, p s, p q, q r, s r, r b", ""));
    assert_eq!(path(&tie, CircuitId(0)), ["a->p", "p->s", "s->r", "r->b"]);
}

#[test]
fn via_leads_a_route_through_other_nodes_and_back() {
    let detour = scenario(&mesh("a p, p r, p q, q r, r b", "via = [\"q\"]\n"));
    assert_eq!(path(&detour, CircuitId(0)), ["a->p", "p->q", "q->r", "r->b"]);
    assert_eq!(path(&detour, CircuitId(1)), ["b->r", "r->q", "q->p", "p->a"]);
}

#[test]
fn acknowledgements_find_a_way_of_their_own_where_a_line_has_no_other_direction() {
    let ring = scenario(&mesh("a p, p r!, r q!, q p!, r b", ""));
    assert_eq!(path(&ring, CircuitId(0)), ["a->p", "p->r", "r->b"]);
    assert_eq!(path(&ring, CircuitId(1)), ["b->r", "r->q", "q->p", "p->a"]);
}

#[test]
fn hosts_do_not_forward() {
    let two_legs = mesh("a p, p b", "").replace("[[flow]]", "[[node]]\nname = \"c\"\nkind = \"host\"\n[[link]]\nfrom = \"b\"\nto = \"c\"\nrate = \"1 kb/s\"\ndelay = \"0 s\"\n[[flow]]");
    let message = load(&two_legs.replace("to = \"b\"\nsource", "to = \"c\"\nsource"), "test.toml", &[])
        .unwrap_err()
        .message;
    assert!(message.contains("no route leads from \"a\" to \"c\""), "{message}");
}

#[test]
fn without_an_adaptation_packets_travel_in_cells() {
    let scenario = scenario(DUMBBELL);
    assert!(scenario.lines.iter().all(|line| line.medium == Medium::Cells));
    assert!(scenario.vcs.iter().all(|vc| vc.framing == Framing::Aal5 { llc_snap: false, parity: 0 }));
}

#[test]
fn connections_share_the_circuit_of_their_entry() {
    let more = "[[flow]]\nname = \"flow1\"\nconnections = 3\nmcr = \"1 Mb/s\"\nweight = 2\n";
    let scenario = scenario(&(DUMBBELL.to_string() + more));
    let flows: Vec<_> =
        scenario.flows.iter().map(|flow| (flow.name.as_str(), flow.vc.0, flow.back.map(|vc| vc.0))).collect();
    let expected =
        [("flow1.1", 0, Some(2)), ("flow1.2", 0, Some(2)), ("flow1.3", 0, Some(2)), ("flow2", 1, Some(3))];
    assert_eq!(flows, expected);
    let names: Vec<&str> = scenario.vcs.iter().map(|vc| vc.name.as_str()).collect();
    assert_eq!(names, ["flow1", "flow2", "flow1.back", "flow2.back"]);
    assert_eq!((scenario.vcs[CircuitId(0)].mcr, scenario.vcs[CircuitId(0)].weight), (Rate(1_000_000), 2.0));
}

#[test]
fn flows_that_name_the_same_circuit_share_it_even_if_it_is_that_of_a_flow() {
    let twin = "[[flow]]\nname = \"twin\"\nfrom = \"source1\"\nto = \"sink1\"\npvc = \"flow1\"\n\
        transport = { mss = 1400 }\n";
    let scenario = scenario(&(DUMBBELL.to_string() + twin));
    assert_eq!(
        (scenario.vcs.len(), scenario.flows[FlowId(2)].vc, scenario.flows[FlowId(2)].back),
        (4, CircuitId(0), Some(CircuitId(2)))
    );
    assert_eq!((scenario.vcs[CircuitId(0)].packet, scenario.vcs[CircuitId(0)].payload), (1440, Some(1400)));
}

#[test]
fn flows_without_acknowledgements_may_share_the_circuit_of_flows_with_them() {
    let udp = "[[flow]]\nname = \"u\"\nfrom = \"source1\"\nto = \"sink1\"\npvc = \"flow1\"\n\
        source = { kind = \"cbr\", rate = \"1 Mb/s\", size = \"100 bytes\" }\ntransport = { kind = \"udp\" }\n";
    let scenario = scenario(&(DUMBBELL.to_string() + udp));
    assert_eq!(
        (scenario.flows[FlowId(2)].vc, scenario.flows[FlowId(2)].back, scenario.flows[FlowId(2)].packet()),
        (CircuitId(0), None, 128)
    );
}

#[test]
fn a_circuit_has_one_contract_and_one_way() {
    let refused = |keys: &str, ends: &str, wanted: &str| {
        let twin = format!("[[flow]]\nname = \"twin\"\npvc = \"flow1\"\n{ends}\n{keys}\n");
        let message = load(&(DUMBBELL.to_string() + &twin), "test.toml", &[]).unwrap_err().message;
        assert!(message.contains(wanted) && message.contains("circuit \"flow1\""), "{message}");
    };
    let same = "from = \"source1\"\nto = \"sink1\"";
    refused("weight = 2", same, "flow.twin.weight");
    refused("mcr = \"1 Mb/s\"", same, "flow.twin.mcr");
    refused("", "from = \"source1\"\nto = \"sink2\"", "flow.twin.pvc");
    let cells = "source = { kind = \"cbr\", rate = \"1 Mb/s\" }\ntransport = { kind = \"cells\" }";
    refused(cells, same, "flow.twin.transport");
}

#[test]
fn impossible_processors_and_numbers_of_connections_are_refused() {
    let refused = |keys: &str, wanted: &str| {
        let message = load(&(DUMBBELL.to_string() + keys), "test.toml", &[]).unwrap_err().message;
        assert!(message.contains(wanted), "{message}");
    };
    refused("[[flow]]\nname = \"flow1\"\nconnections = 0\n", "must be from 1 to 100000, not 0");
    refused("[[flow]]\nname = \"flow1\"\nprocessing_variation = \"1 us\"\n", "at most the mean of 0 s");
    let udp = "[[flow]]\nname = \"flow1\"\nprocessing = \"1 us\"\nsource = { kind = \"cbr\", rate = \"1 Mb/s\" }\n\
        transport = { kind = \"udp\" }\n";
    refused(udp, "only the transport \"tcp\"");
}

#[test]
fn a_variation_is_what_its_file_with_these_overrides_is_whatever_was_checked_before() {
    let text = include_str!("../../../../scenarios/lan.toml");
    let sets = [
        "port.bottleneck.buffer=9000 cells",
        "flows.transport.mss=9140",
        "port.bottleneck.buffer=0 cells",
        "flow.flow3.weight=2",
        "topology.sources=3",
        "duration=1 s",
        "port.bottleneck.admission={policy='ppd'}",
        "flow.flow99.weight=2",
        "adaptation.llc_snap=false",
        "flows.transport.mss=9140",
    ];
    let file = super::File::read(text, "lan.toml").unwrap();
    let mut variations = file.variations();
    for one in sets {
        for other in sets {
            let both = [one.to_string(), other.to_string()];
            let found = variations.load(&both).map(|variation| variation.scenario);
            assert_eq!(found, load(text, "lan.toml", &both), "{one}, {other}");
        }
    }
}

#[test]
fn a_refusal_says_which_override_it_is_about() {
    let file = super::File::read(DUMBBELL, "d.toml").unwrap();
    let mut variations = file.variations();
    let mut refused = |sets: [&str; 2]| variations.load(&sets.map(str::to_string)).unwrap_err();
    let misspelt = refused(["seed=2", "durration=1 s"]);
    assert_eq!(misspelt.part, Some(RequestPart::Set(1)));
    assert!(misspelt.message.starts_with("durration=1 s: unknown key"), "{}", misspelt.message);
    assert_eq!(refused(["seed", "duration=2 s"]).part, Some(RequestPart::Set(0)));
    let in_the_file = refused(["seed=2", "topology.template=parking-lot"]);
    assert_eq!(in_the_file.part, None);
    assert!(in_the_file.message.starts_with("d.toml:"), "{}", in_the_file.message);
}

#[test]
fn a_variation_is_identified_by_all_that_was_asked_for_but_its_seed() {
    let file = super::File::read(include_str!("../../../../scenarios/lan.toml"), "lan.toml").unwrap();
    let mut variations = file.variations();
    let mut identity = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        variations.load(&sets).unwrap().identity
    };
    assert_eq!(identity(&["duration=\"1 s\""]), identity(&[" duration =1 s", "seed=7"]));
    assert_eq!(identity(&["flow.flow3.weight=2"]), identity(&["flow.'flow3'.weight=2"]));
    let different: [&[&str]; 8] = [
        &[],
        &["duration=1 s"],
        &["title='1 s'"],
        &["flow.flow3.weight=2"],
        &["flow.flow3.weight=2.0"],
        &["flow.flow2.weight=2"],
        &["flow.flow2.weight=2", "flow.flow3.weight=2"],
        &["flows.weight=2"],
    ];
    let identities: std::collections::BTreeSet<String> = different.map(&mut identity).into();
    assert_eq!(identities.len(), different.len());
}

/// A dumbbell with one section for all ports of switches, and overrides.
fn with_default(sets: &[&str]) -> Scenario {
    let text = format!(
        "{DUMBBELL}[port.default]\nbuffer = \"200 cells\"\nadmission = {{ policy = \"epd\", threshold = \"80 %\" }}\n"
    );
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    load(&text, "test.toml", &sets).unwrap_or_else(|message| panic!("{message}"))
}

#[test]
fn an_override_of_one_key_of_a_port_leaves_what_another_section_says_of_it() {
    let plain = with_default(&[]);
    let same = with_default(&["port.bottleneck.buffer=200 cells"]);
    assert_eq!(same.lines, plain.lines);
    let threshold = with_default(&["port.bottleneck.admission.threshold=50 %"]);
    let (ours, other) = (&line(&threshold, "bottleneck").port, &line(&plain, "bottleneck").port);
    assert_eq!((ours.capacity, &ours.scheduler), (Capacity::limited(200), &other.scheduler));
    assert!(format!("{:?}", ours.admission).contains("Percent(50.0)"), "{:?}", ours.admission);
    assert_eq!(line(&threshold, "egress1"), line(&plain, "egress1"), "no other port changes");
}

#[test]
fn an_override_of_a_class_of_ports_starts_from_what_stands_for_it() {
    let plain = with_default(&[]);
    let larger = with_default(&["port.egress.buffer=300 cells"]);
    for name in ["egress1", "egress2"] {
        let port = &line(&larger, name).port;
        assert_eq!(
            (port.capacity, &port.admission),
            (Capacity::limited(300), &line(&plain, name).port.admission)
        );
    }
    // a class has a section then, and a port of it one more
    let both = with_default(&["port.egress.buffer=300 cells", "port.egress2.scheduler={policy=\"fifo\"}"]);
    assert_eq!(line(&both, "egress2"), line(&larger, "egress2"));
}

#[test]
fn ports_of_hosts_have_nothing_from_the_default_section() {
    let access = with_default(&["port.access1.buffer=300 cells"]);
    let plain = super::model::Port {
        capacity: Capacity::limited(300),
        ..(*line(&with_default(&[]), "access1").port).clone()
    };
    assert_eq!(format!("{:?}", line(&access, "access1").port.admission), format!("{:?}", plain.admission));
}

#[test]
fn an_override_of_a_whole_section_replaces_it() {
    let replaced =
        with_default(&["port.bottleneck.buffer=300 cells", "port.bottleneck={buffer=\"400 cells\"}"]);
    let port = &line(&replaced, "bottleneck").port;
    assert_eq!(port.capacity, Capacity::limited(400));
    assert_eq!(
        port.admission,
        line(&with_default(&[]), "access1").port.admission,
        "what every port has by default"
    );
}

/// The capacity of the bottleneck, 20 Mb/s, with this buffer; or the message.
fn buffer(sets: &[&str]) -> Result<(String, Option<u64>), String> {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let packets = DUMBBELL.replace("[flows]", "[adaptation]\nkind = \"packet\"\n[flows]");
    let scenario = load(&packets, "test.toml", &sets).map_err(String::from)?;
    let port = &line(&scenario, "bottleneck").port;
    Ok((port.measure.word().to_string(), port.capacity.limit()))
}

#[test]
fn a_buffer_in_time_is_what_the_line_sends_in_it() {
    let octets = |text: &str| buffer(&[&format!("port.bottleneck.buffer={text}")]).unwrap();
    for (text, bytes) in [("25 ms", 62_500), ("1 s", 2_500_000), ("500.3 us", 1250), ("0.5 s", 1_250_000)] {
        assert_eq!(octets(text), ("bytes".to_string(), Some(bytes)), "{text}");
    }
    let foreign = buffer(&["port.bottleneck.buffer=25 msec"]).unwrap_err();
    assert!(foreign.contains("unknown unit \"msec\" for a buffer: write \"25 ms\""), "{foreign}");
    let shaper = "port.bottleneck.shaper={rate=\"2 Mb/s\", burst=\"3 kB\"}";
    assert_eq!(
        buffer(&["port.bottleneck.buffer=25 ms", shaper]).unwrap().1,
        Some(6250),
        "it sends no faster"
    );
    let cells = scenario(&format!("{DUMBBELL}[port.bottleneck]\nbuffer = '1 ms'\n"));
    assert_eq!(line(&cells, "bottleneck").port.capacity, Capacity::limited(47), "2500 octets are 47.2 cells");
}

#[test]
fn a_buffer_in_bdp_is_a_multiple_of_rate_and_base_round_trip() {
    let octets = |text: &str| buffer(&[&format!("port.bottleneck.buffer={text}")]);
    // 12 us out and back: 1 + 2 + 3 us each way, at 20 Mb/s 240 bits
    assert_eq!(octets("100 BDP").unwrap().1, Some(3000));
    assert_eq!(octets("50.05 BDP").unwrap().1, Some(1501), "rounded down");
    let other = buffer(&[
        "port.bottleneck.buffer=100 BDP",
        "topology.access=[{rate=\"10 Mb/s\", delay=\"1 us\"}, {rate=\"10 Mb/s\", delay=\"1 ms\"}]",
    ])
    .unwrap_err();
    assert!(other.contains("round trips from 12 us to 2010 us"), "{other}");
    let datagrams = ["flows.transport={kind=\"udp\"}", "flows.source={kind=\"cbr\", rate=\"1 Mb/s\"}"];
    let none = buffer(&[&["port.bottleneck.buffer=1 BDP"], &datagrams[..]].concat()).unwrap_err();
    assert!(none.contains("no flow with acknowledgements passes it"), "{none}");
    let packet = buffer(&["port.bottleneck.buffer=1 BDP"]).unwrap_err();
    assert!(packet.contains("smaller than a packet of 1040 bytes"), "{packet}");
}

#[test]
fn promises_that_a_line_cannot_keep_are_refused_wherever_they_count() {
    let refused = |port: &str| {
        let flows =
            DUMBBELL.replace("[flows]", "[flows]\nmcr = \"8 Mb/s\"").replace("sources = 2", "sources = 3");
        let sets = [format!("port.bottleneck={{buffer=\"200 cells\", {port}}}")];
        load(&flows, "test.toml", &sets).err().map_or_else(String::new, String::from)
    };
    let sum = "the minimum cell rates add up to 24 Mb/s on a line of 20 Mb/s";
    for port in [
        "admission={policy=\"virtual-queueing\"}",
        "admission={policy=\"dfba\"}",
        "scheduler={policy=\"round-robin\"}, pushout={policy=\"pushout-2\", buffer_share=true}",
    ] {
        assert!(refused(port).contains(sum), "{port}: {}", refused(port));
    }
    for port in [
        "admission={policy=\"virtual-queueing\", credits=false}",
        "scheduler={policy=\"round-robin\"}, pushout={policy=\"pushout-2\"}",
    ] {
        assert_eq!(refused(port), "", "{port}");
    }
}
