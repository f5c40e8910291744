//! Values that are published or were computed with another solver.

use std::collections::BTreeMap;

use pushout_core::language::read::{Format, read};
use pushout_core::rng::Stream;

use super::*;
use crate::side::Words;

const GO_ON: Watch<'static> = Watch { is_over: &|| false };

fn policies(text: &str) -> Policies {
    Policies::read(&read(text, Format::Json).unwrap()).unwrap()
}

fn question(policy: &str, ports: usize, cells: u64) -> Question {
    let subject = Subject::Memory { policies: policies(policy), against: None };
    Question { subject, ports, cells, limit: 1_000_000, reach: None }
}

fn ratio(policy: &str, ports: usize, cells: u64) -> String {
    question(policy, ports, cells).answer(GO_ON).unwrap().ratio.to_string()
}

const LQD: &str = r#"{"pushout": {"policy": "longest-queue"}}"#;

fn dt(alpha: f64) -> String {
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
    let far = question(LQD, 2, 500);
    assert!(matches!(far.answer(GO_ON), Err(Failure::States(Limit { most: 15_000_000_000.., .. }))));
    let clock = refused(&question(r#"{"admission": {"policy": "occamy"}}"#, 2, 8));
    assert!(clock.contains("keeps a bucket of tokens, which fills with time"), "{clock}");
    let few = Question { limit: 100, ..question(LQD, 2, 8) };
    assert_eq!(few.answer(GO_ON), Err(Failure::States(Limit { states: 100, most: 45 * 45 })));
}

#[test]
fn every_scheme_of_memories_is_answered_or_says_what_it_keeps() {
    for scheme in sharing::Spec::plain() {
        let policies = Policies { admission: scheme, pushout: None };
        let keeps = policies.keeps();
        let subject = Subject::Memory { policies, against: None };
        let question = Question { subject, ..question("{}", 2, 4) };
        match question.answer(GO_ON) {
            Ok(answer) => assert!(answer.ratio >= Ratio::new(1, 1) && keeps.is_none(), "{question:?}"),
            Err(Failure::Refused(why)) => assert!(why.message.contains(keeps.unwrap()), "{why}"),
            Err(other) => panic!("{question:?}: {other}"),
        }
    }
}

#[test]
fn the_caller_can_interrupt() {
    let stop = Watch { is_over: &|| true };
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
        let limit = Limit { states: 10_000, most: 10_000 };
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
    let graph = Graph::explore(&pair, Limit { states: 10_000, most: 10_000 }, &GO_ON).unwrap();
    let solution = solve::solve(&graph, &GO_ON).unwrap();
    check::upper(&pair, &graph, solution.ratio, &solution.potential).unwrap();
    let mut lowered = solution.potential.clone();
    let highest = lowered.iter().copied().max().unwrap();
    let place = lowered.iter().position(|&value| value == highest).unwrap();
    lowered[place] -= 1;
    assert!(check::upper(&pair, &graph, solution.ratio, &lowered).is_err());
    let smaller = Ratio::new(6, 5);
    assert!(smaller < solution.ratio && check::upper(&pair, &graph, smaller, &solution.potential).is_err());
    let unrolled = input::Unrolled::new(&pair, &graph, &solution.cycle);
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
