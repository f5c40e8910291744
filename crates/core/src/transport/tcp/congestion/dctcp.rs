//! # Source
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", ACM SIGCOMM 2010, section 3; S. Bensley, D. Thaler, P. Balasubramanian, L.
//! Eggert and G. Judd, RFC 8257, 2017, section 3; the integers of Linux, `net/ipv4/tcp_dctcp.c`.
//!
//! # Idea
//! Ports mark packets that meet a queue above a threshold, and the receiver echoes exactly which octets were marked.
//! Once per window the sender averages the marked share F of the acknowledged octets, and a mark reduces the window
//! by half of that average:
//!
//! > α ← (1 − g) · α + g · F,   cwnd ← cwnd · (1 − α / 2)
//!
//! So a window in which every packet is marked is halved, and one with occasional marks hardly falls.
//!
//! # Parameters
//! g = 1/16 (both papers); α begins at 1 (RFC 8257 section 4.2). `ecn` must be on. Losses are repaired as by `new-reno`, whose
//! keys count here as well, or by `recovery`.
//!
//! # Differences from the paper
//! α is kept in units of 1/1024 and moved by shifts, as in Linux: without marks an α below 16 falls to 0. It counts octets, as
//! RFC 8257 and older kernels. The receiver acknowledges at once when CE changes, and first what it had delayed (Linux).
//!
//! # Complexity
//! O(1) for each ACK; three numbers for each connection beside the state of NewReno.

use super::new_reno::NewReno;
use super::{Ack, Congestion, CongestionWindow, Facts, Reaction, Timeout};
use crate::metrics::state::Figure;
use crate::transport::tcp::Params;

/// A DCTCP sender. Its state is separate, so that Reno senders need no room for it.
#[derive(Clone, Debug)]
pub struct Control(Box<DctcpState>);

#[derive(Clone, Debug)]
struct DctcpState {
    losses: NewReno,
    /// α: the average marked share of the last windows, in units of 1/1024.
    alpha: u64,
    /// Octets acknowledged in this window.
    acked: u64,
    /// Octets acknowledged in this window whose ACK echoed a mark.
    marked: u64,
    /// The octet after which the next window begins.
    window_end: u64,
}

/// An α of 1.
const ONE: u64 = 1024;
/// g = 1 / 2⁴.
const SHIFT: u32 = 4;

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        let losses = NewReno::new(params);
        Control(Box::new(DctcpState { losses, alpha: ONE, acked: 0, marked: 0, window_end: 0 }))
    }
}

impl DctcpState {
    /// Count acknowledged octets, whose ACK has an echo or not; update the average at the end of a window.
    fn count(&mut self, ack: Ack) {
        let Ack { acked, echo, facts, .. } = ack;
        self.acked += acked;
        self.marked += if echo { acked } else { 0 };
        if facts.unacknowledged > self.window_end {
            self.alpha = averaged(self.alpha, self.marked, self.acked);
            (self.acked, self.marked, self.window_end) = (0, 0, facts.sent);
        }
    }
}

/// Return α after a window in which `marked` of `acked` octets were marked.
fn averaged(alpha: u64, marked: u64, acked: u64) -> u64 {
    let decay = alpha >> SHIFT;
    let kept = alpha - if decay == 0 { alpha } else { decay };
    let added = if marked == 0 { 0 } else { (marked << (10 - SHIFT)) / acked.max(1) };
    (kept + added).min(ONE)
}

/// Return the window after its reduction for a mark.
fn reduced(cwnd: u64, alpha: u64) -> u64 {
    cwnd - ((u128::from(cwnd) * u128::from(alpha)) >> 11) as u64
}

impl Congestion for Control {
    #[inline(never)]
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: Ack) -> Reaction {
        let Control(state) = self;
        if !ack.echo {
            state.count(ack); // else `on_echo` has counted it
        }
        state.losses.on_ack(window, ack).unwrap_or_else(|| {
            window.grow(ack.acked);
            Reaction::Continue
        })
    }

    fn on_echo(&mut self, _: &mut CongestionWindow, ack: Ack) {
        self.0.count(ack);
    }

    fn on_delivery(&mut self, _: &mut CongestionWindow, ack: Ack) {
        if ack.acked > 0 && !ack.echo {
            self.0.count(ack);
        }
    }

    fn on_mark(&mut self, window: &mut CongestionWindow, _: Facts) {
        window.reduce_to(reduced(window.cwnd, self.0.alpha));
        window.cwnd = window.cwnd.min(window.ssthresh);
    }

    fn state(&self) -> Vec<Figure> {
        vec![Figure::of_all("alpha", self.0.alpha as f64 / ONE as f64)]
    }

    fn on_duplicate(&mut self, window: &mut CongestionWindow, count: u32, facts: Facts) -> Reaction {
        self.0.losses.on_duplicate(window, count, facts, |window| window.halve(facts.send_window))
    }

    fn on_timeout(&mut self, window: &mut CongestionWindow, facts: Facts, timeout: Timeout) {
        self.0.losses.on_timeout(facts);
        window.collapse(facts.send_window, timeout);
    }

    fn is_recovering(&self) -> bool {
        self.0.losses.is_recovering()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::tests::defaults;
    use crate::vectors::vector;

    const MSS: u64 = 1460;

    #[test]
    fn alpha_follows_the_integers_of_linux() {
        for case in vector("dctcp")["alpha"].as_array().unwrap() {
            let number = |key: &str| case[key].as_u64().unwrap();
            let (marked, acked) = (number("marked"), number("acked"));
            let expected: Vec<u64> =
                case["sequence"].as_array().unwrap().iter().map(|alpha| alpha.as_u64().unwrap()).collect();
            let mut alpha = expected[0];
            for &next in &expected[1..] {
                alpha = averaged(alpha, marked, acked);
                assert_eq!(alpha, next, "{case}");
            }
        }
    }

    #[test]
    fn a_mark_takes_half_of_alpha_from_the_window() {
        for case in vector("dctcp")["reduction"].as_array().unwrap() {
            let number = |key: &str| case[key].as_u64().unwrap();
            assert_eq!(reduced(number("cwnd") * MSS, number("alpha")), number("after") * MSS, "{case}");
        }
    }

    #[test]
    fn the_average_moves_once_a_window_and_a_mark_uses_it() {
        let params = defaults();
        let (mut dctcp, mut window) = (Control::new(&params), CongestionWindow::new(&params));
        window.cwnd = 100 * MSS;
        let facts =
            |acked: u64| Facts { unacknowledged: acked * MSS, sent: (acked + 100) * MSS, ..Facts::plain() };
        dctcp.on_ack(&mut window, Ack::of(MSS, facts(1)));
        assert_eq!(dctcp.0.alpha, 960, "the first window without a mark");
        for acked in 2..=50 {
            dctcp.on_ack(&mut window, Ack::of(MSS, facts(acked)));
        }
        for acked in 51..=101 {
            dctcp.on_echo(&mut window, Ack { echo: true, ..Ack::of(MSS, facts(acked)) });
        }
        assert_eq!(dctcp.0.alpha, 960, "the window is not over");
        dctcp.on_echo(&mut window, Ack { echo: true, ..Ack::of(MSS, facts(102)) });
        assert_eq!(dctcp.0.alpha, 900 + (52 << 6) / 101);
        window.cwnd = 100 * MSS;
        dctcp.on_mark(&mut window, facts(102));
        assert_eq!(window.cwnd, reduced(100 * MSS, dctcp.0.alpha));
        assert_eq!(window.ssthresh, window.cwnd);
    }

    #[test]
    fn a_window_of_two_segments_is_the_least() {
        let params = defaults();
        let (mut dctcp, mut window) = (Control::new(&params), CongestionWindow::new(&params));
        window.cwnd = 2 * MSS;
        dctcp.on_mark(&mut window, Facts::plain());
        assert_eq!((window.cwnd, window.ssthresh), (2 * MSS, 2 * MSS));
    }

    #[test]
    fn a_loss_halves_the_window_as_for_reno() {
        let params = defaults();
        let (mut dctcp, mut window) = (Control::new(&params), CongestionWindow::new(&params));
        (window.cwnd, dctcp.0.alpha) = (10 * MSS, 0);
        let third = dctcp.on_duplicate(&mut window, 3, Facts { sent: 10 * MSS, ..Facts::plain() });
        assert_eq!(third, Reaction::Retransmit { restart_timer: true });
        assert_eq!((window.ssthresh, window.cwnd), (5 * MSS, 5 * MSS));
    }
}
