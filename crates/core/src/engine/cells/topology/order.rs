//! Which ports have to be brought up to date before which.

/// For every port that is wanted all before it and itself, each behind those before it, given the ports just before each;
/// and whether units can go round in circles.
pub(crate) fn upstream(before: &[Vec<u32>], wanted: &[bool]) -> (Vec<Vec<u32>>, bool) {
    let (mut all, mut circle) = (Vec::new(), false);
    let mut visit = Visit { before, seen: vec![Seen::Never; before.len()], order: Vec::new() };
    for (port, wanted) in wanted.iter().enumerate() {
        circle |= *wanted && visit.is_on_a_circle(port as u32);
        visit.order.iter().for_each(|&port| visit.seen[port as usize] = Seen::Never);
        all.push(std::mem::take(&mut visit.order));
    }
    (all, circle)
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Never,
    Open,
    Done,
}

/// Depth first over the ports before a port; one that is met again while it is open is on a circle.
struct Visit<'a> {
    before: &'a [Vec<u32>],
    seen: Vec<Seen>,
    order: Vec<u32>,
}

impl Visit<'_> {
    fn is_on_a_circle(&mut self, port: u32) -> bool {
        self.seen[port as usize] = Seen::Open;
        let mut circle = false;
        for &other in &self.before[port as usize] {
            circle |= match self.seen[other as usize] {
                Seen::Never => self.is_on_a_circle(other),
                Seen::Open => true,
                Seen::Done => false,
            };
        }
        self.seen[port as usize] = Seen::Done;
        self.order.push(port);
        circle
    }
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
    fn a_port_that_comes_before_itself_is_on_a_circle() {
        assert!(upstream(&[vec![1], vec![0]], &[true, true]).1);
        assert!(upstream(&[vec![0]], &[true]).1);
    }
}
