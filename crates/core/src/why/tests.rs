use super::*;
use crate::scenario::load;
use crate::units::ids::LineId;

/// Write a scenario: sources, each with the instants in microseconds at which it sends a packet of 1000 octets to the
/// port of its letter's case: small letters to `out`, capitals to `other`. The ports take 8 ms for a packet.
fn burst(packets: &str, ports: &str) -> String {
    let (mut hosts, mut links, mut flows) = (String::new(), String::new(), String::new());
    for (number, name) in packets.split_whitespace().enumerate() {
        hosts += &format!("{{ name = 'h{name}', kind = 'host' }}, ");
        links += &format!(
            "{{ name = 'in{name}', from = 'h{name}', to = 's', rate = '10 Gb/s', delay = '1 us' }}, "
        );
        let to = if name.starts_with(char::is_uppercase) { "y" } else { "x" };
        flows += &format!(
            "{{ name = '{name}', from = 'h{name}', to = '{to}', start = '{number} us', \
             source = {{ kind = 'cbr', rate = '1 kb/s', size = '972 bytes' }} }}, "
        );
    }
    format!(
        "name = 'burst'\nduration = '1 s'\nadaptation = {{ kind = 'packet' }}\n\
         node = [{hosts} {{ name = 's', kind = 'router' }}, {{ name = 'x', kind = 'host' }}, {{ name = 'y', kind = 'host' }}]\n\
         link = [{links} {{ name = 'out', from = 's', to = 'x', rate = '1 Mb/s', delay = '0 s' }},\n\
         {{ name = 'other', from = 's', to = 'y', rate = '1 Mb/s', delay = '0 s' }}]\nflow = [{flows}]\n\
         [flows]\ntransport = {{ kind = 'udp' }}\n{ports}\n"
    )
}

fn scenario(text: &str) -> Scenario {
    load(text, "why.toml", &[]).unwrap_or_else(|why| panic!("{text}\n{why}"))
}

fn port(scenario: &Scenario, name: &str) -> LineId {
    scenario.lines.position(|line| line.name == name).unwrap()
}

fn ask(scenario: &Scenario, at: &str, reaction: Reaction) -> Question {
    Question { port: port(scenario, at), ill: Ill::Lost, reaction, most: 200, skip: 0 }
}

/// Return the name of a decision's flow.
fn name<'a>(scenario: &'a Scenario, decision: &Decision) -> &'a str {
    &scenario.flows[decision.content.unwrap().0].name
}

/// Return the flows whose refusal saves the frame of this flow, without and with reactions, which do not matter here.
fn saviours(text: &str, at: &str, lost: &str) -> Vec<String> {
    let scenario = scenario(text);
    let of = |reaction| {
        let worlds = Worlds::record(&scenario, ask(&scenario, at, reaction)).unwrap();
        let is_it = |trouble: &Trouble| name(&scenario, &trouble.of) == lost;
        let trouble =
            worlds.troubles().iter().position(is_it).unwrap_or_else(|| panic!("{lost} is not lost"));
        let saves = worlds.saves(&[trouble], false, &mut |_, _| true).unwrap().saves;
        saves
            .iter()
            .map(|each| name(&scenario, &worlds.decisions()[each.decision]).to_string())
            .collect::<Vec<_>>()
    };
    let found = of(Reaction::On);
    assert_eq!(found, of(Reaction::Off), "sources that do not react");
    found
}

const THREE: &str = "[port.out]\nbuffer = '3000 bytes'";

#[test]
fn each_packet_in_a_full_queue_has_the_place_of_the_next() {
    assert_eq!(saviours(&burst("a b c d", THREE), "out", "d"), ["a", "b", "c"]);
    assert_eq!(saviours(&burst("a b c d e", THREE), "out", "d"), ["a", "b", "c"]);
}

#[test]
fn a_search_in_parts_tries_every_decision_once() {
    let scenario = scenario(&burst("a b c d e", THREE));
    for reaction in [Reaction::On, Reaction::Off] {
        let whole = Worlds::record(&scenario, ask(&scenario, "out", reaction)).unwrap().window(1);
        let part = |skip| {
            let question = Question { most: 2, skip, ..ask(&scenario, "out", reaction) };
            Worlds::record(&scenario, question).unwrap().window(1)
        };
        assert_eq!([part(4), part(2), part(0)], [0..0, 0..2, 2..5]);
        assert_eq!(whole, 0..5);
    }
}

#[test]
fn a_freed_place_goes_to_the_first_that_needs_it_so_pairs_save_the_second() {
    let text = burst("a b c d e", THREE);
    assert!(saviours(&text, "out", "e").is_empty());
    let scenario = scenario(&text);
    for reaction in [Reaction::On, Reaction::Off] {
        let worlds = Worlds::record(&scenario, ask(&scenario, "out", reaction)).unwrap();
        let pairs = worlds.together(1, 2, 1000, &mut |_, _| true).unwrap();
        assert!(pairs.is_complete);
        let named = |set: &Vec<usize>| -> String {
            set.iter().map(|&each| name(&scenario, &worlds.decisions()[each])).collect()
        };
        let mut found: Vec<String> = pairs.sets.iter().map(named).collect();
        found.sort();
        assert_eq!(found, ["ab", "ac", "ad", "bc", "bd", "cd"]);
        let few = worlds.together(1, 2, 1, &mut |_, _| true).unwrap();
        assert_eq!((few.sets.len(), few.is_complete), (1, false), "the latest two alone: c and d");
    }
}

#[test]
fn push_out_from_a_memory_takes_decisions_of_other_ports_into_account() {
    let memory = "[memory.chip]\nsize = '4 cells'\ncell = '1000 bytes'\nadmission = { policy = 'complete-sharing' }\n\
                  pushout = { policy = 'longest-queue' }\n[port.default]\nmemory = 'chip'";
    let found = saviours(&burst("a1 a2 a3 B1 B2", memory), "out", "a3");
    assert_eq!(found, ["a1", "a2", "B1", "B2"]);
}

#[test]
fn thresholds_of_a_memory_count_its_own_queue_and_others() {
    let memory = "[memory.chip]\nsize = '8 cells'\ncell = '1000 bytes'\n\
                  admission = { policy = 'dynamic-threshold', alpha = 1 }\n[port.default]\nmemory = 'chip'";
    assert_eq!(saviours(&burst("a1 a2 a3 a4 a5", memory), "out", "a5"), ["a1", "a2", "a3", "a4"]);
    let both = saviours(&burst("B1 B2 a1 a2 a3 a4", memory), "out", "a4");
    assert_eq!(both, ["B1", "B2", "a1", "a2", "a3"]);
}

#[test]
fn the_cells_of_a_frame_are_one_decision() {
    let text = burst(
        "a b c d",
        "[port.out]\nbuffer = '50 cells'\nadmission = { policy = 'epd', threshold = '30 cells' }",
    )
    .replace("'packet'", "'aal5'")
    .replace("'router'", "'switch'");
    let scenario = scenario(&text);
    let worlds = Worlds::record(&scenario, ask(&scenario, "out", Reaction::Off)).unwrap();
    assert_eq!(worlds.decisions().len(), 4, "frames of 21 cells");
    assert!(worlds.troubles().iter().all(|trouble| trouble.reason == Some(crate::verdict::Reason::Early)));
    assert_eq!(saviours(&text, "out", "c"), ["a", "b"]);
}

#[test]
fn figures_of_the_ill_are_those_before_the_arrival() {
    let scenario = scenario(&burst("a b c d", THREE));
    let worlds = Worlds::record(&scenario, ask(&scenario, "out", Reaction::On)).unwrap();
    let [trouble] = worlds.troubles() else { panic!("one packet is lost") };
    assert_eq!((trouble.of.units, trouble.of.octets, trouble.decisions, trouble.busy), (3, 3000, 4, 0));
    assert_eq!(worlds.losses(), 1);
    let priced = worlds.saves(&[0], true, &mut |_, _| true).unwrap().saves;
    assert_eq!(
        priced.iter().map(|saves| saves.losses).collect::<Vec<_>>(),
        [Some(1); 3],
        "itself instead of d"
    );
}

#[test]
fn a_mark_has_the_figures_of_the_arrival() {
    let step = "[port.out]\nbuffer = '9000 bytes'\nadmission = { policy = 'step', threshold = '1500 bytes', action = 'mark' }";
    let text = burst("a b c d", step).replace("kind = 'udp'", "kind = 'udp', ecn = true");
    let scenario = scenario(&text);
    let question = Question { ill: Ill::Marked, ..ask(&scenario, "out", Reaction::On) };
    let worlds = Worlds::record(&scenario, question).unwrap();
    let marked: Vec<&str> = worlds.troubles().iter().map(|trouble| name(&scenario, &trouble.of)).collect();
    assert_eq!(marked, ["c", "d"]);
    assert_eq!(worlds.troubles()[1].of.units, 3);
}

#[test]
fn what_came_while_a_frame_waited_does_not_displace_what_came_before() {
    let step = "[port.out]\nbuffer = '9000 bytes'\nadmission = { policy = 'step', threshold = '2500 bytes', action = 'mark' }";
    let text = burst("a b c d e f g h", step).replace("kind = 'udp'", "kind = 'udp', ecn = true");
    let scenario = scenario(&text);
    let question = Question { ill: Ill::Marked, most: 2, ..ask(&scenario, "out", Reaction::On) };
    let worlds = Worlds::record(&scenario, question).unwrap();
    let saves = worlds.saves(&[0], false, &mut |_, _| true).unwrap().saves;
    let saving: Vec<&str> =
        saves.iter().map(|each| name(&scenario, &worlds.decisions()[each.decision])).collect();
    assert_eq!((name(&scenario, &worlds.troubles()[0].of), saving), ("d", vec!["b", "c"]));
}

#[test]
fn a_frame_that_still_waits_when_the_run_ends_is_neither_saved_nor_lost() {
    for (duration, saves, open) in [("1 s", 3, 0), ("10 ms", 0, 3)] {
        let text = burst("a b c d", THREE).replace("duration = '1 s'", &format!("duration = '{duration}'"));
        let scenario = scenario(&text);
        for reaction in [Reaction::On, Reaction::Off] {
            let worlds = Worlds::record(&scenario, ask(&scenario, "out", reaction)).unwrap();
            let tried = worlds.saves(&[0], false, &mut |_, _| true).unwrap();
            assert_eq!((tried.saves.len(), tried.open.len()), (saves, open), "{duration}");
        }
    }
}
