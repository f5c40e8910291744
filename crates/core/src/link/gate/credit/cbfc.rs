//! # Source
//! Credit-based flow control of Ultra Ethernet 1.0, section 5.2, as described by the Switch Abstraction Interface: Open
//! Compute Project, SAI, `doc/CBFC/SAI-Credit_Based_Flow_Control.md` (2026). It is the heir of `n23`, with credits
//! for classes of packets in the place of credits for circuits of cells.
//!
//! # Idea
//! Every class of traffic is a virtual channel with a buffer of its own behind the line, which is counted in credits of
//! `CreditSize` octets. A packet takes whole credits:
//!
//! > credits = ⌈(size + overhead) / CreditSize⌉
//!
//! The sender counts the credits that it has consumed (CC), the receiver those that it has freed (CF) because packets have left the
//! node, sent or lost. A packet of a channel is sent if and only if
//!
//! > CC − CF + credits ≤ limit
//!
//! The receiver reports CF in messages of 8 octets (CF_Update), which pass the packets that wait on the line in the other
//! direction, at least `update` octets of that line apart. One message is for one channel; channels with news take turns. Both
//! counters have 20 bits and start again from zero; only their difference counts. As the message says what has been freed since the
//! start, the next one mends the loss of one. Nothing is lost for want of room, and nothing has to be kept free beyond what the
//! channels may use, as the headroom of pauses has to be. But a channel is as fast as its limit allows:
//!
//! > rate ≤ limit · CreditSize / (time from the start of a packet to the message that returns its credits)
//!
//! # Parameters
//! `credit_size` CreditSize, best the cell of the memory behind the line: a packet of one octet more than a credit takes two of
//! them, and one of 64 octets a whole one. `overhead` octets that the receiver stores with each packet. `room` the limit of each
//! channel, in octets: whole credits of it count. By default as many credits as keep the line busy with the largest packets of
//! the line,
//!
//! > limit = credits of a packet · ⌈T · rate / packet⌉
//!
//! where T is the delay both ways with the latencies of both nodes, the transmission of a packet on this line and by the next port,
//! and for every channel `update` and the largest packet of the other direction, and the message. `update`: see above.
//!
//! # Differences from the paper
//! In Ultra Ethernet a port may also have one limit for several channels, and pools of credits. Here each channel has a limit.
//! A receiver also repeats its message when nothing has changed, and the sender sends its own count (CC_Update), which returns
//! the credits of packets that were damaged on the line. Here a line with credits damages and loses nothing, so that neither frame
//! would change anything; they are not sent. A message waits for the packet in transmission; on a real line it may wait less.
//!
//! # Complexity
//! Constant per packet; six counters per class and hop. A message looks for the next class with news.

use super::{CreditReport, HopContext, Terms};
use crate::buffer::size::{CellSize, Measure};
use crate::link::control::MESSAGE_OCTETS;
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::{Bytes, PS_PER_S};

/// The mask of a counter of credits (20 bits), which is also the largest limit of a channel.
pub const COUNTER: u64 = (1 << 20) - 1;

/// Greatest number of virtual channels of a line.
const MOST_CHANNELS: u64 = 32;

/// Greatest number of octets that a receiver stores with a packet.
const MOST_OVERHEAD: u64 = 127;

/// Greatest distance between two messages, in octets of their line.
const MOST_UPDATE: u64 = 1 << 20;

section! {
    /// Credits for a buffer of each class behind a line of packets (CBFC).
    pub struct Params {
        /// Octets that a credit stands for, best the cell of the memory behind the line; a packet takes whole credits.
        pub credit_size: Bytes = Bytes(128),
        /// Octets that the receiver stores with each packet in addition.
        pub overhead: Bytes = Bytes(0),
        /// What each class may have behind the line, in whole credits; by default as much as keeps the line busy with the
        /// largest packets.
        pub room: Option<Bytes> = None,
        /// Least distance of two messages of the receiver, in octets of the line that carries them.
        pub update: Bytes = Bytes(6400),
    }
}

impl Params {
    /// Return the parameters with `room`, which is computed for the hop unless the scenario gives it.
    pub(super) fn settled(&self, way: &HopContext) -> Result<Params, Refused> {
        self.check()?;
        let channels = format!("must be left out: at most {MOST_CHANNELS} classes of a line have credits");
        refuse_if(way.classes > MOST_CHANNELS, "policy", channels)?;
        let size = self.credit_size.0;
        let packet = self.size().cells(way.largest[0]);
        let Some(Bytes(room)) = self.room else {
            let sized = self.sized(way);
            let most = format!(
                "must be larger, or room be given: the line needs {sized} credits, and a class has at most {COUNTER}"
            );
            refuse_if(sized > COUNTER, "credit_size", most)?;
            return Ok(Params { room: Some(Bytes(sized * size)), ..self.clone() });
        };
        let least = format!("must be at least {} bytes, which the largest packet takes", packet * size);
        refuse_if(room / size < packet.max(1), "room", least)?;
        let most = format!("must be at most {COUNTER} credits, which are {} bytes", COUNTER * size);
        refuse_if(room / size > COUNTER, "room", most)?;
        Ok(self.clone())
    }

    /// Refuse sizes outside the ranges of the scheme.
    fn check(&self) -> Result<(), Refused> {
        let (size, most) = (self.credit_size.0, u64::from(u16::MAX));
        refuse_if(!(1..=most).contains(&size), "credit_size", format!("must be from 1 to {most} bytes"))?;
        let overhead = format!("must be at most {MOST_OVERHEAD} bytes");
        refuse_if(self.overhead.0 > MOST_OVERHEAD, "overhead", overhead)?;
        let update =
            format!("must be from {MESSAGE_OCTETS} bytes, the length of a message, to {MOST_UPDATE} bytes");
        let updates = u64::from(MESSAGE_OCTETS)..=MOST_UPDATE;
        refuse_if(!updates.contains(&self.update.0), "update", update)
    }

    /// Return what the scheme guarantees to each account, computed from its fixed parameters.
    pub(super) fn terms(&self) -> Terms {
        let room = self.room.expect("the parameters of a checked scenario are settled");
        Terms {
            room: room.0 / self.credit_size.0,
            measure: Measure::MemoryCells(self.size()),
            report: CreditReport::Messages { spacing: self.update.0 },
        }
    }

    /// Return the size of a credit and the overhead of a packet, from which the credits of a packet follow.
    fn size(&self) -> CellSize {
        let octets = |bytes: Bytes| u16::try_from(bytes.0).expect("a checked size");
        CellSize { octets: octets(self.credit_size), header: octets(self.overhead) }
    }

    /// Return the credits that keep the line busy with its largest packets.
    fn sized(&self, way: &HopContext) -> u64 {
        let [packet, other] = way.largest.map(|octets| octets.max(1));
        let on_line =
            |octets: u64, rate: u64| u128::from(octets) * 8 * u128::from(PS_PER_S) / u128::from(rate);
        let updates = way.classes * (self.update.0 + other) + u64::from(MESSAGE_OCTETS);
        let time =
            u128::from(way.delay.0) + on_line(updates, way.back.0) + on_line(2 * packet, way.rate.0) + 4;
        let bits = time * u128::from(way.rate.0);
        let packets = bits.div_ceil(u128::from(packet) * 8 * u128::from(PS_PER_S));
        let credits = packets.saturating_mul(self.size().cells(packet).into());
        u64::try_from(credits).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CreditAccount, CreditReceiver, CreditSender};
    use super::*;
    use crate::link::control::Credit;
    use crate::link::gate::Gate;
    use crate::unit::{Flags, Unit};
    use crate::units::ids::{CircuitId, PortVc};
    use crate::units::{Rate, Span, Time};

    fn params(credit_size: u64, room: Option<u64>) -> Params {
        Params {
            credit_size: Bytes(credit_size),
            overhead: Bytes(0),
            room: room.map(Bytes),
            update: Bytes(6400),
        }
    }

    fn way(largest: u64) -> HopContext {
        let rate = Rate(100_000_000_000);
        HopContext { rate, back: rate, delay: Span::micros(2), largest: [largest; 2], classes: 1 }
    }

    fn packet(bytes: u16) -> Unit {
        Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes, hop: 0, flags: Flags(0) }
    }

    /// Both ends of a hop whose accounts have this many credits, of 254 octets each.
    fn ends(credits: u64, accounts: &[u32]) -> (CreditSender, CreditReceiver) {
        let terms = params(254, Some(credits * 254)).settled(&way(254)).unwrap().terms();
        (
            CreditSender::new(terms, accounts.to_vec().into()),
            CreditReceiver::new(terms, accounts.to_vec().into()),
        )
    }

    #[test]
    fn a_packet_takes_whole_credits_as_the_published_values_say() {
        let credits = |overhead, octets| {
            let params = Params { overhead: Bytes(overhead), ..params(254, Some(100_000)) };
            params.terms().measure.size_of(&packet(octets))
        };
        assert_eq!([64, 254, 255].map(|octets| credits(0, octets)), [1, 1, 2]);
        assert_eq!([234, 235].map(|octets| credits(20, octets)), [1, 2], "what the receiver adds counts");
    }

    #[test]
    fn a_counter_of_twenty_bits_starts_again_from_zero_and_nothing_is_lost_by_it() {
        let (mut sender, mut receiver) = ends(6, &[0]);
        let mut count = 0;
        for _ in 0..(1_048_570 + 6) {
            sender.starts(Time::ZERO, &packet(64), PortVc(0));
            receiver.arrived(PortVc(0), &packet(64));
            assert_eq!(receiver.left(PortVc(0), &packet(64)), None, "a message waits until it is called for");
            let credit = receiver.message(Time::ZERO, Span::ZERO);
            sender.credited(credit);
            count = credit.forwarded;
        }
        assert_eq!((count, sender.balance(PortVc(0))), (0, 6));
        assert_eq!(sender.account(PortVc(0)), CreditAccount { sent: 1 << 20, forwarded: 1 << 20 });
    }

    #[test]
    fn a_packet_is_sent_if_and_only_if_all_its_credits_are_there() {
        let (mut sender, _) = ends(5, &[0]);
        sender.starts(Time::ZERO, &packet(700), PortVc(0)); // three credits
        assert_eq!(sender.balance(PortVc(0)), 2);
        assert_eq!([508, 509].map(|octets| sender.lets(&packet(octets), PortVc(0))), [true, false]);
    }

    #[test]
    fn circuits_of_a_class_share_its_credits_and_classes_do_not() {
        let (mut sender, _) = ends(2, &[0, 1, 0]);
        sender.starts(Time::ZERO, &packet(64), PortVc(0));
        sender.starts(Time::ZERO, &packet(64), PortVc(2));
        assert_eq!([0, 1, 2].map(|vc| sender.balance(PortVc(vc))), [0, 2, 0]);
    }

    #[test]
    fn a_message_counts_from_the_start_so_that_the_next_one_mends_its_loss() {
        let (mut sender, mut receiver) = ends(4, &[0]);
        let mut messages = Vec::new();
        for _ in 0..3 {
            sender.starts(Time::ZERO, &packet(64), PortVc(0));
            receiver.arrived(PortVc(0), &packet(64));
            receiver.left(PortVc(0), &packet(64));
            messages.push(receiver.message(Time::ZERO, Span::ZERO));
        }
        assert_eq!(messages.last(), Some(&Credit { account: 0, forwarded: 3 }));
        sender.credited(messages[2]);
        assert_eq!(sender.balance(PortVc(0)), 4);
    }

    #[test]
    fn messages_are_apart_and_report_one_class_after_another() {
        let (mut sender, mut receiver) = ends(8, &[0, 1, 2]);
        assert_eq!(receiver.call(Time(5)), None, "nothing to tell");
        for vc in [2, 0, 2] {
            sender.starts(Time::ZERO, &packet(64), PortVc(vc));
            receiver.arrived(PortVc(vc), &packet(64));
            receiver.left(PortVc(vc), &packet(64));
        }
        assert_eq!(receiver.call(Time(10)), Some(Time(10)));
        assert_eq!(receiver.call(Time(11)), None, "it is called for already");
        assert_eq!(receiver.message(Time(15), Span(100)), Credit { account: 0, forwarded: 1 });
        assert_eq!(receiver.call(Time(20)), Some(Time(115)));
        assert_eq!(receiver.message(Time(115), Span(100)), Credit { account: 2, forwarded: 2 });
        assert_eq!(receiver.call(Time(300)), None);
    }

    #[test]
    fn the_default_room_covers_the_way_there_and_back() {
        // 100 Gb/s: 2 us are 25 000 octets; a message may have to wait for 6400 + 1500 and takes 8; two packets of 1500:
        // 35 908 octets, so 24 packets of 12 credits
        let terms = params(128, None).settled(&way(1500)).unwrap().terms();
        assert_eq!(terms.room, 24 * 12);
        let four = HopContext { classes: 4, ..way(1500) };
        let terms = params(128, None).settled(&four).unwrap().terms();
        assert_eq!(terms.room, 40 * 12, "three more waits of 7900 octets: 59 608");
    }

    #[test]
    fn parameters_that_cannot_work_are_refused_by_name() {
        let refused = |params: Params| params.settled(&way(1500)).unwrap_err().key;
        assert_eq!(refused(params(0, None)), Some("credit_size"));
        assert_eq!(refused(params(65_536, None)), Some("credit_size"));
        assert_eq!(refused(params(254, Some(0))), Some("room"), "no credit would ever come back");
        assert_eq!(refused(params(254, Some(6 * 254 - 1))), Some("room"), "a packet of 1500 takes six");
        assert!(params(254, Some(6 * 254)).settled(&way(1500)).is_ok());
        assert_eq!(refused(params(1, Some(1 << 20))), Some("room"));
        assert!(params(1, Some(COUNTER)).settled(&way(1500)).is_ok());
        assert_eq!(refused(Params { overhead: Bytes(128), ..params(254, None) }), Some("overhead"));
        for update in [7, MOST_UPDATE + 1] {
            assert_eq!(refused(Params { update: Bytes(update), ..params(254, None) }), Some("update"));
        }
        let far = HopContext { delay: Span::secs(1), ..way(1500) };
        assert_eq!(params(1, None).settled(&far).unwrap_err().key, Some("credit_size"));
        let many = HopContext { classes: 33, ..way(1500) };
        assert_eq!(params(254, None).settled(&many).unwrap_err().key, Some("policy"));
    }
}
