//! Units come in the order of their arrivals, by whichever method they are removed.

use std::rc::Rc;

use proptest::prelude::*;

use super::*;
use crate::engine::exact::spacing::{ExactTime, SpacingTable};
use crate::rng::UNNAMED;
use crate::unit::Flags;
use crate::units::Rate;
use crate::units::ids::{CircuitId, LineId, PortVc};

const LANES: usize = 6;

/// One frame: its lane, the gap before it, the gaps between its units unless they keep the pace, its number of units,
/// and the number handed over at a time.
type Frame = (usize, u64, Option<Vec<u64>>, u16, usize);

fn frame() -> impl Strategy<Value = Frame> {
    let gaps = prop::option::of(prop::collection::vec(1u64..4, 8));
    (0..LANES, 0u64..6, gaps, 1u16..9, 1usize..9)
}

/// A frame whose units keep the pace.
fn even_frame() -> impl Strategy<Value = Frame> {
    (0..LANES, 0u64..6, 1u16..9).prop_map(|(lane, gap, units)| (lane, gap, None, units, 1))
}

/// An expected or arrived unit: its instant, its frame, and its place there.
type ArrivedUnit = (Time, u32, u16);

/// Lanes on which these frames set out, and all units in the order of their arrivals.
fn filled(frames: &[Frame]) -> (Inbox, Vec<ArrivedUnit>) {
    let spacing = Rc::new(SpacingTable::of(
        TransmissionTime::of_bytes(Rate(424_000_000_000_000), 53).in_lowest_terms(),
    )); // a cell a picosecond
    let lanes =
        (0..LANES).map(|line| InboxLane::new(LineId::new(line), Rc::clone(&spacing), &spacing)).collect();
    let mut inbox = Inbox::of(lanes, &Ties::new(7, &UNNAMED));
    let (mut free, mut expected) = ([0; LANES], Vec::new());
    for (frame, (lane, gap, gaps, units, part)) in (0..).zip(frames) {
        free[*lane] += gap;
        let mut times = Vec::new();
        for i in 0..usize::from(*units) {
            times.push(Time(free[*lane]));
            free[*lane] += gaps.as_ref().map_or(1, |gaps| gaps[i]);
        }
        set_out(&mut inbox, *lane, frame, &times, gaps.as_ref().map(|_| *part));
        expected.extend(times.iter().zip(0..).map(|(time, index)| (*time, *lane as u32, frame, index)));
    }
    expected.sort_by_key(|&(time, lane, frame, index)| {
        (time, inbox.ranks.rank(ArrivalPlace { time, lane }), frame, index)
    });
    (inbox, expected.into_iter().map(|(time, _, frame, index)| (time, frame, index)).collect())
}

/// Send a frame, in parts if it does not keep the pace.
fn set_out(inbox: &mut Inbox, lane: usize, frame: u32, times: &[Time], part: Option<usize>) {
    let unit = |index: usize, units: usize| {
        let first = if index == 0 { Flags::FIRST } else { Flags::default() };
        let last = if index + units == times.len() { Flags::EOM } else { Flags::default() };
        Unit {
            vc: CircuitId(0),
            frame,
            identity: frame,
            index: index as u16,
            bytes: 53,
            hop: 0,
            flags: first.with(last),
        }
    };
    let Some(part) = part else {
        let (units, last) = (times.len(), times[times.len() - 1]);
        inbox.push(
            lane as u32,
            CellTrain::new(ExactTime::at(times[0]), unit(0, units), PortVc(0), units as u16, last),
        );
        return;
    };
    let mut index = 0;
    for part in times.chunks(part) {
        inbox.push_irregular(
            lane as u32,
            &IrregularArrivals { unit: unit(index, part.len()), vc: PortVc(0), arrivals: part },
            false,
        );
        index += part.len();
    }
}

fn pop(inbox: &mut Inbox, limit: Time) -> Option<ArrivedUnit> {
    let Arriving { time, unit, .. } = inbox.pop_before(limit)?;
    Some((time, unit.frame, unit.index))
}

proptest! {
    #[test]
    fn units_come_in_the_order_of_their_arrivals(frames in prop::collection::vec(frame(), 1..30)) {
        let (mut inbox, expected) = filled(&frames);
        let first = expected.first().map(|unit| unit.0);
        prop_assert_eq!(inbox.next_time(), first);
        let seen: Vec<ArrivedUnit> = std::iter::from_fn(|| pop(&mut inbox, Time::NEVER)).collect();
        prop_assert_eq!(seen, expected);
        prop_assert!(inbox.is_empty());
    }

    /// Inner units pass together, up to the end of a train or a limit; the others come one by one.
    #[test]
    fn inner_units_pass_in_the_same_order(
        frames in prop::collection::vec(frame(), 1..30),
        limits in prop::collection::vec(1u64..20, 1..40),
    ) {
        let (mut inbox, expected) = filled(&frames);
        let (mut seen, mut sum, mut limit) = (Vec::new(), 0, Time::ZERO);
        for step in limits.into_iter().chain([1_000_000]) {
            limit.0 += step;
            loop {
                let mut inner = Vec::new();
                inbox.inner(limit, &mut inner);
                let mut order = Vec::new();
                inbox.in_order(&inner, &mut order);
                let mut next: Vec<u16> = inner.iter().map(|inner| inner.unit.index).collect();
                for (time, place) in order {
                    let place = place as usize;
                    seen.push((time, inner[place].unit.frame, next[place]));
                    next[place] += 1;
                    sum += u128::from(time.0);
                }
                sum -= inbox.pass_inner(&inner, |_| true);
                let Some(unit) = pop(&mut inbox, limit) else { break };
                seen.push(unit);
            }
        }
        prop_assert_eq!(sum, 0, "the sum of arrivals is that of those listed");
        prop_assert_eq!(seen, expected);
    }

    /// Check that the number of units before the end of a train follows from the ends before it, without those between.
    #[test]
    fn what_comes_before_the_end_of_a_train_can_be_counted(frames in prop::collection::vec(even_frame(), 1..30)) {
        let (mut inbox, expected) = filled(&frames);
        let (mut passed, mut sum) = (0, 0);
        while let Some(end) = inbox.next_end(Time::NEVER) {
            let &train = inbox.train(end);
            let CellTrain { unit, units: left, begun, .. } = train;
            let ahead = (passed + inbox.ahead_of(end, |_| true)) as usize;
            if !begun && left > 1 {
                prop_assert_eq!(expected[ahead], (end.time, unit.frame, 0));
                inbox.begin_train(end);
                let mut found = Vec::new();
                inbox.up_to(end, &mut found);
                let counted: u64 = found.iter().map(|inner| u64::from(inner.units)).sum();
                prop_assert_eq!(passed + counted, ahead as u64 + 1);
            } else {
                prop_assert_eq!(expected[ahead + usize::from(left) - 1], (end.time, unit.frame, left - 1));
                (passed, sum) = (passed + u64::from(left), sum + inbox.arrivals(&train));
                inbox.pop_train();
            }
        }
        prop_assert_eq!(sum, expected.iter().map(|unit| u128::from(unit.0.0)).sum());
    }

    /// Check that units which continue a frame in arrival join its train, even if the train has shrunk.
    #[test]
    fn a_frame_may_set_out_while_it_arrives(gaps in prop::collection::vec(1u64..4, 2..20), held in 1u64..6) {
        let times: Vec<Time> =
            gaps.iter().scan(0, |time, gap| { *time += gap; Some(Time(*time)) }).collect();
        let (mut inbox, _) = filled(&[]);
        let mut seen = Vec::new();
        for (index, time) in times.iter().enumerate() {
            let last = if index + 1 == times.len() { Flags::EOM } else { Flags::default() };
            let first = if index == 0 { Flags::FIRST } else { Flags::default() };
            let unit = Unit { vc: CircuitId(0), frame: 0, identity: 0, index: index as u16, bytes: 53, hop: 0, flags: first.with(last) };
            inbox.push_irregular(0, &IrregularArrivals { unit, vc: PortVc(0), arrivals: &[*time] }, false);
            let limit = Time(time.0.saturating_sub(held));
            seen.extend(std::iter::from_fn(|| inbox.pop_before(limit)).map(|it| (it.time, it.unit.flags)));
        }
        seen.extend(std::iter::from_fn(|| inbox.pop_before(Time::NEVER)).map(|it| (it.time, it.unit.flags)));
        let flags = |index| match index {
            0 => Flags::FIRST,
            _ if index + 1 == times.len() => Flags::EOM,
            _ => Flags::default(),
        };
        let expected: Vec<(Time, Flags)> = times.iter().enumerate().map(|(i, time)| (*time, flags(i))).collect();
        prop_assert_eq!(seen, expected);
    }
}
