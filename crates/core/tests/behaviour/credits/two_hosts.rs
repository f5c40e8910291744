//! One hop, by hand: a cell lasts 1 us, the line 10 us each way.

use pushout_core::buffer::capacity::Capacity;
use pushout_core::report::report;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::units::ids::{CircuitId, PortVc};

use super::{load, port, run};

/// Host a sends to host b as much as the line carries; `more` is added.
fn direct(credit: &str, more: &str) -> Scenario {
    let text = format!(
        r#"
        name = "direct"
        duration = "2300 us"
        node = [{{ name = "a", kind = "host" }}, {{ name = "b", kind = "host" }}]
        link = [{{ name = "line", from = "a", to = "b", rate = "424 Mb/s", delay = "10 us" }}]
        flows = {{ source = {{ kind = "cbr", rate = "424 Mb/s" }}, transport = {{ kind = "cells" }} }}
        [port.line]
        scheduler = {{ policy = "round-robin" }}
        credit = {{ policy = "n23", {credit} }}
        [[flow]]
        name = "there"
        from = "a"
        to = "b"
        {more}
        "#
    );
    load(&text, &[])
}

const BACK: &str = "[[flow]]\nname = 'back'\nfrom = 'b'\nto = 'a'";

fn sent(scenario: &Scenario, line: &str) -> u64 {
    run(scenario).network.ports[port(scenario, line)].counters().units_out
}

#[test]
fn a_circuit_sends_its_room_once_in_the_time_of_n2_cells_and_a_round_trip() {
    // Cells start at 0, 1, 2, 3 us and reach host b at 11, 12, 13, 14. It forwards at once, and the credits for two leave
    // at 12 and 14 to be back at 23 and 25: four cells in 23 us.
    assert_eq!(sent(&direct("n2 = '2 cells', n3 = '2 cells', charge = false", ""), "line"), 400);
    assert_eq!(
        sent(&direct("n2 = '1 cell', n3 = '0 cells', charge = false", ""), "line"),
        2300_u64.div_ceil(22)
    );
}

#[test]
fn no_circuit_is_faster_than_its_room_over_the_round_trip_and_n2() {
    for n2 in 1..=4 {
        for n3 in 0..=24 {
            let credit = format!("n2 = '{n2} cells', n3 = '{n3} cells', charge = false");
            let sent = sent(&direct(&credit, ""), "line");
            // From the last bit of a cell to its credit: 10 us to host b, 1 for the credit cell and 10 back.
            let bound = 2300.0 * f64::from(n2 + n3) / f64::from(21 + n2);
            let room = f64::from(n2 + n3);
            assert!(sent as f64 <= bound.min(2300.0) + room, "{credit}: {sent} of {bound}");
            if n3 % n2 == 0 {
                assert!(sent as f64 >= bound.min(2300.0) - room, "{credit}: {sent} of {bound}");
            }
        }
    }
}

#[test]
fn n3_by_the_rule_keeps_the_line_busy() {
    for charge in [false, true] {
        let full = sent(&direct(&format!("n2 = '2 cells', charge = {charge}"), BACK), "line");
        assert!(full >= 2299, "charge = {charge}: {full} cells");
    }
}

#[test]
fn charged_credit_cells_take_their_time_from_the_data_of_the_other_direction() {
    for (n2, charge) in [(2, true), (20, true), (20, false)] {
        let scenario = direct(&format!("n2 = '{n2} cells', charge = {charge}"), BACK);
        let outcome = run(&scenario);
        let [there, back] =
            ["line", "line.back"].map(|name| outcome.network.ports[port(&scenario, name)].counters());
        assert_eq!(there.rare().credit_cells, 0, "b's cells need no credits");
        assert!(back.units_out + back.rare().credit_cells >= 2299, "the line back is always busy");
        let arrived = outcome.network.circuits[CircuitId(0)].tally().arrived;
        let written =
            outcome.network.receiver(port(&scenario, "line")).unwrap().books(PortVc(0)).reported / n2;
        assert_eq!(written, arrived / n2);
        let charged = if charge { written } else { 0 };
        // One may still wait behind the cell in transmission.
        assert!(
            (charged.saturating_sub(1)..=charged).contains(&back.rare().credit_cells),
            "{} of {charged}",
            back.rare().credit_cells
        );
    }
}

#[test]
fn two_circuits_have_a_balance_each() {
    let second = "[[flow]]\nname = 'too'\nfrom = 'a'\nto = 'b'";
    let scenario = direct("n2 = '2 cells', n3 = '2 cells', charge = false", second);
    let outcome = run(&scenario);
    let arrived = [0, 1].map(|vc| outcome.network.circuits[CircuitId(vc)].tally().arrived);
    assert!(arrived.iter().all(|cells| (380..=400).contains(cells)), "{arrived:?}");
}

#[test]
fn a_host_without_credit_waits_before_a_slow_line() {
    let text = r#"
        name = "slow"
        duration = "20 ms"
        node = [{ name = "a", kind = "host" }, { name = "s", kind = "switch" }, { name = "b", kind = "host" }]
        link = [
            { name = "in", from = "a", to = "s", rate = "424 Mb/s", delay = "10 us" },
            { name = "out", from = "s", to = "b", rate = "42.4 Mb/s", delay = "10 us" },
        ]
        flow = [{ name = "f", from = "a", to = "b", source = { kind = "cbr", rate = "424 Mb/s" }, transport = { kind = "cells" } }]
        [port.in]
        scheduler = { policy = "round-robin" }
        credit = { policy = "n23", n2 = "3 cells", n3 = "7 cells" }
        [port.out]
        scheduler = { policy = "round-robin" }
    "#;
    let scenario = load(text, &[]);
    let out = port(&scenario, "out");
    assert_eq!(scenario.lines[out].port.capacity, Capacity::limited(10), "the room that the credits promise");
    let outcome = run(&scenario);
    let switch = &outcome.network.ports[out];
    assert_eq!((switch.counters().lost_total(), switch.counters().occupancy.max()), (0, 10));
    assert!((1998..=2000).contains(&switch.counters().units_out), "the slow line is always busy");
    assert!(
        outcome.network.ports[port(&scenario, "in")].units_queued() > 17_900,
        "the rest waits in the host"
    );
}

#[test]
fn a_cell_that_a_policer_takes_behind_the_line_gives_its_room_back() {
    let text = r#"
        name = "policed"
        duration = "20 ms"
        node = [{ name = "a", kind = "host" }, { name = "s", kind = "switch" }, { name = "b", kind = "host" }]
        link = [
            { name = "in", from = "a", to = "s", rate = "424 Mb/s", delay = "10 us" },
            { name = "out", from = "s", to = "b", rate = "424 Mb/s", delay = "10 us" },
        ]
        [[flow]]
        name = "f"
        from = "a"
        to = "b"
        source = { kind = "cbr", rate = "42.4 Mb/s" }
        transport = { kind = "cells" }
        police = { kind = "random", probability = 0.5, action = "drop" }
        [port.default]
        scheduler = { policy = "round-robin" }
        [port.in]
        scheduler = { policy = "round-robin" }
        credit = { policy = "n23", n2 = "3 cells", n3 = "7 cells" }
    "#;
    let scenario = load(text, &[]);
    let outcome = run(&scenario);
    let tally = outcome.network.circuits[CircuitId(0)].tally();
    assert_eq!(tally.sent, 2000);
    assert!((900..1100).contains(&tally.lost), "{tally:?}");
    assert!(tally.arrived + tally.lost > 1990, "no cell waits for credit: {tally:?}");
}

/// Both ports of a switch send back to back in one rhythm, so that every credit cell becomes due just when its line
/// becomes free.
#[test]
fn at_a_tie_the_order_of_the_ports_in_the_scenario_decides_whether_data_or_a_credit_cell_goes_first() {
    let link = |name, from, to| {
        format!(r#"{{ name = "{name}", from = "{from}", to = "{to}", rate = "424 Mb/s", delay = "10 us" }}"#)
    };
    let (first, second) = (link("in", "a", "s"), link("out", "s", "b"));
    for (links, round_trip) in [([&first, &second], 24), ([&second, &first], 23)] {
        let text = format!(
            r#"
            name = "tie"
            duration = "2300 us"
            node = [{{ name = "a", kind = "host" }}, {{ name = "s", kind = "switch" }}, {{ name = "b", kind = "host" }}]
            link = [{}, {}]
            flows = {{ source = {{ kind = "cbr", rate = "424 Mb/s" }}, transport = {{ kind = "cells" }} }}
            flow = [{{ name = "there", from = "a", to = "b" }}, {{ name = "back", from = "b", to = "a" }}]
            [port.default]
            scheduler = {{ policy = "round-robin" }}
            [port.in]
            scheduler = {{ policy = "round-robin" }}
            credit = {{ policy = "n23", n2 = "1 cell", n3 = "0 cells" }}
            "#,
            links[0], links[1]
        );
        let scenario = load(&text, &[]);
        for engine in [EngineKind::Fast, EngineKind::Reference] {
            let scenario = Scenario { engine, ..scenario.clone() };
            // 0 to 1, 10 us, 11 to 12 to host b; then the credit cell, for a microsecond and ten, or after a data cell.
            assert_eq!(sent(&scenario, "in"), 2300_u64.div_ceil(round_trip), "{engine:?}");
        }
    }
}

#[test]
fn a_scenario_with_credits_runs_on_the_reference_engine_and_its_report_says_so() {
    for engine in [EngineKind::Fast, EngineKind::Reference] {
        let scenario = Scenario { engine, ..direct("n2 = '2 cells'", "") };
        let document = report(&scenario, &run(&scenario), None);
        assert_eq!(document["engine"]["name"], "reference");
        let ports = document["ports"].as_array().unwrap();
        let back = ports.iter().find(|port| port["name"] == "line.back").unwrap();
        assert!(back["credit_cells"].as_u64() > Some(1000), "{back}");
    }
}
