//! Programs driven by hand: what their functions see, what they change, and what is refused.

use super::*;
use crate::language::read::{Format, read};
use crate::language::spec::Field;
use crate::transport::Transport;
use crate::transport::tcp::congestion::CongestionControl;
use crate::transport::tcp::tests::defaults;
use crate::transport::tcp::{Params as Tcp, pacer::Pacing};
use crate::units::{Span, Time};

const MSS: u64 = 1460;

fn chosen(table: &str) -> Result<Chosen, String> {
    let root = read(&format!("congestion = {{ policy = 'program', {table} }}"), Format::Toml).unwrap();
    Chosen::read(root.get("congestion").unwrap(), "congestion").map_err(|fault| fault.to_string())
}

/// A sender with the program of this table.
fn params(table: &str) -> Tcp {
    Tcp { congestion: chosen(table).unwrap(), ..defaults() }
}

fn started(table: &str) -> (Control, CongestionWindow) {
    let params = params(table);
    let mut window = CongestionWindow::new(&params);
    window.cwnd = 10 * MSS;
    (Control::new(&params), window)
}

fn facts(unacknowledged: u64, sent: u64) -> Facts {
    Facts { unacknowledged: unacknowledged * MSS, sent: sent * MSS, send_window: 1 << 20, ..Facts::plain() }
}

fn variable(control: &Control, place: usize) -> i64 {
    control.0.runner.state[OWN.len() + place].as_int()
}

#[test]
fn the_window_is_what_on_ack_leaves_but_a_segment_at_least_and_no_more_than_can_be_advertised() {
    for (octets, expected) in [("20000", 20_000), ("1", MSS), ("-5", MSS), ("1000000000", 131_070)] {
        let (mut control, mut window) =
            started(&format!("on_ack = ['r0 = {octets}', 'state.window = r0', 'end']"));
        assert_eq!(control.on_ack(&mut window, Ack::of(MSS, facts(1, 9))), Reaction::Continue);
        assert_eq!(window.cwnd, expected, "{octets}");
    }
}

#[test]
fn the_threshold_is_none_until_a_function_assigns_it() {
    let text = "state = { seen = 0 }, on_ack = ['r0 = state.threshold', 'state.seen = r0', 'r1 = 5840', \
                'state.threshold = r1', 'end']";
    let (mut control, mut window) = started(text);
    control.on_ack(&mut window, Ack::of(MSS, facts(1, 9)));
    assert_eq!((variable(&control, 0), window.threshold()), (i64::MAX, Some(5840)));
    let (mut control, mut window) = started("on_ack = ['end']");
    control.on_ack(&mut window, Ack::of(MSS, facts(1, 9)));
    assert_eq!(window.threshold(), None);
}

/// Store everything that an acknowledgement shows.
const SEEN: &str = "state = { acked = 0, delivered = 0, lost = 0, flight = 0, acknowledged = 0, sent = 0, advertised = 0, \
     mss = 0, ps = 0, rtt = 0, opens = false, marked = false }, on_ack = ['r0 = x.acked', 'state.acked = r0', \
     'r0 = x.delivered', 'state.delivered = r0', 'r0 = x.lost', 'state.lost = r0', 'r0 = x.flight', 'state.flight = r0', \
     'r0 = x.acknowledged', 'state.acknowledged = r0', 'r0 = x.sent', 'state.sent = r0', 'r0 = x.advertised', \
     'state.advertised = r0', 'r0 = x.mss', 'state.mss = r0', 'r0 = x.now_ps', 'state.ps = r0', 'r0 = x.rtt_ps', \
     'state.rtt = r0', 'r1 = x.opens', 'state.opens = r1', 'r1 = x.marked', 'state.marked = r1', 'r0 = 99999', \
     'state.window = r0', 'end']";

#[test]
fn on_ack_sees_the_ack_and_its_connection() {
    let (mut control, mut window) = started(SEEN);
    let now = Time::ZERO + Span::millis(7);
    let facts = Facts { now, rtt: Some(Span::micros(30)), ..facts(3, 9) };
    control.on_ack(&mut window, Ack { delivered: 2 * MSS, lost: 5, ..Ack::of(MSS, facts) });
    let seen: Vec<i64> = (0..12).map(|place| variable(&control, place)).collect();
    let segments = |count: u64| (count * MSS) as i64;
    let expected = [
        segments(1),
        segments(2),
        5,
        segments(6),
        segments(3),
        segments(9),
        1 << 20,
        segments(1),
        now.0 as i64,
        Span::micros(30).0 as i64,
        1,
        0,
    ];
    assert_eq!(seen, expected);
    assert_eq!(window.cwnd, 99_999);
}

#[test]
fn an_ack_with_a_mark_or_in_a_recovery_changes_state_and_not_the_window() {
    let (mut control, mut window) = started(SEEN);
    control.on_echo(&mut window, Ack { echo: true, ..Ack::of(MSS, facts(1, 9)) });
    assert_eq!((variable(&control, 0), variable(&control, 10), variable(&control, 11)), (MSS as i64, 0, 1));
    control.on_delivery(&mut window, Ack { delivered: 3 * MSS, ..Ack::of(0, facts(1, 9)) });
    assert_eq!((variable(&control, 0), variable(&control, 1)), (0, 3 * MSS as i64));
    assert_eq!(window.cwnd, 10 * MSS);
    let third = control.on_duplicate(&mut window, 3, facts(1, 9));
    assert_eq!(third, Reaction::Retransmit { restart_timer: true });
    let partial = control.on_ack(&mut window, Ack::of(MSS, facts(2, 9)));
    assert_eq!(partial, Reaction::Retransmit { restart_timer: true });
    assert_eq!((variable(&control, 10), window.cwnd), (0, 5 * MSS), "halved, as without on_loss");
    control.on_ack(&mut window, Ack { echo: true, ..Ack::of(MSS, facts(9, 12)) });
    assert_eq!(variable(&control, 4), 2 * MSS as i64, "the owner has reported the echo before");
}

/// Count causes in `n`: 1 for a loss, 100 for a timeout, 10 000 for a mark; keep three quarters of the window.
const CAUSES: &str = "state = { n = 0 }, on_loss = ['r0 = state.n', 'r1 = x.by_timeout', 'unless r1 jump 6', 'r2 = 100', \
     'r0 = r0 + r2', 'jump 13', 'r1 = x.by_mark', 'unless r1 jump 11', 'r2 = 10000', 'r0 = r0 + r2', 'jump 13', 'r2 = 1', \
     'r0 = r0 + r2', 'state.n = r0', 'r0 = state.window', 'r2 = 3', 'r0 = r0 * r2', 'r2 = 4', 'r0 = r0 // r2', \
     'state.window = r0', 'end']";

#[test]
fn on_loss_says_to_what_the_window_falls_and_sees_why() {
    let (mut control, mut window) = started(CAUSES);
    control.on_duplicate(&mut window, 3, facts(1, 9));
    assert_eq!(
        (variable(&control, 0), window.ssthresh, window.cwnd),
        (1, 7500 * MSS / 1000, 7500 * MSS / 1000)
    );
    window.cwnd = 8 * MSS;
    control.on_mark(&mut window, facts(1, 9));
    assert_eq!((variable(&control, 0), window.ssthresh, window.cwnd), (10_001, 6 * MSS, 6 * MSS));
    window.cwnd = 8 * MSS;
    control.on_loss(&mut window, &Loss::by_blocks(facts(1, 9)));
    assert_eq!((variable(&control, 0), window.ssthresh, window.cwnd), (10_002, 6 * MSS, 8 * MSS));
    control.on_timeout(&mut window, facts(1, 9), Timeout::First);
    assert_eq!((variable(&control, 0), window.ssthresh, window.cwnd), (10_102, 6 * MSS, MSS));
    control.on_timeout(&mut window, facts(1, 9), Timeout::Repeated);
    assert_eq!((variable(&control, 0), window.ssthresh, window.cwnd), (10_102, 6 * MSS, MSS));
}

#[test]
fn a_window_falls_to_two_segments_at_least() {
    let (mut control, mut window) = started("on_loss = ['r0 = -7', 'state.window = r0', 'end']");
    control.on_loss(&mut window, &Loss::by_blocks(facts(1, 9)));
    assert_eq!(window.ssthresh, 2 * MSS);
}

#[test]
fn a_program_that_assigns_a_rate_paces_by_it_once_it_is_not_0() {
    let text = "on_ack = ['r0 = 8000000', 'state.pacing = r0', 'end']";
    let (mut control, mut window) = started(text);
    assert_eq!(control.pace(), None);
    control.on_ack(&mut window, Ack::of(MSS, facts(1, 9)));
    assert_eq!(control.pace(), Some(Pace { rate: Rate(8_000_000), quantum: 0 }));
    let paced = params(text);
    assert_eq!((paced.congestion.pace_setter(), paced.congestion.measuring()), (Some("program"), None));
    assert_eq!(paced.check(), Ok(()));
    assert_eq!(Tcp { pacing: Pacing::Off, ..paced }.check().unwrap_err().key, Some("pacing"));
    assert_eq!(params(CAUSES).congestion.pace_setter(), None);
}

#[test]
fn what_cannot_be_computed_is_reported_with_its_place_and_stays_after_a_later_connection() {
    let text =
        "name = 'mine', on_ack = ['r0 = x.lost', 'r1 = 1', 'r1 = r1 // r0', 'state.window = r1', 'end']";
    let params = params(text);
    let mut control = CongestionControl::start(&params);
    assert_eq!(control.failure(), None);
    let now = Time::ZERO + Span::secs(3);
    control.on_ack(Ack::of(MSS, Facts { now, ..facts(1, 9) }));
    control.restart(&params);
    control.on_ack(Ack::of(MSS, Facts { now: now + Span::secs(1), ..facts(2, 9) }));
    let failure = control.failure().unwrap();
    let why =
        "instruction 2 of \"mine\", on_ack: a divisor must not be 0: quotient of 1 and 0 (`r1 = r1 // r0`)";
    assert_eq!((failure.time, failure.why.as_str()), (now, why));
    let (mut control, mut window) = started("on_loss = ['r0 = 0', 'r1 = r0 // r0', 'end']");
    control.on_loss(&mut window, &Loss::by_blocks(facts(1, 9)));
    assert_eq!((control.failure().is_some(), window.ssthresh), (true, 5 * MSS));
}

#[test]
fn what_a_control_cannot_do_is_refused_with_one_message() {
    let cases = [
        ("on_ack = ['r0 = x.total', 'end']", "neither at ports nor at units"),
        ("on_ack = ['r0 = x.by_mark', 'end']", "only on_loss has a cause"),
        ("on_loss = ['r0 = x.acked', 'end']", "belongs to an acknowledgement"),
        ("on_ack = ['r0 = draw', 'end']", "a congestion control has no random numbers"),
        ("on_loss = ['r0 = 1', 'state.threshold = r0', 'end']", "on_loss assigns window"),
        ("on_ack = ['accept']", "must end every path with end"),
        ("on_ack = ['r0 = 1.5', 'state.window = r0', 'end']", "window must be int, not float"),
        ("on_ack = ['r0 = state.cwnd', 'end']", "unknown state"),
        ("on_ack = ['r0 = longest', 'end']", "can look for one"),
        ("on_ack = ['r0 = vc.n', 'end']", "unknown state of circuits"),
        ("on_ack = ['jump 0', 'end']", "a jump must lead forward"),
        ("state = { window = 1 }", "must not declare window, which every control has"),
        ("params = { a = '10 %' }, on_ack = ['r0 = params.a', 'end']", "must have occupancies in octets"),
        ("params = { a = 1 }", "unknown parameter"),
        ("trace = ['cwnd']", "must name state"),
        ("limits = { a = { low = 1 } }", "unknown parameter"),
    ];
    for (table, part) in cases {
        let why = chosen(table).unwrap_err();
        assert!(why.contains(part) && why.starts_with("congestion"), "{table}: {why}");
    }
}

#[test]
fn traced_state_is_shown_over_time() {
    let (mut control, mut window) = started(
        "trace = ['pacing', 'n'], state = { n = 3 }, on_ack = ['r0 = 5', 'state.pacing = r0', 'end']",
    );
    control.on_ack(&mut window, Ack::of(MSS, facts(1, 9)));
    let shown = [("pacing", 5.0), ("n", 3.0)].map(|(name, value)| Figure::of_all(name, value));
    assert_eq!(Congestion::state(&control), shown);
}
