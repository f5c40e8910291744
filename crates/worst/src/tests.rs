//! Values that are published or were computed with another solver.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use pushout_core::language::read::{Format, read};
use pushout_core::language::spec::Field as _;
use pushout_core::memory::decide::Decider;
use pushout_core::rng::Stream;

use super::*;
use crate::side::Words;

pub(crate) const GO_ON: Watch<'static> = Watch { is_over: &|| false, announce: &|_| () };

fn policies(text: &str) -> Policies {
    Policies::read(&read(text, Format::Json).unwrap()).unwrap()
}

pub(crate) fn question(policy: &str, ports: usize, cells: u64) -> Question {
    let subject = Subject::Memory { policies: policies(policy), against: None };
    Question { subject, ports, cells, limit: 1_000_000, reach: None, searches: false }
}

fn ratio(policy: &str, ports: usize, cells: u64) -> String {
    question(policy, ports, cells).answer(GO_ON).unwrap().ratio.to_string()
}

pub(crate) const LQD: &str = r#"{"pushout": {"policy": "longest-queue"}}"#;

pub(crate) fn dt(alpha: f64) -> String {
    format!(r#"{{"admission": {{"policy": "dynamic-threshold", "alpha": {alpha}}}}}"#)
}

#[test]
fn longest_queue_drop_with_two_ports_meets_its_published_ratio_for_even_memories() {
    for memory in (4..=30).step_by(2) {
        let published = Ratio::new(4 * memory - 4, 3 * memory - 2);
        assert_eq!(ratio(LQD, 2, memory), published.to_string(), "{memory}");
    }
}

#[test]
fn longest_queue_drop_with_two_ports_is_worse_for_odd_memories() {
    for memory in [3, 5, 7, 9] {
        assert_eq!(ratio(LQD, 2, memory), "4/3", "{memory}");
    }
}

#[test]
fn dynamic_thresholds_and_complete_sharing_have_the_ratios_of_another_solver() {
    let sharing = "{}";
    let table = [
        (sharing.to_string(), 2, [(6, "2"), (8, "2"), (12, "2")]),
        (sharing.to_string(), 3, [(6, "3"), (9, "3"), (12, "3")]),
        (dt(0.5), 2, [(6, "3"), (8, "8/3"), (12, "3")]),
        (dt(0.5), 3, [(6, "3"), (9, "3"), (12, "3")]),
        (dt(1.0), 2, [(6, "2"), (8, "2"), (12, "2")]),
        (dt(1.0), 3, [(6, "2"), (9, "9/5"), (12, "2")]),
        (dt(2.0), 2, [(6, "3/2"), (8, "14/9"), (12, "11/7")]),
        (dt(2.0), 3, [(6, "8/5"), (9, "12/7"), (12, "12/7")]),
    ];
    let harmonic = r#"{"admission": {"policy": "harmonic"}}"#;
    assert_eq!([6, 8, 12, 24].map(|cells| ratio(harmonic, 2, cells)), ["3/2", "8/5", "3/2", "3/2"]);
    for (policy, ports, values) in table {
        for (cells, expected) in values {
            assert_eq!(ratio(&policy, ports, cells), expected, "{policy}, {ports} ports, {cells} cells");
        }
    }
    assert_eq!([8, 12].map(|cells| ratio(&dt(8.0), 2, cells)), ["2", "11/6"]);
}

#[test]
fn a_question_that_is_too_large_or_has_no_states_is_refused_with_its_size_and_the_reason() {
    let refused = |question: &Question| question.answer(GO_ON).unwrap_err().to_string();
    let none = question("{}", 0, 8);
    assert_eq!(refused(&none), "ports must be from 1 to 8, not 0");
    assert_eq!(refused(&question("{}", 2, 0)), "memory must be at least 1 packet, not 0");
    let huge = refused(&question("{}", 8, u64::MAX));
    assert!(
        huge.starts_with("memory must be smaller for 8 ports or circuits: the optimum alone has"),
        "{huge}"
    );
    assert_eq!(refused(&question("{}", 1, 70_000)), "memory must be at most 65535, not 70000");
    let policy = admission::Spec::plain().next().unwrap();
    let frames = Question { subject: Subject::Frames { policy, length: 900 }, ..question("{}", 8, 60_000) };
    assert!(refused(&frames).contains("can be tabulated"), "{}", refused(&frames));
    let far = refused(&question(LQD, 2, 500));
    let pairs = (125_751_u64.pow(2) + 251_u64.pow(2)) / 2; // both orders of ports count once
    assert!(far.starts_with(&format!("states must be greater than 1000000: up to {pairs} states")), "{far}");
    let clock = refused(&question(r#"{"admission": {"policy": "occamy"}}"#, 2, 8));
    assert!(clock.contains("depends on a bucket of tokens, which fills with time"), "{clock}");
    let few = Question { limit: 100, ..question(LQD, 2, 8) };
    assert_eq!(
        refused(&few),
        "states must be greater than 100: up to 1025 states can be reached, which take 1 MB; raise it, or lower ports or \
         memory"
    );
}

#[test]
fn a_search_announces_its_states_and_its_memory_before_it_begins() {
    for (policy, ports, cells) in [(LQD, 2, 8), ("{}", 3, 6), (&dt(2.0), 2, 12)] {
        let announced = Cell::new(None);
        let watch = Watch { announce: &|need| announced.set(Some(need)), ..GO_ON };
        let answer = question(policy, ports, cells).answer(watch).unwrap();
        let need = announced.get().unwrap();
        assert!(answer.need == need && answer.states as u128 <= need.states, "{need:?}, {}", answer.states);
        assert!(need.octets > 100 * need.states, "{need:?}");
    }
    let few = Question { limit: 100, ..question("{}", 2, 8) };
    let announced = Cell::new(None);
    few.answer(Watch { announce: &|need| announced.set(Some(need.states)), ..GO_ON }).unwrap_err();
    assert_eq!(announced.get(), Some(100), "the limit bounds the search");
}

#[test]
fn states_that_differ_in_the_order_of_ports_count_once() {
    let sharing = question("{}", 3, 6);
    let pair = sharing.pair(&GO_ON).unwrap();
    let pairs = (0..pair.policy.len()).flat_map(|a| (0..pair.opponent.len()).map(move |o| (a, o)));
    let classes: BTreeSet<_> = pairs.map(|(a, o)| pair.least(a, o).0).collect();
    assert_eq!((pair.orders(), pair.most_states()), (6, classes.len() as u128));
}

#[test]
fn every_scheme_of_memories_is_answered_or_says_what_it_depends_on() {
    for scheme in sharing::Spec::plain() {
        let policies = Policies { admission: scheme, pushout: None };
        let decider = Decider::new(&policies, 4, 2).unwrap();
        let other = decider.depends_on();
        let subject = Subject::Memory { policies, against: None };
        let question = Question { subject, ..question("{}", 2, 4) };
        match question.answer(GO_ON) {
            Ok(answer) => assert!(answer.ratio >= Ratio::new(1, 1) && other.is_none(), "{question:?}"),
            Err(Failure::Refused(why)) => assert!(why.message.contains(other.unwrap()), "{why}"),
            Err(other) => panic!("{question:?}: {other}"),
        }
    }
}

#[test]
fn the_caller_can_interrupt() {
    let stop = Watch { is_over: &|| true, ..GO_ON };
    assert_eq!(question(LQD, 2, 12).answer(stop), Err(Failure::Interrupted));
}

#[test]
fn a_question_is_a_text_that_names_a_policy_of_memories() {
    let read = |policy: &str| {
        let text = format!(r#"{{"policy": {policy}, "ports": 2, "memory": 8, "states": 1000}}"#);
        Question::read(&text)
            .map(|question| question.answer(GO_ON).unwrap().document(&question)["policy"].to_string())
            .map_err(|why| why.to_string())
    };
    assert_eq!(read(r#"{"policy": "harmonic"}"#).unwrap(), r#""harmonic""#);
    assert_eq!(read(r#"{"policy": "longest-queue"}"#).unwrap(), r#""longest-queue""#);
    let both = r#"{"admission": {"policy": "static-threshold"}, "pushout": {"policy": "longest-queue", "end": "head"}}"#;
    assert_eq!(read(both).unwrap(), r#""static-threshold with longest-queue""#);
    let wrong = read(r#"{"policy": "dynamic-threshold", "alpha": -1}"#).unwrap_err();
    assert_eq!(wrong, "alpha must be greater than 0, not -1");
    let port = read(r#"{"policy": "codel"}"#).unwrap_err();
    assert!(
        port.contains("decides about one port, not about a memory; a memory takes: complete-sharing"),
        "{port}"
    );
    let misspelt = read(r#"{"policy": "longest-que"}"#).unwrap_err();
    assert!(misspelt.contains("did you mean \"longest-queue\""), "{misspelt}");
}

/// A policy of two queues that decides by a table: whether to accept, by both lengths and the port.
struct Tabulated {
    cells: u16,
    accepts: Vec<bool>,
}

impl Tabulated {
    fn drawn(cells: u16, draws: &mut Stream) -> Tabulated {
        let count = 2 * usize::from(cells + 1).pow(2);
        Tabulated { cells, accepts: (0..count).map(|_| draws.up_to(3) > 0).collect() }
    }

    fn arrive(&self, queues: [u16; 2], port: usize) -> [u16; 2] {
        let [one, other] = queues.map(usize::from);
        let entry = 2 * (one * usize::from(self.cells + 1) + other) + port;
        let mut after = queues;
        after[port] += u16::from(self.accepts[entry] && queues[0] + queues[1] < self.cells);
        after
    }
}

impl Side for Tabulated {
    fn start(&self) -> Words {
        [0, 0].into()
    }

    fn arrive(&mut self, state: &[u16], port: usize, takes: bool) -> (Words, u8) {
        let before = [state[0], state[1]];
        (if takes { Tabulated::arrive(self, before, port) } else { before }.into(), 0)
    }

    fn tick(&self, state: &[u16]) -> (Words, u8) {
        let sent = state.iter().filter(|&&length| length > 0).count();
        (state.iter().map(|length| length.saturating_sub(1)).collect(), sent as u8)
    }

    fn lengths(&self, state: &[u16]) -> Vec<u64> {
        state.iter().map(|&length| length.into()).collect()
    }
}

/// The queues of the policy and of the optimum.
type Queues = [[u16; 2]; 2];

/// Return the largest weight of every input of up to `slots` slots that leads from queues back to them; `None` without any.
/// All inputs are played: between two slots any packets in any order, which the optimum takes or refuses.
fn heaviest(policy: &Tabulated, from: Queues, slots: usize, [opponent, own]: [i64; 2]) -> Option<i64> {
    let sent = |queues: [u16; 2]| queues.iter().filter(|&&length| length > 0).count() as i64;
    let mut reached = BTreeMap::from([(from, 0)]);
    let mut heaviest = None;
    for slot in 0..=slots {
        let mut waiting: Vec<Queues> = reached.keys().copied().collect();
        while let Some([a, o]) = waiting.pop() {
            let weight = reached[&[a, o]];
            for port in 0..2 {
                let mut taken = o;
                taken[port] += u16::from(o[0] + o[1] < policy.cells);
                for after in [taken, o].map(|o| [policy.arrive(a, port), o]) {
                    if reached.get(&after).is_none_or(|&known| known < weight) {
                        reached.insert(after, weight);
                        waiting.push(after);
                    }
                }
            }
        }
        heaviest = heaviest.max(reached.get(&from).copied().filter(|_| slot > 0));
        let mut next = BTreeMap::new();
        for (&[a, o], &weight) in &reached {
            let after = [a, o].map(|queues| queues.map(|length| length.saturating_sub(1)));
            let weight = weight + opponent * sent(o) - own * sent(a);
            let known = next.entry(after).or_insert(weight);
            *known = weight.max(*known);
        }
        reached = next;
    }
    heaviest
}

#[test]
fn exhaustive_play_against_random_tables_finds_the_ratio_of_the_solver() {
    const SLOTS: usize = 9;
    // the weight of inputs that attain the ratio is 0, and the least part makes it positive if anything is sent
    const UNIT: i64 = 1000;
    let mut draws = Stream::new(1, "tables");
    for number in 0..12 {
        let cells = 2 + number % 3;
        let mut policy = Tabulated::drawn(cells, &mut draws);
        let mut optimum = Tabulated { cells, accepts: vec![true; policy.accepts.len()] };
        let limit = Limit { states: 10_000, most: Need { states: 10_000, octets: 0 } };
        let own = Machine::explore(&mut policy, 2, false, limit, &GO_ON).unwrap();
        let opponent = Machine::explore(&mut optimum, 2, true, limit, &GO_ON).unwrap();
        let pair = Pair::new(own, opponent, 2, true);
        let graph = Graph::explore(&pair, limit, &GO_ON).unwrap();
        let solution = solve::solve(&graph, &GO_ON).unwrap();
        let (p, q) = solution.ratio.parts();
        let lengths = |state: &[u16]| [state[0], state[1]];
        let heaviest = graph.states().iter().filter_map(|&state| {
            let (a, o) = pair.parts(state);
            let from = [lengths(pair.policy.words(a)), lengths(pair.opponent.words(o))];
            heaviest(&policy, from, SLOTS, [UNIT * q as i64 + 1, UNIT * p as i64])
        });
        let heaviest = heaviest.max().unwrap();
        assert!(0 < heaviest && heaviest < UNIT, "table {number}: {}, {heaviest}", solution.ratio);
    }
}

#[test]
fn a_certificate_with_one_wrong_value_is_refused() {
    let question = question(LQD, 2, 6);
    let pair = question.pair(&GO_ON).unwrap();
    let graph =
        Graph::explore(&pair, Limit { states: 10_000, most: Need { states: 10_000, octets: 0 } }, &GO_ON)
            .unwrap();
    let solution = solve::solve(&graph, &GO_ON).unwrap();
    check::upper(&pair, &graph, solution.ratio, &solution.potential).unwrap();
    let mut lowered = solution.potential.clone();
    let highest = lowered.iter().copied().max().unwrap();
    let place = lowered.iter().position(|&value| value == highest).unwrap();
    lowered[place] -= 1;
    assert!(check::upper(&pair, &graph, solution.ratio, &lowered).is_err());
    let smaller = Ratio::new(6, 5);
    assert!(smaller < solution.ratio && check::upper(&pair, &graph, smaller, &solution.potential).is_err());
    let unrolled = input::Unrolled::new(&pair, &pair, &graph, &solution.cycle);
    unrolled.verify(&question, solution.ratio).unwrap();
    assert!(unrolled.verify(&question, smaller).is_err());
}

#[test]
fn the_shortest_input_has_at_least_the_ratio_and_no_shorter_one_does() {
    let reaching = |policy: &str, cells, reach: &str| {
        let question = Question { reach: Ratio::read(reach), ..question(policy, 2, cells) };
        let answer = question.answer(GO_ON).unwrap();
        (answer.input.len(), Ratio::new(answer.opponent_count, answer.policy_count))
    };
    // with complete sharing a burst of 2B for one port fills the memory; then B packets for the other are lost
    let (slots, ratio) = reaching("{}", 4, "3/2");
    assert!(ratio >= Ratio::new(3, 2), "{ratio}");
    let fewer = Question { reach: Ratio::read("3/2"), ..question("{}", 2, 4) };
    let weight = |slots| played_ratio(&fewer, slots);
    assert!(weight(slots) >= Some(Ratio::new(3, 2)) && weight(slots - 1) < Some(Ratio::new(3, 2)));
    let (longer, ratio) = reaching(LQD, 6, "6/5");
    let (shorter, _) = reaching(LQD, 6, "11/10");
    assert!(shorter < longer && ratio >= Ratio::new(6, 5), "{shorter} {longer} {ratio}");
    let beyond = Question { reach: Ratio::read("3/2"), ..question(LQD, 2, 6) };
    let why = beyond.answer(GO_ON).unwrap_err().to_string();
    assert_eq!(why, "reach must be at most the worst ratio, 5/4, not 3/2");
}

/// Return the largest ratio of an input of at most `slots` slots that begins and ends with empty queues: every input of
/// bursts is played, with complete sharing as the policy.
fn played_ratio(question: &Question, slots: usize) -> Option<Ratio> {
    let cells = question.cells as u16;
    let count = 2 * usize::from(cells + 1).pow(2);
    let policy = Tabulated { cells, accepts: vec![true; count] };
    let reach = |weights| heaviest(&policy, [[0; 2]; 2], slots, weights);
    let ratios = (1..=12_u64).flat_map(|own| (own..=2 * own).map(move |other| Ratio::new(other, own)));
    ratios
        .filter(|ratio| {
            let (p, q) = ratio.parts();
            reach([1000 * q as i64 + 1, 1000 * p as i64]).is_some_and(|weight| weight > 0)
        })
        .max()
}

/// Return the ratios of a policy for these thresholds, with frames of `length` cells.
fn of_frames(policy: &str, [cells, length, circuits]: [u64; 3]) -> String {
    let text = format!(
        r#"{{"policy": {policy}, "frames": {length}, "ports": {circuits}, "memory": {cells}, "states": 1000000}}"#
    );
    Question::read(&text).unwrap().answer(GO_ON).unwrap().ratio.to_string()
}

fn epd(threshold: u64) -> String {
    format!(r#"{{"policy": "epd", "threshold": "{threshold} cells", "pass_eom": false}}"#)
}

#[test]
fn early_packet_discard_falls_off_its_cliff_where_another_solver_found_it() {
    let table = [
        (1, ["4", "3", "3", "2", "3/2", "3/2", "unbounded", "unbounded"]),
        (2, ["10", "5", "4", "5/2", "5/2", "unbounded", "unbounded", "unbounded"]),
        (3, ["12", "6", "4", "7/2", "unbounded", "unbounded", "unbounded", "unbounded"]),
    ];
    for (circuits, ratios) in table {
        let found: Vec<String> =
            (1..=8).map(|threshold| of_frames(&epd(threshold), [8, 3, circuits])).collect();
        assert_eq!(found, ratios, "{circuits} circuits");
    }
    for ([cells, length, circuits], ratios) in [
        ([8, 2, 3], ["7/4", "2", "unbounded"]),
        ([10, 4, 1], ["3/2", "3/2", "unbounded"]),
        ([8, 4, 2], ["6", "11/3", "unbounded"]),
        ([12, 3, 2], ["7/4", "7/4", "unbounded"]),
        ([10, 5, 1], ["2", "3/2", "unbounded"]),
    ] {
        let cliff = cells - circuits * (length - 2);
        let around = [cliff - 2, cliff - 1, cliff];
        let found = around.map(|threshold| of_frames(&epd(threshold), [cells, length, circuits]));
        assert_eq!(found, ratios, "{cells} cells, frames of {length}, {circuits} circuits");
    }
}

#[test]
fn tail_drop_and_partial_packet_discard_can_be_kept_from_delivering_anything() {
    for policy in [r#"{"policy": "tail-drop"}"#, r#"{"policy": "ppd"}"#] {
        assert_eq!(of_frames(policy, [8, 3, 1]), "unbounded", "{policy}");
    }
    let red = r#"{"policy": {"policy": "red"}, "frames": 3, "ports": 1, "memory": 8, "states": 100000}"#;
    let why = Question::read(red).unwrap_err().to_string();
    assert!(why.contains("must decide by the occupancy and by frames alone"), "{why}");
}

/// Ask whether an event never happens; returns the arrivals of the counter-example's slots, if there is one.
fn example(policy: &str, event: Event, ports: usize, cells: u64) -> Option<Vec<Vec<(usize, bool)>>> {
    let proof = question(policy, ports, cells).never(event, GO_ON).unwrap();
    assert!(proof.states as u128 <= proof.need.states, "{proof:?}");
    let pairs = |slot: &Vec<Arrival>| slot.iter().map(|arrival| (arrival.port, arrival.takes)).collect();
    proof.example.map(|example| example.input.iter().map(pairs).collect())
}

#[test]
fn losses_with_room_are_found_where_a_scheme_keeps_room_free() {
    let sharing = example("{}", Event::LossWhileRoom, 3, 5);
    assert_eq!(sharing, None, "complete sharing loses packets only if the memory is full");
    assert_eq!(example(LQD, Event::LossWhileRoom, 2, 6), None);
    // alpha 1, 4 packets: the third one meets a queue of 2, and 2 packets of room
    let burst = vec![vec![(0, true), (0, true), (0, false)], vec![]];
    assert_eq!(example(&dt(1.0), Event::LossWhileRoom, 2, 4), Some(burst));
    let mut full = vec![vec![(0, true), (0, true), (0, true), (0, false)]];
    full.extend([vec![], vec![]]);
    assert_eq!(example("{}", Event::Loss, 1, 3), Some(full));
}

#[test]
fn longest_queue_drop_never_starves_a_port_unless_each_queue_is_being_sent() {
    for (ports, cells) in [(2, 2), (2, 7), (3, 4), (4, 4)] {
        assert_eq!(example(LQD, Event::Starved, ports, cells), None, "{ports} ports, {cells} cells");
    }
    assert!(example(LQD, Event::Starved, 3, 2).is_some(), "two packets in transmission fill the memory");
    let sharing = example("{}", Event::Starved, 2, 2).unwrap();
    assert_eq!(sharing, [vec![(0, true), (0, true), (1, false)], vec![]]);
}

#[test]
fn a_proof_that_does_not_hold_is_refused() {
    let small = question(&dt(0.5), 2, 6);
    let mut policy = small.side().unwrap();
    let limit = Limit { states: 1000, most: Need { states: 1000, octets: 0 } };
    let machine = Machine::explore(policy.as_mut(), 2, false, limit, &GO_ON).unwrap();
    let proof = small.never(Event::Starved, GO_ON).unwrap();
    assert_eq!((proof.states, proof.example), (machine.len(), None));
    small.verify(Event::Starved, &machine).unwrap();
    let broken = small.verify(Event::LossWhileRoom, &machine);
    assert_eq!(broken, Err(Failure::Certificate("upper")), "dynamic thresholds keep room free");
    // arrivals lead out of the states of a smaller memory
    let few = question(&dt(0.5), 2, 3);
    let mut policy = few.side().unwrap();
    let part = Machine::explore(policy.as_mut(), 2, false, limit, &GO_ON).unwrap();
    assert_eq!(small.verify(Event::Starved, &part), Err(Failure::Certificate("upper")));
}

#[test]
fn frames_break_from_the_threshold_on_at_which_open_frames_can_fill_the_port() {
    // every open frame that was accepted below the threshold brings at most L - 1 further cells
    let (cells, length) = (10, 3);
    for circuits in [1, 2, 3] {
        let safe = cells - circuits as u64 * (u64::from(length) - 1);
        for threshold in 1..=cells {
            let policy = format!(r#"{{"policy": "epd", "threshold": "{threshold} cells"}}"#);
            let spec = admission::Spec::read(&read(&policy, Format::Json).unwrap(), "policy").unwrap();
            let question = Question {
                subject: Subject::Frames { policy: spec, length },
                ..question("{}", circuits, cells)
            };
            let proof = question.never(Event::BrokenFrame, GO_ON).unwrap();
            assert_eq!(
                proof.example.is_none(),
                threshold <= safe,
                "{circuits} circuits, threshold {threshold}"
            );
        }
    }
}

#[test]
fn an_event_that_cannot_be_asked_for_is_refused_with_those_that_can() {
    let ask = |never: &str, more: &str| {
        let text = format!(
            r#"{{"policy": {{"policy": "longest-queue"}}, "ports": 2, "memory": 4, "states": 99, "never": "{never}"{more}}}"#
        );
        Question::ask(&text, GO_ON).map_err(|why| why.to_string())
    };
    let document = ask("starved", "").unwrap();
    assert!(document.contains(r#""never":"starved","proved":true,"states":15"#), "{document}");
    for (never, why) in [
        (
            "lossless_drop",
            "must be one of loss, loss while room, starved, not lossless_drop, which needs pause",
        ),
        ("idle while waiting", "not idle while waiting: every port with packets sends one in each slot"),
        ("broken frame", "(allowed: loss, loss while room, starved)"),
        ("straved", "did you mean \"starved\"?"),
    ] {
        let refused = ask(never, "").unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
    let beside = ask("loss", r#", "reach": "5/4""#).unwrap_err();
    assert!(beside.contains("reach must be left out with never"), "{beside}");
    let few = Question { limit: 10, ..question(LQD, 2, 4) };
    let why = few.never(Event::Starved, GO_ON).unwrap_err().to_string();
    assert!(why.starts_with("states must be greater than 10: up to 15 states"), "{why}");
}

#[test]
fn the_excess_loss_is_the_part_of_the_optimum_that_the_policy_lacks() {
    let excess = |[opponent, policy]: [u64; 2]| Ratio::new(opponent, policy).excess().to_string();
    assert_eq!([[14, 11], [2, 1], [1, 0], [1, 1], [1, 2]].map(excess), ["3/14", "1/2", "1", "0", "0"]);
    let question = question(LQD, 2, 8);
    let answer = question.answer(GO_ON).unwrap();
    let arrivals: Vec<Arrival> = answer.input.iter().flatten().copied().collect();
    let refused = arrivals.iter().filter(|arrival| !arrival.takes).count() as u64;
    let lost = arrivals.len() as u64 - answer.policy_count;
    assert_eq!(lost - refused, answer.opponent_count - answer.policy_count, "packets are sent or lost");
    assert_eq!(answer.document(&question)["excess_loss"], "3/14");
}
