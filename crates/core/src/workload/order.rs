//! The order of transfers that wait for others.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use super::rows::{Row, RowFault};
use crate::excerpt::{VALUE, cut};
use crate::words::nearest::unknown;

/// Which transfers wait for which; transfers are given by their position in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// For each transfer the number of transfers that it waits for.
    waits: Vec<u32>,
    /// For each transfer the end of its part of `next`; it begins where that of the transfer before ends.
    ends: Vec<u32>,
    /// The transfers that wait for each transfer.
    next: Vec<u32>,
}

impl Order {
    /// Find the order of rows with these names; `None` if none waits. The error is the first row that names an unknown
    /// transfer or waits for itself.
    pub fn new(rows: &[Row<'_>], names: &[String]) -> Result<Option<Order>, RowFault> {
        if !rows.iter().any(Row::waits) {
            return Ok(None);
        }
        let numbers = (0..).zip(names).map(|(number, name)| (name.as_str(), number));
        let numbers: HashMap<&str, u32, BuildHasherDefault<DefaultHasher>> = numbers.collect();
        let mut pairs = Vec::new();
        for (waiting, row) in (0..).zip(rows) {
            let first = pairs.len();
            for name in row.awaited() {
                let Some(&awaited) = numbers.get(name) else {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    return Err(RowFault {
                        line: row.line,
                        why: format!("after: {}", unknown("transfer", name, &names)),
                    });
                };
                if pairs[first..].contains(&(awaited, waiting)) {
                    let why = format!("after must name {name:?} once, not twice");
                    return Err(RowFault { line: row.line, why });
                }
                pairs.push((awaited, waiting));
            }
        }
        let order = Order::of(rows.len(), pairs);
        match order.circle() {
            None => Ok(Some(order)),
            Some(circle) => {
                let listed: Vec<&str> =
                    circle.iter().map(|&number| names[number as usize].as_str()).collect();
                let why = format!(
                    "after must not lead back to the same transfer: {} waits for {}",
                    cut(listed[0], VALUE),
                    cut(&[&listed[1..], &listed[..1]].concat().join(", which waits for "), 2 * VALUE)
                );
                Err(RowFault { line: rows[circle[0] as usize].line, why })
            }
        }
    }

    /// Build the order from pairs: a transfer, and one that waits for it.
    fn of(count: usize, mut pairs: Vec<(u32, u32)>) -> Order {
        pairs.sort_unstable();
        let (mut waits, mut ends) = (vec![0; count], vec![0; count]);
        for &(awaited, waiting) in &pairs {
            waits[waiting as usize] += 1;
            ends[awaited as usize] += 1;
        }
        let mut end = 0;
        for own in &mut ends {
            end += *own;
            *own = end;
        }
        Order { waits, ends, next: pairs.into_iter().map(|(_, waiting)| waiting).collect() }
    }

    /// Return for each transfer the number of transfers that it waits for.
    pub fn waits(&self) -> &[u32] {
        &self.waits
    }

    /// Return the transfers that wait for a transfer.
    pub fn next(&self, transfer: usize) -> &[u32] {
        let begin = transfer.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.next[begin as usize..self.ends[transfer] as usize]
    }

    /// Return transfers each of which waits for the next one, and the last for the first, if there are any: the circle
    /// of the first transfer that can never start.
    fn circle(&self) -> Option<Vec<u32>> {
        let mut left = self.waits.clone();
        let mut ready: Vec<u32> =
            (0..).zip(&left).filter(|(_, left)| **left == 0).map(|(number, _)| number).collect();
        while let Some(number) = ready.pop() {
            for &waiting in self.next(number as usize) {
                left[waiting as usize] -= 1;
                if left[waiting as usize] == 0 {
                    ready.push(waiting);
                }
            }
        }
        // each that is left waits for another one that is left
        let mut awaited = vec![None; left.len()];
        for number in (0..left.len()).filter(|&number| left[number] > 0) {
            self.next(number).iter().for_each(|&waiting| {
                awaited[waiting as usize].get_or_insert(number as u32);
            });
        }
        let mut at = (0..left.len()).find(|&number| left[number] > 0)? as u32;
        let mut seen = vec![false; left.len()];
        while !std::mem::replace(&mut seen[at as usize], true) {
            at = awaited[at as usize]?;
        }
        let start = at;
        let mut circle = vec![start];
        while let Some(next) = awaited[at as usize].filter(|next| *next != start) {
            circle.push(next);
            at = next;
        }
        let first = (0..circle.len()).min_by_key(|&place| circle[place])?;
        circle.rotate_left(first);
        Some(circle)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::parse;
    use super::*;

    /// The order of transfers `a`, `b`, …, each with those that it waits for.
    fn order(after: &[&str]) -> Result<Option<Order>, RowFault> {
        let row = |(number, after): (u8, &&str)| format!("x,y,1,0,{},{after}\n", char::from(b'a' + number));
        let text: String = (0..).zip(after).map(row).collect();
        let text = format!("from,to,bytes,start,name,after\n{text}");
        let rows = parse(&text, 99).unwrap();
        let names: Vec<String> = rows.iter().map(|row| row.name.to_string()).collect();
        Order::new(&rows, &names)
    }

    #[test]
    fn an_order_lists_who_waits_for_whom() {
        let order = order(&["d", "a;d", "", ""]).unwrap().unwrap();
        assert_eq!(order.waits(), [1, 2, 0, 0]);
        assert_eq!(
            [order.next(0), order.next(1), order.next(2), order.next(3)],
            [&[1][..], &[], &[], &[0, 1]]
        );
    }

    #[test]
    fn without_waiting_transfers_there_is_no_order() {
        assert_eq!(order(&["", ""]), Ok(None));
    }

    #[test]
    fn circles_and_unknown_names_are_refused_with_their_line() {
        let why = |after: &[&str]| {
            let RowFault { line, why } = order(after).unwrap_err();
            format!("{line}: {why}")
        };
        assert!(why(&["", "bb"]).starts_with("3: after: unknown transfer \"bb\""), "{}", why(&["", "bb"]));
        assert_eq!(why(&["", "a;a"]), "3: after must name \"a\" once, not twice");
        assert_eq!(
            why(&["", "d", "b", "c;a"]),
            "3: after must not lead back to the same transfer: b waits for d, which waits for c, which waits for b"
        );
        assert_eq!(why(&["", "b"]), "3: after must not lead back to the same transfer: b waits for b");
        // those that only wait for a circle are not in it
        assert!(
            why(&["b", "c", "b"])
                .starts_with("3: after must not lead back to the same transfer: b waits for c")
        );
    }
}
