//! An application that sends one file after the other, and the duration of each: the flow completion time.

use crate::source::file::Params;
use crate::transport::tcp::{SegmentOutlet, Sender};
use crate::units::{Span, Time};

/// The application of a flow.
#[derive(Clone, Debug)]
pub(super) struct Files {
    params: Params,
    /// Time at which the next file is requested, while none is in transfer.
    next: Option<Time>,
    /// Time at which the file in transfer was requested.
    began: Option<Time>,
    /// Time at which the first file was requested.
    first: Time,
    /// Duration of each file whose last octet has been acknowledged.
    times: Vec<Span>,
}

/// A file to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueuedFile {
    /// Size in octets.
    size: u64,
    /// Whether the file gets a new connection.
    pub(super) reconnect: bool,
}

impl QueuedFile {
    /// Write the file to the transport, and end the connection after a file that has its own.
    pub(super) fn write(self, sender: &mut Sender, now: Time, out: &mut impl SegmentOutlet) {
        match self.reconnect {
            true => sender.write_last(now, self.size, out),
            false => sender.write(now, self.size, out),
        }
    }
}

impl Files {
    /// Build an application before its first file.
    pub(super) fn new(params: &Params) -> Files {
        Files { params: params.clone(), next: None, began: None, first: Time::ZERO, times: Vec::new() }
    }

    /// Return the next instant at which the engine must call the application.
    #[inline]
    pub(super) fn next_timer(&self) -> Option<Time> {
        self.next
    }

    /// Return whether the next file has been requested and waits for its transfer.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.next.is_some_and(|next| next <= now)
    }

    /// Start the transfer of the next file.
    pub(super) fn begin(&mut self, now: Time) -> QueuedFile {
        if self.times.is_empty() {
            self.first = now;
        }
        self.began = self.next.take().or(Some(now));
        QueuedFile { size: self.params.size.0, reconnect: self.params.reconnect }
    }

    /// End the transfer of a file whose last octet is acknowledged; returns whether the next file starts immediately.
    pub(super) fn end(&mut self, now: Time) -> bool {
        let began = self.began.take().expect("a file that ends has begun");
        self.times.push(now.since(began));
        self.next = match (&self.params.at, self.params.every) {
            (Some(at), _) => at.get(self.times.len()).map(|next| self.first + (*next - at[0])),
            (None, Some(every)) => Some(began + every),
            (None, None) => Some(now + self.params.off),
        };
        self.is_due(now)
    }

    /// Stop: no other file starts.
    pub(super) fn stop(&mut self) {
        self.next = None;
    }

    /// Return the duration of each file, in the order in which the files ended.
    pub(super) fn times(&self) -> &[Span] {
        &self.times
    }

    /// Return when the file in transfer was requested, if there is one.
    pub(super) fn under_way(&self) -> Option<Time> {
        self.began
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn at(s: u64) -> Time {
        Time::ZERO + Span::secs(s)
    }

    fn files(off: Span) -> Files {
        Files::new(&Params { size: Bytes(1000), off, every: None, at: None, reconnect: true })
    }

    #[test]
    fn a_file_takes_from_its_start_until_its_last_octet_is_acknowledged() {
        let mut files = files(Span::secs(2));
        assert_eq!(files.under_way(), None);
        assert_eq!(files.begin(at(1)), QueuedFile { size: 1000, reconnect: true });
        assert_eq!(files.under_way(), Some(at(1)));
        assert!(!files.end(at(4)));
        assert_eq!((files.times(), files.next_timer()), (&[Span::secs(3)][..], Some(at(6))));
    }

    #[test]
    fn the_rest_between_two_files_counts_for_neither() {
        let mut files = files(Span::secs(2));
        files.begin(at(1));
        files.end(at(4));
        assert!(files.under_way().is_none() && !files.is_due(at(5)) && files.is_due(at(6)));
        files.begin(at(6));
        files.end(at(7));
        assert_eq!(files.times(), [Span::secs(3), Span::secs(1)]);
    }

    #[test]
    fn without_a_rest_the_next_file_starts_at_once() {
        let mut files = files(Span::ZERO);
        files.begin(at(1));
        assert!(files.end(at(4)));
        files.begin(at(4));
        assert_eq!(files.next_timer(), None);
    }

    #[test]
    fn with_an_interval_a_late_file_delays_the_next_and_the_wait_counts() {
        let every = Some(Span::secs(5));
        let mut files =
            Files::new(&Params { size: Bytes(1000), off: Span::ZERO, every, at: None, reconnect: true });
        files.begin(at(1)); // wanted at 1, 6, 11 and 16
        assert!(!files.end(at(3)) && !files.is_due(at(5)) && files.is_due(at(6)));
        files.begin(at(6));
        assert!(files.end(at(13)), "the one of 11 is late");
        files.begin(at(13));
        assert!(!files.end(at(15)));
        assert_eq!(files.next_timer(), Some(at(16)));
        assert_eq!(files.times(), [Span::secs(2), Span::secs(7), Span::secs(4)]);
    }

    #[test]
    fn a_list_of_instants_ends_and_a_file_that_is_wanted_too_early_waits() {
        let instants = Some([3, 5, 6, 20].map(Span::secs).to_vec());
        let mut files = Files::new(&Params { at: instants, ..files(Span::ZERO).params });
        files.begin(at(13)); // the flow starts at 10: wanted at 13, 15, 16 and 30
        assert!(!files.end(at(14)));
        assert_eq!(files.next_timer(), Some(at(15)));
        files.begin(at(15));
        assert!(files.end(at(18)), "the one of 16 is late");
        files.begin(at(18));
        assert!(!files.end(at(19)));
        assert_eq!(files.next_timer(), Some(at(30)));
        files.begin(at(30));
        assert!(!files.end(at(31)));
        assert_eq!(files.next_timer(), None);
        assert_eq!(files.times(), [1, 3, 3, 1].map(Span::secs));
    }
}
