//! The application that fills a TCP connection: files, one transfer, pieces of data at instants of the application's
//! own clock, or endless data until it stops.

use super::files::Files;
use super::outcome::TransferSpan;
use crate::source::clock::Ticks;
use crate::source::length::PacketLengths;
use crate::transport::tcp::{SegmentOutlet, Sender};
use crate::units::{Span, Time};

/// The application of a TCP flow. A greedy flow that never stops has no application: its sender always has data.
#[derive(Clone, Debug)]
pub(super) struct Application {
    work: WrittenData,
    /// Time at which the application stops; `Time::NEVER` if it does not stop, or has stopped.
    stop: Time,
    has_stopped: bool,
}

/// Kind of data that an application writes.
#[derive(Clone, Debug)]
pub(super) enum WrittenData {
    /// Data without end.
    Greedy,
    /// One file after another.
    Files(Files),
    /// Pieces of data at instants of the application's own clock.
    Pieces(Ticks, PacketLengths),
    /// One transfer.
    Transfer(OneTransfer),
}

/// A transfer that is the only one of its connection.
#[derive(Clone, Debug)]
pub(super) struct OneTransfer {
    octets: u64,
    /// Time at which the transfer was requested; `None` before its start.
    began: Option<Time>,
    /// Duration of the transfer; `None` before its end.
    time: Option<Span>,
}

impl OneTransfer {
    pub(super) fn new(octets: u64) -> OneTransfer {
        OneTransfer { octets, began: None, time: None }
    }
}

impl Application {
    /// Build an application that stops at `stop`.
    pub(super) fn new(work: WrittenData, stop: Time) -> Application {
        Application { work, stop, has_stopped: false }
    }

    /// Return the next instant at which the engine must call the application.
    #[inline]
    pub(super) fn next_timer(&self) -> Option<Time> {
        let next = match &self.work {
            WrittenData::Greedy | WrittenData::Transfer(_) => Time::NEVER,
            WrittenData::Files(files) => files.next_timer().unwrap_or(Time::NEVER),
            WrittenData::Pieces(ticks, _) => ticks.next(),
        };
        Some(next.min(self.stop)).filter(|next| *next < Time::NEVER)
    }

    /// Start the flow: open its connection, unless the application was to stop before `now`.
    pub(super) fn start(&mut self, now: Time, sender: &mut Sender, out: &mut impl SegmentOutlet) {
        if self.stop <= now {
            return self.end(now, sender);
        }
        sender.open(now, out);
        match &mut self.work {
            WrittenData::Greedy => sender.write_forever(now, out),
            WrittenData::Files(files) => files.begin(now).write(sender, now, out),
            WrittenData::Transfer(one) => {
                one.began = Some(now);
                sender.write_last(now, one.octets, out);
            }
            WrittenData::Pieces(ticks, _) => {
                sender.heed_application();
                ticks.start(now);
            }
        }
    }

    /// Handle a timer of the flow. If the transport set it, the application does nothing.
    pub(super) fn on_timer(&mut self, now: Time, sender: &mut Sender, out: &mut impl SegmentOutlet) {
        if self.stop <= now {
            return self.end(now, sender);
        }
        match &mut self.work {
            WrittenData::Greedy | WrittenData::Transfer(_) => {}
            WrittenData::Files(files) if files.is_due(now) => next_file(files, now, sender, out),
            WrittenData::Files(_) => {}
            WrittenData::Pieces(ticks, lengths) => {
                while ticks.next() <= now {
                    ticks.step();
                    sender.write(now, lengths.draw(), out);
                }
            }
        }
    }

    /// Continue after all written octets have been acknowledged.
    pub(super) fn all_acked(&mut self, now: Time, sender: &mut Sender, out: &mut impl SegmentOutlet) {
        match &mut self.work {
            WrittenData::Transfer(one) => one.time = one.time.or(one.began.map(|began| now.since(began))),
            WrittenData::Files(files) => {
                if !self.has_stopped && files.end(now) {
                    next_file(files, now, sender, out);
                }
            }
            WrittenData::Greedy | WrittenData::Pieces(..) => {}
        }
    }

    /// Stop writing.
    fn end(&mut self, now: Time, sender: &mut Sender) {
        (self.stop, self.has_stopped) = (Time::NEVER, true);
        sender.end_of_data();
        match &mut self.work {
            WrittenData::Greedy | WrittenData::Transfer(_) => {}
            WrittenData::Files(files) => files.stop(),
            WrittenData::Pieces(ticks, _) => ticks.stop(now),
        }
    }

    /// Return the duration of each transfer that has ended, and the request of the one in progress; `None` if the
    /// application has no transfers.
    pub(super) fn transfers(&self) -> Option<(&[Span], Option<Time>)> {
        match &self.work {
            WrittenData::Files(files) => Some((files.times(), files.under_way())),
            WrittenData::Transfer(one) => {
                Some((one.time.as_slice(), one.began.filter(|_| one.time.is_none())))
            }
            _ => None,
        }
    }

    /// Return start and end of the application's only transfer, if it has started.
    pub(super) fn only_transfer(&self) -> Option<TransferSpan> {
        match self.work {
            WrittenData::Transfer(OneTransfer { began, time, .. }) => {
                Some(TransferSpan { began: began?, time })
            }
            _ => None,
        }
    }

    /// Return whether the application's only transfer has ended.
    pub(super) fn has_transferred(&self) -> bool {
        matches!(self.work, WrittenData::Transfer(OneTransfer { time: Some(_), .. }))
    }

    /// Return whether the application has data without end.
    pub(super) fn is_greedy(&self) -> bool {
        matches!(self.work, WrittenData::Greedy)
    }
}

fn next_file(files: &mut Files, now: Time, sender: &mut Sender, out: &mut impl SegmentOutlet) {
    let file = files.begin(now);
    sender.restart(now, file.reconnect, out);
    file.write(sender, now, out);
}
