//! Repetitions of a radio link (ARQ): a packet that the receiver could not read is sent again, and those behind it wait for it.
//!
//! # Source
//! The link layer of mobile networks: repetitions at a fixed distance (HARQ, 3GPP TS 36.321, section 5.4.2) below a layer that delivers in order
//! (RLC, 3GPP TS 36.322); what TCP sees of it: RFC 3366, section 2.
//!
//! # Idea
//! Each attempt fails with the probability `share`, up to `most` repetitions; each repetition makes the packet `delay` later.
//!
//! # Differences from the source
//! The last repetition succeeds: the link loses nothing. Repetitions take no capacity of the line, whose rate is what is left for packets.

use serde_json::{Map, Value as Json};

use super::{Build, Gate, Site};
use crate::refused::{Refused, refuse_if};
use crate::rng::Keyed;
use crate::section;
use crate::unit::Unit;
use crate::units::{PartsPerMillion, Span, Time};

section! {
    /// Repetitions of a radio link (ARQ), which delivers in order: a packet that is sent again arrives later, and those behind it wait for it.
    pub struct Params {
        /// Share of attempts that fail, drawn for each packet.
        pub share: PartsPerMillion,
        /// How much later a repetition makes the packet.
        pub delay: Span,
        /// Most repetitions of a packet, of which the last one succeeds.
        pub most: u32,
    }
}

impl Params {
    /// Refuse repetitions that no link has.
    pub fn check(&self) -> Result<(), Refused> {
        let Params { share, delay, most } = *self;
        refuse_if(share >= PartsPerMillion::WHOLE, "share", "must be less than 100 %")?;
        refuse_if(delay == Span::ZERO, "delay", "must be greater than 0 s")?;
        refuse_if(delay > Span::secs(60), "delay", "must be at most a minute")?;
        refuse_if(!(1..=1000).contains(&most), "most", "must be from 1 to 1000")
    }
}

/// The repetitions of one line.
#[derive(Clone, Debug)]
pub struct Repeating {
    params: Params,
    keyed: Keyed,
    /// The arrival of the latest packet.
    last: Time,
    /// Repetitions since the last reset.
    repeats: u64,
}

impl Build for Repeating {
    fn build(site: &Site<'_>) -> Option<Self> {
        let params = site.repeat?.clone();
        Some(Repeating { params, keyed: site.keyed("repeat"), last: Time::ZERO, repeats: 0 })
    }
}

impl Gate for Repeating {
    fn arrives(&mut self, _ends: Time, arrives: Time, unit: &Unit) -> Time {
        let Params { share, delay, most } = self.params;
        let mut draws = self.keyed.about(unit.subject());
        let share = share.0 as f64 / PartsPerMillion::WHOLE.0 as f64;
        let repeats = (0..most).take_while(|_| draws.chance(share)).count() as u64;
        self.repeats += repeats;
        self.last = self.last.max(arrives + Span(repeats * delay.0));
        self.last
    }

    fn report(&self, figures: &mut Map<String, Json>) {
        figures.insert("repeats".into(), self.repeats.into());
    }

    fn reset(&mut self, _now: Time) {
        self.repeats = 0;
    }
}
