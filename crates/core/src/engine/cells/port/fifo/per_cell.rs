//! Cells of a segment pass a FIFO port in one loop.
//!
//! # What it assumes
//! No train begins or ends within the segment.
//!
//! # What it skips
//! The merge of lanes cell by cell: the cells of the segment are put in order once.
//!
//! # Why that is exact
//! The order of a segment is that of its arrivals, ties included, and each cell starts as it would alone.
//!
//! # What turns it off
//! Cells that are forwarded one by one, or a measured time that begins or ends before they have left; where the
//! policy decides about cells in advance, also a buffer that may overflow. Then they pass unit by unit.
//!
//! # What it saves
//! Instructions: 1.7 times for multi-hop, where lines are idle between segments; 2.2 times for RED for cells, which
//! observes each cell.

use super::{CellFifo, Content, SegmentStep};
use crate::buffer::admission::{InnerArrival, Interest, Policy, Shortcuts, Within};
use crate::engine::cells::port::context::Context;
use crate::engine::cells::port::outbox::Outbox;
use crate::engine::cells::topology::route::Handoff;
use crate::engine::cells::train::{CellSegment, CellTrain};
use crate::engine::forms::{Form, allows, used};
use crate::units::Time;
use crate::units::ids::PortVc;

impl CellFifo {
    /// Pass the segment cell by cell, each accepted or lost with its frame.
    pub(super) fn pass_loop(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        used(Form::LoopedSegment);
        let Content::Cells { pace, .. } = self.content else { return };
        let CellSegment { trains: segment, mut order } = std::mem::take(&mut self.segment);
        self.gather(cx, out, &segment, &pace);
        self.report_accepted(cx, &segment);
        self.inbox.in_order(&segment, &mut order);
        for &(time, place) in &order {
            self.take_cell(cx, segment[place as usize].vc, time);
        }
        self.inbox.pass_inner(&segment, |_| false);
        self.segment = CellSegment { trains: segment, order };
    }

    /// Choose how to pass a segment whose cells the policy must judge or observe one by one.
    pub(super) fn step_of_asked(&mut self, cx: &mut Context<'_>, until: Time) -> Option<SegmentStep> {
        let together = self.segment.trains.iter().all(|train| cx.routes[train.vc].handoff != Handoff::Singly);
        let cells = self.segment.trains.iter().map(|train| u64::from(train.units)).sum();
        if !together || !self.leave_in_time(self.free.not_before(until), cells) {
            return None;
        }
        (allows(Form::ShownCells) && self.is_foreseen(cx)).then_some(SegmentStep::Shown)
    }

    /// Return whether the policy's state before the segment decides about all its cells, and there is room for the
    /// accepted ones.
    fn is_foreseen(&self, cx: &mut Context<'_>) -> bool {
        if self.entry.rule.interest() != Interest::Total {
            return false;
        }
        let (policy, logs) = (cx.port.admission_mut(), cx.losses.log.is_some());
        let mut taken = 0;
        for train in &self.segment.trains {
            if train.lost.is_some() {
                if logs {
                    return false;
                }
                continue;
            }
            match policy.foresees(train.vc) {
                Within::Asked => return false,
                Within::Lost(_) | Within::Broken(_) if logs => return false,
                Within::Lost(_) | Within::Broken(_) => {}
                Within::Taken => taken += u64::from(train.units),
            }
        }
        self.entry.capacity.holds(self.content.level() + taken)
    }

    /// Remove the cells of the segment from the inbox, in order.
    fn take_in_order(&mut self) -> (Vec<CellTrain>, Vec<(Time, u32)>) {
        let CellSegment { trains: segment, mut order } = std::mem::take(&mut self.segment);
        self.inbox.in_order(&segment, &mut order);
        self.inbox.pass_inner(&segment, |_| false);
        (segment, order)
    }

    /// Report the cells of the segment to the policy, which has already decided about them.
    pub(super) fn show_each(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        used(Form::ShownCells);
        let Content::Cells { pace, .. } = self.content else { return };
        let (mut segment, order) = self.take_in_order();
        for train in &mut segment {
            let foreseen = match cx.port.admission_mut().foresees(train.vc) {
                Within::Lost(reason) | Within::Broken(reason) => Some(reason),
                Within::Taken | Within::Asked => None,
            };
            train.lost = train.lost.or(foreseen);
        }
        self.gather(cx, out, &segment, &pace);
        let mut met = std::mem::take(&mut self.met);
        self.take_shown(cx, &mut segment, &order, &mut met);
        (self.met, self.segment) = (met, CellSegment { trains: segment, order });
    }

    /// Accept the cells that are not lost, and report each to the policy with the occupancy that it meets: cells of a train
    /// together, unless the buffer becomes empty between them. `met` is work space.
    #[inline(never)] // for registers of its own
    fn take_shown(
        &mut self,
        cx: &mut Context<'_>,
        trains: &mut [CellTrain],
        order: &[(Time, u32)],
        met: &mut Vec<InnerArrival>,
    ) {
        let (policy, routes) = (cx.port.admission_mut(), cx.routes);
        let Content::Cells { count, ends, pace, .. } = &mut self.content else { return };
        let Some(ledger) = &mut self.entry.ledger else { return };
        let (mut level, mut oldest, mut free) = (*count, *ends, self.free);
        let (mut taken, mut stays, mut max, mut last) = (0, 0, 0, 0);
        for &(time, place) in order {
            if place != last {
                show(policy, &mut trains[last as usize], met);
                last = place;
            }
            let train = &mut trains[place as usize];
            while level > 0 && oldest.time <= time {
                level -= 1;
                if level == 0 {
                    show(policy, train, met);
                    ledger.emptied(policy, oldest.time);
                }
                oldest = oldest.next(pace);
            }
            met.push(InnerArrival { time, level });
            if train.lost.is_some() {
                continue;
            }
            let start = free.not_before(time);
            if level == 0 {
                oldest = start.shifted(pace.whole);
            }
            free = start.next(pace);
            level += 1;
            max = max.max(level);
            (taken, stays) = (taken + 1, stays + start.time.0 + pace.whole.0 - time.0);
            if self.holds_back && routes[train.vc].handoff == Handoff::Timed {
                self.gathered.by_vc[train.vc].starts_at(start.time);
            }
        }
        show(policy, &mut trains[last as usize], met);
        ledger.pool.hold(level);
        (*count, *ends, self.free) = (level, oldest, free);
        if self.begin == Time::NEVER {
            self.books.enter_inner(taken, stays.into(), max);
        }
    }

    /// Remove the cells that have left by `time`, and accept one arriving cell, whose train is forwarded as a whole.
    #[inline(always)] // once for each cell
    fn take_cell(&mut self, cx: &mut Context<'_>, vc: PortVc, time: Time) {
        self.drop_before(cx, Time(time.0 + 1));
        let Content::Cells { pace, .. } = self.content else { return };
        let start = self.free.not_before(time);
        self.content.join(start, pace.whole, 1);
        self.free = start.next(&pace);
        if let Some(ledger) = &mut self.entry.ledger {
            ledger.joined(vc, 1);
        }
        let gathering = &mut self.gathered.by_vc[vc];
        match cx.routes[vc].handoff {
            Handoff::Timed => gathering.starts_at(start.time),
            _ => gathering.last_starts(start.time),
        }
        if self.begin == Time::NEVER {
            let stay = start.time.0 + pace.whole.0 - time.0;
            self.books.enter_inner(1, stay.into(), self.content.level());
        }
    }
}

/// Report arrivals of cells to the policy; the train is advanced by them.
#[inline]
fn show(policy: &mut Policy, train: &mut CellTrain, met: &mut Vec<InnerArrival>) {
    if !met.is_empty() {
        policy.see(&train.unit, train.vc, met);
        train.unit.index += met.len() as u16;
        met.clear();
    }
}
