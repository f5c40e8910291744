//! Three-colour meters, octet by octet as RFC 2697, RFC 2698 and RFC 4115 count: a token at a time.

use pushout_core::buffer::size::{BufferSize, PortBuffer};
use pushout_core::link::gate::meter::{Action, Awareness, Kind, Meter, Params, Per};
use pushout_core::rng::Stream;
use pushout_core::unit::Colour;
use pushout_core::units::{Rate, Time};

/// A rate of an octet each picosecond.
const OCTET: u64 = 8_000_000_000_000;

/// Sequences that are compared.
const SEQUENCES: u64 = 10_000;

/// The counters of a meter, in octets.
struct Counters {
    kind: Kind,
    /// Tokens that come each picosecond for the two counters.
    rates: [u64; 2],
    most: [u64; 2],
    now: [u64; 2],
}

impl Counters {
    /// A picosecond passes.
    fn tick(&mut self) {
        for _ in 0..self.rates[0] {
            if self.now[0] < self.most[0] {
                self.now[0] += 1;
            } else if self.kind == Kind::Srtcm && self.now[1] < self.most[1] {
                self.now[1] += 1;
            }
        }
        for _ in 0..self.rates[1] {
            if self.now[1] < self.most[1] {
                self.now[1] += 1;
            }
        }
    }

    fn pays(&mut self, counter: usize, octets: u64) -> bool {
        let rest = self.now[counter].checked_sub(octets);
        self.now[counter] = rest.unwrap_or(self.now[counter]);
        rest.is_some()
    }

    fn colour(&mut self, octets: u64, before: Colour) -> Colour {
        if before == Colour::Red || self.kind == Kind::Trtcm && !self.pays(1, octets) {
            return Colour::Red;
        }
        if self.kind == Kind::Gcra {
            return if self.pays(0, octets) { before } else { Colour::Red };
        }
        if before == Colour::Green && self.pays(0, octets) {
            return Colour::Green;
        }
        let is_yellow = self.kind == Kind::Trtcm || self.pays(1, octets);
        if is_yellow { Colour::Yellow } else { Colour::Red }
    }
}

#[test]
fn meters_count_as_their_rfcs_do_token_by_token() {
    let mut colours = [0_u64; 3];
    for seed in 0..SEQUENCES {
        let mut stream = Stream::new(seed, "meters");
        let kind = [Kind::Gcra, Kind::Srtcm, Kind::Trtcm, Kind::Trtcm4115][stream.up_to(3) as usize];
        let cir = 1 + stream.up_to(3);
        let pir = cir + stream.up_to(4);
        let [cbs, other] = [stream.up_to(60), stream.up_to(60)];
        let octets = |size| PortBuffer::Size(BufferSize::Bytes(size));
        let mut meter = Meter::new(&Params {
            kind,
            cir: Rate(cir * OCTET),
            cbs: octets(cbs),
            pir: matches!(kind, Kind::Trtcm | Kind::Trtcm4115).then_some(Rate(pir * OCTET)),
            pbs: (kind == Kind::Trtcm).then_some(octets(other)),
            ebs: matches!(kind, Kind::Srtcm | Kind::Trtcm4115).then_some(octets(other)),
            by: Per::Port,
            colour: Awareness::Aware,
            yellow: Action::Mark,
            red: Action::Drop,
        });
        let second = match kind {
            Kind::Gcra | Kind::Srtcm => 0,
            Kind::Trtcm => pir,
            Kind::Trtcm4115 => pir - cir,
        };
        let mut counters = Counters { kind, rates: [cir, second], most: [cbs, other], now: [cbs, other] };
        let mut now = 0;
        for packet in 0..40 {
            let (gap, octets) = (stream.up_to(1) * stream.up_to(20), 1 + stream.up_to(30));
            now += gap;
            (0..gap).for_each(|_| counters.tick());
            let before =
                [Colour::Green, Colour::Green, Colour::Yellow, Colour::Red][stream.up_to(3) as usize];
            let found = meter.colour(Time(now), octets, before);
            assert_eq!(found, counters.colour(octets, before), "seed {seed}, packet {packet}");
            colours[found as usize] += 1;
        }
    }
    assert!(colours.iter().all(|count| *count > 20_000), "{colours:?}");
}
