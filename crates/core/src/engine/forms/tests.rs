//! Each form on and off gives the same bytes, and a count shows that it was used.

use std::cell::RefCell;

use super::Form;
use crate::engine;
use crate::equivalence::generator;
use crate::report::report;
use crate::scenario::load;
use crate::scenario::model::Scenario;

const FORMS: [Form; 16] = [
    Form::WholeTrain,
    Form::TrainEnds,
    Form::BusySegment,
    Form::LoopedSegment,
    Form::ShownCells,
    Form::HeadDrop,
    Form::ReservedTrain,
    Form::Rotation,
    Form::Lookahead,
    Form::OpenLoop,
    Form::Combs,
    Form::Rows,
    Form::SharedPorts,
    Form::Stations,
    Form::OrderedPorts,
    Form::QuietPorts,
];

thread_local! {
    /// The form that is off, and the number of uses of each.
    static SWITCH: RefCell<(Option<Form>, [u64; FORMS.len()])> = const { RefCell::new((None, [0; FORMS.len()])) };
}

pub(crate) fn allows(form: Form) -> bool {
    SWITCH.with_borrow(|(without, _)| *without != Some(form))
}

pub(crate) fn used(form: Form) {
    SWITCH.with_borrow_mut(|(_, used)| used[form as usize] += 1);
}

/// Switch a form off in this thread, or all on.
pub(crate) fn switch_off(form: Option<Form>) {
    SWITCH.with_borrow_mut(|(without, _)| *without = form);
}

/// Return how often each form has been used since the last call.
pub(crate) fn take_used() -> [u64; FORMS.len()] {
    SWITCH.with_borrow_mut(|(_, used)| std::mem::take(used))
}

/// The report of a run without a form, except for the engine's own counts, and the number of uses of each form.
fn run(scenario: &Scenario, without: Option<Form>) -> (String, [u64; FORMS.len()]) {
    SWITCH.with_borrow_mut(|switch| *switch = (without, [0; FORMS.len()]));
    let mut document = report(scenario, &engine::run(scenario, false), None);
    document["engine"]["events"] = 0.into();
    switch_off(None);
    (document.to_string(), take_used())
}

/// Ten flows that share a port of thousands of cells: random networks are too small for trains to pass by their ends,
/// and few of them have a policy that must observe or judge each cell, as four of these five have.
fn congested(seed: u64) -> String {
    let text = include_str!("../../../../../scenarios/w1-cell.toml");
    let text = text.replace("duration = \"20 s\"", &format!("duration = \"120 ms\"\nseed = {seed}"));
    assert!(text.contains(ADMISSION), "the scenario has this policy");
    match seed % 5 {
        0 => text,
        1 => text.replace(ADMISSION, "{ policy = \"atm-red\" }"),
        2 => text.replace(ADMISSION, "{ policy = \"codel\", interval = \"20 ms\" }"),
        3 => text.replace(ADMISSION, "{ policy = \"drop-from-front\" }"),
        _ => text.replace(ADMISSION, "{ policy = \"dynamic-threshold\", alpha = 10 }"),
    }
}

const ADMISSION: &str = "{ policy = \"epd\", threshold = \"2500 cells\" }";

/// A switch whose ports share a memory that only limits arrivals.
fn shared(seed: u64) -> String {
    let text = include_str!("../../../../../scenarios/chip.toml");
    let text =
        text.replace("duration = \"400 ms\"\nwarmup = \"100 ms\"", "duration = \"6 ms\"\nwarmup = \"1 ms\"");
    assert!(text.contains("duration = \"6 ms\""), "it is short");
    text.replace("seed = 1", &format!("seed = {seed}"))
}

/// Random networks of a kind; not every text is a scenario.
fn networks(text: fn(u64) -> String, count: u64) -> impl Iterator<Item = Scenario> {
    (0..count).filter_map(move |seed| load(&text(seed), "random.toml", &[]).ok())
}

#[test]
fn each_form_applies_and_gives_the_same_bytes_as_without_it() {
    let mut compared = [0; FORMS.len()];
    let kinds = [
        generator::scenario,
        generator::streams,
        generator::circuits,
        generator::rings,
        generator::fabrics,
        generator::memories,
    ];
    let fixed = networks(congested, 10).chain(networks(shared, 3));
    for scenario in kinds.into_iter().flat_map(|kind| networks(kind, 40)).chain(fixed) {
        let (whole, used) = run(&scenario, None);
        for form in FORMS.into_iter().filter(|form| used[*form as usize] > 0) {
            let (report, used) = run(&scenario, Some(form));
            assert_eq!(used[form as usize], 0, "{form:?} is off");
            assert_eq!(report, whole, "{} without {form:?}", scenario.name);
            compared[form as usize] += 1;
        }
    }
    for (form, compared) in FORMS.iter().zip(compared) {
        assert!(compared > 0, "{form:?} applied in no network");
    }
}

/// Two flows to one host through a FIFO port.
const PAIR: &str = "name = 'pair'
    duration = '20 ms'
    [topology]
    template = 'dumbbell'
    sources = 2
    access = { rate = '42.4 Mb/s', delay = '10 us' }
    bottleneck = { rate = '42.4 Mb/s', delay = '10 us' }
    egress = { rate = '42.4 Mb/s', delay = '10 us' }
    [port.bottleneck]
    buffer = '100 cells'
    [flows]
    source = { kind = 'greedy' }
    transport = { kind = 'tcp' }";

/// Return how often the pair uses a form, with these changes of its text.
fn uses(form: Form, changes: &[(&str, &str)]) -> u64 {
    let text = changes.iter().fold(PAIR.to_owned(), |text, (from, to)| text.replace(from, to));
    let scenario = load(&text, "pair.toml", &[]).unwrap_or_else(|why| panic!("{why}"));
    let (report, used) = run(&scenario, None);
    assert_eq!(report, run(&scenario, Some(form)).0, "the same bytes without {form:?}");
    used[form as usize]
}

const CLOCKED: [(&str, &str); 2] =
    [("kind = 'greedy'", "kind = 'cbr', rate = '20 Mb/s'"), ("kind = 'tcp'", "kind = 'cells'")];

#[test]
fn a_clocked_source_sends_ahead() {
    assert!(uses(Form::OpenLoop, &CLOCKED) > 10);
}

#[test]
fn single_cells_of_clocked_sources_travel_as_combs() {
    assert!(uses(Form::Combs, &CLOCKED) > 10);
    let poisson = [("kind = 'greedy'", "kind = 'poisson', rate = '20 Mb/s'"), CLOCKED[1]];
    assert!(uses(Form::Combs, &poisson) > 10);
    assert_eq!(uses(Form::Combs, &[CLOCKED[0], ("kind = 'tcp'", "kind = 'udp'")]), 0);
}

#[test]
fn single_cells_travel_as_combs_past_policers() {
    for police in [
        "kind = 'gcra', rate = '20 Mb/s'",
        "kind = 'gcra', rate = '17 Mb/s', action = 'drop'",
        "kind = 'random', probability = 0.3, action = 'drop'",
    ] {
        let policed = format!("police = {{ {police} }}\n    transport = {{ kind = 'cells' }}");
        assert!(
            uses(Form::Combs, &[CLOCKED[0], ("transport = { kind = 'tcp' }", &policed)]) > 10,
            "{police}"
        );
    }
}

#[test]
fn a_source_that_is_answered_does_not_send_ahead() {
    assert_eq!(uses(Form::OpenLoop, &[]), 0);
}

#[test]
fn clocked_sources_that_send_at_the_same_instants_send_ahead() {
    let together =
        [CLOCKED[0], CLOCKED[1], ("duration", "sample = '1 ms'\n    warmup = '5 ms'\n    duration")];
    assert!(uses(Form::OpenLoop, &together) > 10);
}

#[test]
fn datagrams_and_packets_with_parity_are_sent_ahead_as_well() {
    let udp = [CLOCKED[0], ("kind = 'tcp'", "kind = 'udp'")];
    assert!(uses(Form::OpenLoop, &udp) > 10);
}
