//! A refused frame in a clone of a run, and the same frame lost by a `[[loss]]` in a run of its own.

use pushout_core::scenario::load;
use pushout_core::scenario::model::Scenario;
use pushout_core::why::{Ill, Question, Reaction, Worlds};

/// Policies of the port of 30 packets, or of as many cells as 30 packets take.
const PORTS: [&str; 10] = [
    "admission = { policy = 'tail-drop' }",
    "admission = { policy = 'red', min_threshold = '20 %', max_threshold = '90 %', weight = 0.05, max_p = 0.3 }",
    "admission = { policy = 'drop-from-front' }",
    "admission = { policy = 'codel', target = '2 ms', interval = '30 ms' }",
    "admission = { policy = 'pie', target = '3 ms', burst = '5 ms' }",
    "admission = { policy = 'fba', threshold = '50 %' }",
    "admission = { policy = 'dynamic-threshold', alpha = 2 }",
    "scheduler = { policy = 'drr' }",
    "pushout = { policy = 'longest-queue' }\nscheduler = { policy = 'round-robin' }",
    "admission = { policy = 'selective-drop', threshold = '60 %' }",
];

/// A TCP connection, a Poisson source and bursts at one port of 20 Mb/s.
fn text(port: &str, losses: &str) -> String {
    format!(
        "name = 'why'\nduration = '600 ms'\nadaptation = {{ kind = 'packet' }}\n\
         node = [{{ name = 'a', kind = 'host' }}, {{ name = 'b', kind = 'host' }}, {{ name = 'c', kind = 'host' }}, \
         {{ name = 'r', kind = 'router' }}, {{ name = 's', kind = 'host' }}]\n\
         [[link]]\nname = 'in1'\nfrom = 'a'\nto = 'r'\nrate = '1 Gb/s'\ndelay = '1 ms'\n\
         [[link]]\nname = 'in2'\nfrom = 'b'\nto = 'r'\nrate = '1 Gb/s'\ndelay = '1 ms'\n\
         [[link]]\nname = 'in3'\nfrom = 'c'\nto = 'r'\nrate = '1 Gb/s'\ndelay = '1 ms'\n\
         [[link]]\nname = 'out'\nfrom = 'r'\nto = 's'\nrate = '20 Mb/s'\ndelay = '5 ms'\n\
         [port.out]\nbuffer = '30 packets'\n{port}\n\
         [flows]\ntransport = {{ kind = 'udp' }}\n\
         [[flow]]\nname = 'tcp'\nfrom = 'a'\nto = 's'\nsource = {{ kind = 'greedy' }}\ntransport = {{ kind = 'tcp', profile = 'linux' }}\n\
         [[flow]]\nname = 'poisson'\nfrom = 'b'\nto = 's'\nsource = {{ kind = 'poisson', rate = '5 Mb/s', size = '1000 bytes' }}\n\
         [[flow]]\nname = 'bursts'\nfrom = 'c'\nto = 's'\nsource = {{ kind = 'on-off', peak = '15 Mb/s', on = '20 ms', off = '20 ms', size = '700 bytes' }}\n\
         {losses}"
    )
}

fn scenario(text: &str) -> Scenario {
    load(text, "why.toml", &[]).unwrap_or_else(|why| panic!("{text}\n{why}"))
}

fn question(scenario: &Scenario, most: usize) -> Question {
    let port = scenario.lines.position(|line| line.name == "out").unwrap();
    Question { port, ill: Ill::Lost, reaction: Reaction::On, most, skip: 0 }
}

/// Return whether a frame passes the port in a run in which the link loses its n-th packet.
fn is_saved_by_loss(port: &str, number: usize, lost: &pushout_core::why::Trouble) -> bool {
    let scenario = scenario(&text(port, &format!("[[loss]]\nlink = 'out'\npackets = [{}]\n", number + 1)));
    let worlds = Worlds::record(&scenario, question(&scenario, 1)).unwrap();
    let packet = lost.of.packet;
    let came = worlds.decisions().iter().any(|decision| decision.packet == packet);
    came && worlds.troubles().iter().all(|trouble| trouble.of.packet != packet)
}

#[test]
fn refusing_a_frame_in_a_clone_saves_what_losing_it_by_intent_saves() {
    let many = std::env::var("PUSHOUT_EQUIVALENCE").ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    let (frames, most) = (5, if many < 1000_usize { 20 } else { 60 });
    let mut saving = 0;
    for port in PORTS {
        let scenario = scenario(&text(port, ""));
        let worlds = Worlds::record(&scenario, question(&scenario, most)).unwrap();
        let count = worlds.troubles().len();
        assert!(count > frames, "{port}: {count} frames are lost");
        for nth in 0..frames {
            let trouble = nth * count / frames;
            let saves = worlds.saves(&[trouble], false, &mut |_, _| true).unwrap().saves;
            let by_clone: Vec<usize> = saves.iter().map(|saves| saves.decision).collect();
            let lost = &worlds.troubles()[trouble];
            let others =
                worlds.window(trouble).filter(|&each| worlds.decisions()[each].packet != lost.of.packet);
            let by_loss: Vec<usize> = others.filter(|&each| is_saved_by_loss(port, each, lost)).collect();
            assert_eq!(by_clone, by_loss, "{port}: frame lost at {:?}", lost.time);
            saving += by_clone.len();
        }
    }
    assert!(saving > 10 * frames, "only {saving} decisions save a frame");
}

#[test]
fn a_world_without_a_refusal_is_the_run_itself() {
    for port in PORTS {
        let scenario = scenario(&text(port, ""));
        for reaction in [Reaction::On, Reaction::Off] {
            let question = Question { reaction, ..question(&scenario, 200) };
            let worlds = Worlds::record(&scenario, question).unwrap();
            let all: Vec<usize> = (0..worlds.troubles().len()).collect();
            let fates = worlds.fates(&scenario, &all);
            assert!(fates.saved.iter().all(|saved| *saved == Some(false)), "{port}, {reaction:?}");
            assert_eq!(fates.losses, worlds.losses(), "{port}, {reaction:?}");
        }
    }
}
