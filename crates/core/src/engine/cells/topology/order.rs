//! Order in which ports must advance.
//!
//! # What it assumes
//! A port depends on the ports from which its units come, and on those before them.
//!
//! # What it skips
//! Ports that are not upstream of the woken port.
//!
//! # Why that is exact
//! The other ports affect this one later, if at all.
//!
//! # What turns it off
//! A cycle of circuits: then all ports advance together.

use crate::units::ids::{IdVec, LineId};

/// Return for every wanted port all ports before it and the port itself, in order of dependence, and whether circuits
/// form a cycle. `before` lists the ports directly before each port.
pub(crate) fn upstream(
    before: &IdVec<LineId, Vec<LineId>>,
    wanted: &IdVec<LineId, bool>,
) -> (IdVec<LineId, Vec<LineId>>, bool) {
    let (mut all, mut circle, mut seen) = (Vec::new(), false, IdVec::filled(None, before.len()));
    for (port, wanted) in wanted.pairs() {
        let mut order = Vec::new();
        circle |= *wanted && is_on_a_circle(before, &mut seen, &mut order, port);
        order.iter().for_each(|&port| seen[port] = None);
        all.push(order);
    }
    (all.into(), circle)
}

/// Search the ports before a port, depth first; a port that is met again before its search is complete is on a cycle.
/// `seen` records whether the search of a port is complete. An explicit stack holds the open searches, because a
/// network may have long chains of ports.
fn is_on_a_circle(
    before: &IdVec<LineId, Vec<LineId>>,
    seen: &mut IdVec<LineId, Option<bool>>,
    order: &mut Vec<LineId>,
    port: LineId,
) -> bool {
    let mut circle = false;
    let mut open = vec![(port, before[port].iter())];
    seen[port] = Some(false);
    while let Some((port, others)) = open.last_mut() {
        let Some(&other) = others.next() else {
            seen[*port] = Some(true);
            order.push(*port);
            open.pop();
            continue;
        };
        match seen[other] {
            None => {
                seen[other] = Some(false);
                open.push((other, before[other].iter()));
            }
            Some(is_done) => circle |= !is_done,
        }
    }
    circle
}

#[cfg(test)]
mod tests {
    use super::upstream;
    use crate::units::ids::{IdVec, LineId};

    /// The ports before each port, by their numbers.
    fn before<const N: usize>(numbers: [&[u32]; N]) -> IdVec<LineId, Vec<LineId>> {
        numbers.into_iter().map(|list| list.iter().copied().map(LineId).collect()).collect()
    }

    #[test]
    fn ports_come_behind_all_before_them() {
        let (all, circle) = upstream(&before([&[], &[0], &[0, 1], &[]]), &[true, true, true, false].into());
        assert!(all == before([&[0], &[0, 1], &[0, 1, 2], &[]]) && !circle, "{all:?}");
    }

    #[test]
    fn a_row_of_a_million_ports_does_not_exhaust_the_stack() {
        let count = 1_000_000;
        let before: IdVec<LineId, Vec<LineId>> =
            (0..count).map(|port: u32| port.checked_sub(1).into_iter().map(LineId).collect()).collect();
        let wanted: IdVec<LineId, bool> = (0..count).map(|port| port + 1 == count).collect();
        let (all, circle) = upstream(&before, &wanted);
        assert_eq!((all[LineId(count - 1)].len(), circle), (count as usize, false));
    }

    #[test]
    fn a_port_that_comes_before_itself_is_on_a_circle() {
        assert!(upstream(&before([&[1], &[0]]), &[true, true].into()).1);
        assert!(upstream(&before([&[0]]), &[true].into()).1);
    }

    #[test]
    fn a_port_that_two_ways_lead_to_is_on_no_circle() {
        let (all, circle) = upstream(&before([&[], &[0], &[0], &[1, 2]]), &[true; 4].into());
        assert_eq!((&all[LineId(3)], circle), (&[0, 1, 2, 3].map(LineId).to_vec(), false));
    }
}
