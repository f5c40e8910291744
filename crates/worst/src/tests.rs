//! Values that are published or were computed with another solver.

use pushout_core::language::read::{Format, read};

use super::*;

const GO_ON: Watch<'static> = Watch { is_over: &|| false };

fn policies(text: &str) -> Policies {
    Policies::read(&read(text, Format::Json).unwrap()).unwrap()
}

fn question(policy: &str, ports: usize, cells: u64) -> Question {
    Question { policies: policies(policy), against: None, ports, cells, limit: 1_000_000 }
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
    assert!(huge.starts_with("memory must be smaller for 8 ports: the optimum alone has"), "{huge}");
    let far = question(LQD, 2, 1000);
    assert!(matches!(far.answer(GO_ON), Err(Failure::States(Limit { most: 251_502_753_001.., .. }))));
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
        let question = Question { policies, ..question("{}", 2, 4) };
        match question.answer(GO_ON) {
            Ok(answer) => assert!(answer.ratio >= Ratio::new(1, 1) && keeps.is_none(), "{question:?}"),
            Err(Failure::Refused { why, .. }) => assert!(why.contains(keeps.unwrap()), "{why}"),
            Err(other) => panic!("{question:?}: {other}"),
        }
    }
}

#[test]
fn the_caller_can_interrupt() {
    let stop = Watch { is_over: &|| true };
    assert_eq!(question(LQD, 2, 12).answer(stop), Err(Failure::Interrupted));
}
