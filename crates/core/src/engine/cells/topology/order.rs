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

/// Return for every wanted port all ports before it and the port itself, in order of dependence, and whether circuits
/// form a cycle. `before` lists the ports directly before each port.
pub(crate) fn upstream(before: &[Vec<u32>], wanted: &[bool]) -> (Vec<Vec<u32>>, bool) {
    let (mut all, mut circle, mut seen) = (Vec::new(), false, vec![None; before.len()]);
    for (port, wanted) in wanted.iter().enumerate() {
        let mut order = Vec::new();
        circle |= *wanted && is_on_a_circle(before, &mut seen, &mut order, port as u32);
        order.iter().for_each(|&port| seen[port as usize] = None);
        all.push(order);
    }
    (all, circle)
}

/// Search the ports before a port, depth first; a port that is met again before its search is complete is on a cycle.
/// `seen` records whether the search of a port is complete. An explicit stack holds the open searches, because a
/// network may have long chains of ports.
fn is_on_a_circle(before: &[Vec<u32>], seen: &mut [Option<bool>], order: &mut Vec<u32>, port: u32) -> bool {
    let mut circle = false;
    let mut open = vec![(port, before[port as usize].iter())];
    seen[port as usize] = Some(false);
    while let Some((port, others)) = open.last_mut() {
        let Some(&other) = others.next() else {
            seen[*port as usize] = Some(true);
            order.push(*port);
            open.pop();
            continue;
        };
        match seen[other as usize] {
            None => {
                seen[other as usize] = Some(false);
                open.push((other, before[other as usize].iter()));
            }
            Some(is_done) => circle |= !is_done,
        }
    }
    circle
}

#[cfg(test)]
mod tests {
    use super::upstream;

    #[test]
    fn ports_come_behind_all_before_them() {
        let before = [vec![], vec![0], vec![0, 1], vec![]];
        let (all, circle) = upstream(&before, &[true, true, true, false]);
        assert_eq!((all, circle), (vec![vec![0], vec![0, 1], vec![0, 1, 2], vec![]], false));
    }

    #[test]
    fn a_row_of_a_million_ports_does_not_exhaust_the_stack() {
        let count = 1_000_000;
        let before: Vec<Vec<u32>> =
            (0..count).map(|port: u32| port.checked_sub(1).into_iter().collect()).collect();
        let wanted: Vec<bool> = (0..count).map(|port| port + 1 == count).collect();
        let (all, circle) = upstream(&before, &wanted);
        assert_eq!((all[count as usize - 1].len(), circle), (count as usize, false));
    }

    #[test]
    fn a_port_that_comes_before_itself_is_on_a_circle() {
        assert!(upstream(&[vec![1], vec![0]], &[true, true]).1);
        assert!(upstream(&[vec![0]], &[true]).1);
    }

    #[test]
    fn a_port_that_two_ways_lead_to_is_on_no_circle() {
        let before = [vec![], vec![0], vec![0], vec![1, 2]];
        let (all, circle) = upstream(&before, &[true; 4]);
        assert_eq!((&all[3], circle), (&vec![0, 1, 2, 3], false));
    }
}
