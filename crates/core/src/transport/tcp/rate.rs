//! Samples of the delivery rate, and round trips counted by deliveries: kept only for a congestion control that asks.
//!
//! *Source*: Y. Cheng, N. Cardwell, S. Hassas Yeganeh and V. Jacobson, "Delivery Rate Estimation",
//! draft-cheng-iccrg-delivery-rate-estimation-02, 2022, as the draft on BBR has it (N. Cardwell and others,
//! draft-ietf-ccwg-bbr, section "Delivery Rate Samples"). Each segment bears what had been delivered when it was sent; when it is
//! acknowledged, the octets delivered meanwhile are divided by the longer of the times in which they were sent and acknowledged, so
//! that neither a burst of segments nor a burst of ACKs seems faster than the path.

use std::collections::VecDeque;

use super::feedback::{Feedback, MarkCounter};
use super::scoreboard::Delivered;
use crate::units::{PS_PER_S, Rate, Span, Time};

/// What a control gets with an ACK if it asks for samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// The present instant.
    pub now: Time,
    /// Octets delivered on this connection until now.
    pub delivered: u64,
    /// Those of them that had been delivered when the newest segment that this ACK reports was sent.
    pub prior_delivered: u64,
    /// The delivery rate; `None` if it was sampled in less time than the shortest round trip, or if the ACK reports no segment.
    pub rate: Option<Rate>,
    /// The application limited the flow when that segment was sent.
    pub is_app_limited: bool,
    /// The round trip that the ACK measures, if it measures one.
    pub rtt: Option<Span>,
    /// Octets in flight just after that segment was sent.
    pub sent_in_flight: u64,
    /// Octets in flight now.
    pub in_flight: u64,
    /// Octets delivered by this ACK, and octets that became lost with it.
    pub newly_delivered: u64,
    /// See `newly_delivered`.
    pub newly_lost: u64,
    /// Marked packets that the ACK reports, if ACKs report their number.
    pub newly_marked: u64,
    /// Octets that became lost since that segment was sent.
    pub lost: u64,
    /// The window was full at some time in the last round trip.
    pub is_window_limited: bool,
    /// A round trip begins with this ACK: that segment was sent after the last one began.
    pub starts_round: bool,
    /// Round trips since the connection opened.
    pub rounds: u64,
}

impl RateSample {
    /// Return the delivery rate in bits per second; 0 without one.
    pub(super) fn bits(&self) -> u64 {
        self.rate.map_or(0, |rate| rate.0)
    }

    /// Return the octets delivered since the newest segment that this ACK reports was sent; 0 if it reports none.
    pub(super) fn volume(&self) -> u64 {
        self.delivered - self.prior_delivered
    }
}

/// A sample of an ACK at the start that reports nothing.
#[cfg(test)]
pub(super) fn nothing() -> RateSample {
    DeliveryRate::new(Time::ZERO, Feedback::Rfc3168).on_ack(
        Time::ZERO,
        (0, &Delivered::default()),
        (0, 0),
        None,
    )
}

/// A segment that has been declared lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// The present instant.
    pub now: Time,
    /// Its first octet, and its octets.
    pub start: u64,
    /// See `start`.
    pub size: u64,
    /// Octets in flight just after it was sent.
    pub sent_in_flight: u64,
    /// Octets that became lost since it was sent, its own included.
    pub lost: u64,
    /// The application limited the flow when it was sent.
    pub is_app_limited: bool,
    /// Octets delivered on this connection until now.
    pub delivered: u64,
}

/// What a segment bears from its last sending.
#[derive(Clone, Copy, Debug)]
struct Sending {
    end: u64,
    at: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    is_app_limited: bool,
    in_flight: u64,
    lost: u64,
}

/// The sampler of a connection.
#[derive(Clone, Debug)]
pub(super) struct DeliveryRate {
    /// Segments that are not acknowledged, in their order.
    sendings: VecDeque<Sending>,
    delivered: u64,
    /// Time at which they had been delivered.
    delivered_at: Time,
    /// Time at which the first segment of the present interval was sent.
    first_sent_at: Time,
    /// The octets delivered with which a time ends in which the application limits the flow; 0 outside of one.
    app_limited: u64,
    /// Octets that have become lost.
    lost: u64,
    /// The octets delivered with which a round trip has passed since the window was full.
    full_until: u64,
    /// Octets delivered with which the next round begins.
    next_round: u64,
    rounds: u64,
    /// The shortest round trip; [`UNKNOWN`] before the first.
    shortest: Span,
    /// Marked packets.
    pub(super) marks: MarkCounter,
}

/// No round trip has been measured.
const UNKNOWN: Span = Span(u64::MAX);

impl DeliveryRate {
    /// A sampler of a connection that opens at `now`.
    pub(super) fn new(now: Time, feedback: Feedback) -> DeliveryRate {
        DeliveryRate {
            sendings: VecDeque::new(),
            delivered: 0,
            delivered_at: now,
            first_sent_at: now,
            app_limited: 0,
            lost: 0,
            full_until: 0,
            next_round: 0,
            rounds: 0,
            shortest: UNKNOWN,
            marks: MarkCounter::new(feedback),
        }
    }

    /// Record that the segment that ends at `end` is sent, for the first time or again; with it `in_flight` octets are in flight,
    /// `alone` if there were none before.
    pub(super) fn sent(&mut self, now: Time, end: u64, in_flight: u64, alone: bool) {
        if alone {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let sending = Sending {
            end,
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            is_app_limited: self.app_limited > 0,
            in_flight,
            lost: self.lost,
        };
        match self.place_of(end) {
            Some(place) => self.sendings[place] = sending,
            None => self.sendings.push_back(sending),
        }
    }

    /// Record that the application has nothing more to send although the window has room, with `in_flight` octets in flight.
    pub(super) fn ran_dry(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Return whether the application limits the flow.
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// Record that the window is full, with `in_flight` octets in flight.
    pub(super) fn was_full(&mut self, in_flight: u64) {
        self.full_until = self.delivered + in_flight;
    }

    /// Record that `size` octets up to `end`, which have been sent, are lost. `newly` octets more than known so far are delivered.
    pub(super) fn lose(&mut self, now: Time, end: u64, size: u64, newly: u64) -> Option<LostSegment> {
        self.lost += size;
        let sending = self.sendings[self.place_of(end)?];
        Some(LostSegment {
            now,
            start: end - size,
            size,
            sent_in_flight: sending.in_flight,
            lost: self.lost - sending.lost,
            is_app_limited: sending.is_app_limited,
            delivered: self.delivered + newly,
        })
    }

    /// Record an ACK up to `ack` with what it reports as delivered; returns the sample. `lost` octets became lost with it,
    /// `in_flight` are in flight now, and `rtt` is the round trip that the ACK measures. A rate sampled in less than the shortest
    /// of them is none.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        (ack, delivered): (u64, &Delivered),
        (lost, in_flight): (u64, u64),
        rtt: Option<Span>,
    ) -> RateSample {
        self.shortest = rtt.map_or(self.shortest, |rtt| self.shortest.min(rtt));
        if delivered.octets > 0 {
            (self.delivered, self.delivered_at) = (self.delivered + delivered.octets, now);
        }
        let newest =
            delivered.newest.and_then(|(_, end, _)| self.place_of(end)).map(|place| self.sendings[place]);
        let mut sample = RateSample {
            now,
            delivered: self.delivered,
            prior_delivered: newest.map_or(self.delivered, |sending| sending.delivered),
            rate: None,
            is_app_limited: newest.is_some_and(|sending| sending.is_app_limited),
            rtt,
            sent_in_flight: newest.map_or(0, |sending| sending.in_flight),
            in_flight,
            newly_delivered: delivered.octets,
            newly_lost: lost,
            newly_marked: 0,
            lost: newest.map_or(0, |sending| self.lost - sending.lost),
            is_window_limited: self.full_until > 0 && self.delivered <= self.full_until,
            starts_round: false,
            rounds: self.rounds,
        };
        if let Some(sending) = newest {
            let interval = sending.at.since(sending.first_sent_at).max(now.since(sending.delivered_at));
            self.first_sent_at = sending.at;
            let is_long_enough =
                interval > Span::ZERO && (interval >= self.shortest || self.shortest == UNKNOWN);
            let octets = self.delivered - sending.delivered;
            sample.rate = is_long_enough.then(|| rate(octets, interval));
            if sending.delivered >= self.next_round {
                (self.next_round, self.rounds) = (self.delivered, self.rounds + 1);
                (sample.starts_round, sample.rounds) = (true, self.rounds);
            }
        }
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        while self.sendings.front().is_some_and(|first| first.end <= ack) {
            self.sendings.pop_front();
        }
        sample
    }

    /// The place of the segment that ends at `end`.
    fn place_of(&self, end: u64) -> Option<usize> {
        self.sendings.binary_search_by_key(&end, |sending| sending.end).ok()
    }
}

/// Return the rate of `octets` in this time, rounded down to bits per second.
fn rate(octets: u64, interval: Span) -> Rate {
    Rate((u128::from(8 * octets) * u128::from(PS_PER_S) / u128::from(interval.0)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::millis(ms)
    }

    /// An ACK that delivers one segment that was sent once, at this time.
    fn one(sent: Time, end: u64) -> Delivered {
        Delivered::of(MSS, (sent, end, false))
    }

    /// The rate of `segments` in `ms` milliseconds.
    fn per(segments: u64, ms: u64) -> Option<Rate> {
        Some(rate(segments * MSS, Span::millis(ms)))
    }

    /// One segment every 2 ms with a round trip of 30 ms; an ACK comes before a sending of the same instant. Returns the
    /// samples, by the time at which the segment was sent.
    fn steady(until: u64) -> Vec<RateSample> {
        let (mut sampler, mut samples) = (DeliveryRate::new(at(0), Feedback::Rfc3168), Vec::new());
        for now in (0..=until).step_by(2) {
            let flying = |now: u64| MSS * (now / 2 + 1 - (now + 2).saturating_sub(30) / 2);
            if now >= 30 {
                let number = (now - 30) / 2 + 1;
                let delivered = one(at(now - 30), number * MSS);
                samples.push(sampler.on_ack(at(now), (number * MSS, &delivered), (0, flying(now)), None));
            }
            sampler.sent(at(now), (now / 2 + 1) * MSS, flying(now), now == 0);
        }
        samples
    }

    #[test]
    fn a_sample_is_what_was_delivered_between_sending_and_acknowledgement() {
        let samples = steady(100);
        let first = samples[0];
        assert_eq!((first.delivered, first.prior_delivered, first.rate), (MSS, 0, per(1, 30)));
        // the segment of 40 ms: 6 were delivered when it was sent, 21 when it is acknowledged
        let later = samples[20];
        assert_eq!((later.prior_delivered, later.delivered, later.rate), (6 * MSS, 21 * MSS, per(15, 30)));
        assert!(samples.iter().all(|sample| !sample.is_app_limited && sample.newly_delivered == MSS));
    }

    #[test]
    fn a_round_begins_with_the_first_segment_sent_after_the_last_one_began() {
        let starts: Vec<usize> =
            (0..).zip(steady(130)).filter(|(_, sample)| sample.starts_round).map(|(n, _)| n).collect();
        // the segment of 0 ms, acknowledged at 30; the first sent with 1 delivered is that of 30 ms, the 15th after it
        assert_eq!(starts, [0, 15, 30, 45]);
        assert_eq!(steady(130).last().map(|sample| sample.rounds), Some(4));
    }

    #[test]
    fn neither_a_burst_of_segments_nor_one_of_acknowledgements_seems_fast() {
        let mut sampler = DeliveryRate::new(at(0), Feedback::Rfc3168);
        (1..=10).for_each(|number| sampler.sent(at(0), number * MSS, number * MSS, number == 1));
        let all = Delivered::of(10 * MSS, (at(0), 10 * MSS, false));
        let sample = sampler.on_ack(at(20), (10 * MSS, &all), (0, 0), None);
        assert_eq!(
            (sample.rate, sample.sent_in_flight),
            (per(10, 20), 10 * MSS),
            "over the time until the ACK"
        );
        // sent over 90 ms, and acknowledged in a bunch at 130 ms
        (1..=10).for_each(|number| {
            sampler.sent(at(20 + 10 * number), (10 + number) * MSS, number * MSS, number == 1)
        });
        let bunch = Delivered::of(10 * MSS, (at(120), 20 * MSS, false));
        let sample = sampler.on_ack(at(130), (20 * MSS, &bunch), (0, 0), None);
        assert_eq!(sample.rate, per(10, 100), "over the time since the last delivery or start");
    }

    #[test]
    fn a_rate_in_less_than_the_shortest_round_trip_is_none() {
        let mut sampler = DeliveryRate::new(at(0), Feedback::Rfc3168);
        sampler.sent(at(0), MSS, MSS, true);
        let short = sampler.on_ack(at(20), (MSS, &one(at(0), MSS)), (0, 0), Some(Span::millis(21)));
        assert_eq!((short.rate, short.delivered), (None, MSS));
        let none = sampler.on_ack(at(21), (MSS, &Delivered::default()), (MSS, 0), None);
        assert_eq!((none.rate, none.newly_lost, none.starts_round), (None, MSS, false));
    }

    #[test]
    fn segments_sent_after_the_application_ran_dry_are_limited_until_those_in_flight_are_delivered() {
        let mut sampler = DeliveryRate::new(at(0), Feedback::Rfc3168);
        sampler.sent(at(0), MSS, MSS, true);
        sampler.ran_dry(MSS);
        sampler.sent(at(5), 2 * MSS, 2 * MSS, false);
        let limited = |sampler: &mut DeliveryRate, ms, sent, number| {
            sampler.on_ack(at(ms), (number * MSS, &one(at(sent), number * MSS)), (0, 0), None).is_app_limited
        };
        assert!(!limited(&mut sampler, 20, 0, 1), "sent before");
        sampler.sent(at(21), 3 * MSS, 2 * MSS, false);
        assert!(limited(&mut sampler, 25, 5, 2));
        sampler.sent(at(26), 4 * MSS, 2 * MSS, false);
        assert!(limited(&mut sampler, 41, 21, 3), "sent when 1 of 2 was delivered");
        assert!(!limited(&mut sampler, 46, 26, 4), "what was in flight when it ran dry has arrived");
    }

    #[test]
    fn a_segment_that_is_sent_again_bears_what_its_last_sending_knew() {
        let mut sampler = DeliveryRate::new(at(0), Feedback::Rfc3168);
        (1..=3).for_each(|number| sampler.sent(at(0), number * MSS, number * MSS, number == 1));
        let second = Delivered::of(MSS, (at(0), 2 * MSS, false));
        sampler.on_ack(at(10), (0, &second), (MSS, MSS), None);
        sampler.sent(at(10), MSS, 2 * MSS, false);
        let again = Delivered::of(MSS, (at(10), MSS, true));
        let sample = sampler.on_ack(at(20), (2 * MSS, &again), (0, MSS), None);
        assert_eq!((sample.prior_delivered, sample.delivered, sample.rate), (MSS, 2 * MSS, per(1, 10)));
        assert_eq!(sampler.sendings.len(), 1, "the third is outstanding");
    }

    #[test]
    fn a_lost_segment_bears_what_was_lost_since_it_was_sent() {
        let mut sampler = DeliveryRate::new(at(0), Feedback::Rfc3168);
        (1..=4).for_each(|number| sampler.sent(at(0), number * MSS, number * MSS, number == 1));
        let first = sampler.lose(at(10), MSS, MSS, MSS).unwrap();
        assert_eq!((first.start, first.lost, first.sent_in_flight, first.delivered), (0, MSS, MSS, MSS));
        sampler.on_ack(at(10), (0, &one(at(0), 4 * MSS)), (MSS, 2 * MSS), None);
        sampler.sent(at(10), 5 * MSS, 3 * MSS, false);
        let later = sampler.lose(at(12), 2 * MSS, MSS, 0).unwrap();
        assert_eq!((later.lost, later.sent_in_flight, later.delivered), (2 * MSS, 2 * MSS, MSS));
        let sample = sampler.on_ack(at(20), (0, &one(at(0), 3 * MSS)), (MSS, MSS), None);
        assert_eq!((sample.lost, sample.newly_lost, sample.sent_in_flight), (2 * MSS, MSS, 3 * MSS));
        let sample = sampler.on_ack(at(21), (0, &one(at(10), 5 * MSS)), (0, 0), None);
        assert_eq!((sample.lost, sample.newly_lost), (MSS, 0), "one of them before it was sent");
    }

    #[test]
    fn a_window_counts_as_full_until_what_was_in_flight_has_been_delivered() {
        let mut sampler = DeliveryRate::new(at(0), Feedback::Rfc3168);
        (1..=3).for_each(|number| sampler.sent(at(0), number * MSS, number * MSS, number == 1));
        let mut limited = |number: u64| {
            let delivered = one(at(0), number * MSS);
            let sample = sampler.on_ack(at(20 + number), (number * MSS, &delivered), (0, 0), None);
            if number == 1 {
                sampler.was_full(2 * MSS);
            }
            sampler.sent(at(20 + number), (3 + number) * MSS, 3 * MSS, false);
            sample.is_window_limited
        };
        assert_eq!([1, 2, 3, 4].map(&mut limited), [false, true, true, false]);
    }
}
