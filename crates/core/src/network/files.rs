//! An application that sends one file after the other, and how long each takes: the flow completion time.

use crate::source::file::Params;
use crate::units::{Span, Time};

/// The application of a flow.
#[derive(Debug)]
pub(super) struct Files {
    params: Params,
    /// When the next one starts, while the application rests.
    next: Option<Time>,
    /// When the one under way started.
    began: Option<Time>,
    /// How long each took whose last octet has been acknowledged.
    times: Vec<Span>,
}

impl Files {
    /// Nothing has been sent.
    pub(super) fn new(params: &Params) -> Files {
        Files { params: params.clone(), next: None, began: None, times: Vec::new() }
    }

    /// When it wants to be called.
    #[inline]
    pub(super) fn next_timer(&self) -> Option<Time> {
        self.next
    }

    /// Whether it has rested long enough.
    pub(super) fn is_due(&mut self, now: Time) -> bool {
        self.next.take_if(|next| *next <= now).is_some()
    }

    /// A file starts: its octets, and whether a connection of its own carries it.
    pub(super) fn begin(&mut self, now: Time) -> (u64, bool) {
        self.began = Some(now);
        (self.params.size.0, self.params.reconnect)
    }

    /// The last octet is acknowledged; answers whether the next file starts at once.
    pub(super) fn end(&mut self, now: Time) -> bool {
        let began = self.began.take().expect("a file that ends has begun");
        self.times.push(now.since(began));
        self.next = (self.params.off > Span::ZERO).then(|| now + self.params.off);
        self.next.is_none()
    }

    /// How long each file took, in the order in which they ended.
    pub(super) fn times(&self) -> &[Span] {
        &self.times
    }

    /// Whether a file is under way.
    pub(super) fn is_sending(&self) -> bool {
        self.began.is_some()
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
        Files::new(&Params { size: Bytes(1000), off, reconnect: true })
    }

    #[test]
    fn a_file_takes_from_its_start_until_its_last_octet_is_acknowledged() {
        let mut files = files(Span::secs(2));
        assert!(!files.is_sending());
        assert_eq!(files.begin(at(1)), (1000, true));
        assert!(files.is_sending());
        assert!(!files.end(at(4)));
        assert_eq!((files.times(), files.next_timer()), (&[Span::secs(3)][..], Some(at(6))));
    }

    #[test]
    fn the_rest_between_two_files_counts_for_neither() {
        let mut files = files(Span::secs(2));
        files.begin(at(1));
        files.end(at(4));
        assert!(!files.is_sending() && !files.is_due(at(5)) && files.is_due(at(6)));
        files.begin(at(6));
        files.end(at(7));
        assert_eq!(files.times(), [Span::secs(3), Span::secs(1)]);
    }

    #[test]
    fn without_a_rest_the_next_file_starts_at_once() {
        let mut files = files(Span::ZERO);
        files.begin(at(1));
        assert!(files.end(at(4)));
        assert_eq!(files.next_timer(), None);
    }
}
