//! The values that a program can read about an acknowledgement or a loss.

use super::super::{Ack, Facts};
use crate::program::code::{Attribute, Word};
use crate::program::run::View;
use crate::units::Span;

/// An acknowledgement.
pub(super) struct AckView<'a> {
    pub(super) ack: &'a Ack,
    pub(super) opens: bool,
    pub(super) mss: u64,
}

/// A loss, a timeout or a mark.
pub(super) struct LossView<'a> {
    pub(super) facts: &'a Facts,
    pub(super) cause: Cause,
    pub(super) mss: u64,
}

/// The reason for which the window falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Duplicates or blocks have shown a loss.
    Loss,
    /// The retransmission timer has expired.
    Timeout,
    /// A mark is echoed.
    Mark,
}

impl View for AckView<'_> {
    #[inline(never)] // beside the loop of the interpreter, where its registers count more
    fn look(&self, attribute: Attribute) -> Word {
        let AckView { ack, opens, mss } = self;
        let rtt = || ack.facts.rtt.unwrap_or(Span::ZERO);
        match attribute {
            Attribute::Acked => Word::size(ack.acked),
            Attribute::Delivered => Word::size(ack.delivered),
            Attribute::Lost => Word::size(ack.lost),
            Attribute::Marked => Word::bool(ack.echo),
            Attribute::Opens => Word::bool(*opens),
            Attribute::Rtt => Word::float(rtt().as_secs_f64()),
            Attribute::RttPs => Word::size(rtt().0),
            of_connection => common(&ack.facts, *mss, of_connection),
        }
    }
}

impl View for LossView<'_> {
    fn look(&self, attribute: Attribute) -> Word {
        match attribute {
            Attribute::ByTimeout => Word::bool(self.cause == Cause::Timeout),
            Attribute::ByMark => Word::bool(self.cause == Cause::Mark),
            of_connection => common(self.facts, self.mss, of_connection),
        }
    }
}

/// Return an attribute that both functions can read.
fn common(facts: &Facts, mss: u64, attribute: Attribute) -> Word {
    match attribute {
        Attribute::Now => Word::float(facts.now.as_secs_f64()),
        Attribute::NowPs => Word::size(facts.now.0),
        Attribute::Mss => Word::size(mss),
        Attribute::Flight => Word::size(facts.sent - facts.unacknowledged),
        Attribute::Acknowledged => Word::size(facts.unacknowledged),
        Attribute::Sent => Word::size(facts.sent),
        Attribute::Advertised => Word::size(facts.send_window),
        _ => unreachable!("a checked program of a congestion control looks at nothing else"),
    }
}
