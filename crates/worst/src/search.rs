//! A search beyond exhaustion: a lower bound of the worst ratio, from states that coarse moves reach.
//!
//! A coarse move is a burst of several packets for one port, several slots without arrivals, or several slots in each of
//! which some ports receive a packet. The policy decides about every packet by its own code, so that each cycle of coarse moves is an
//! input, and its ratio a lower bound, which is verified as that of a proof is. That no other input is worse remains open: inputs
//! that need finer moves are not visited. A move has as few packets as the limit of states allows.

use crate::graph::Graph;
use crate::model::{Model, Move, State, Step};
use crate::pair::{Pair, Plan};
use crate::{Failure, Limit, Watch};

/// Most ports of which all sets are kept busy.
const MOST_PORTS: usize = 4;

/// Both sides, which receive packets in coarse moves.
pub(crate) struct Coarse<'a> {
    pair: &'a Pair,
    /// Packets of a burst, and slots of a longer move.
    pub(crate) unit: usize,
    moves: Vec<Vec<Step>>,
}

impl Coarse<'_> {
    /// Build the moves with this number of packets.
    fn new(pair: &Pair, ports: usize, unit: usize) -> Coarse<'_> {
        let arrival = |port: usize, takes: bool| Step::Arrival { port, takes };
        let burst = |port: usize, takes: bool| vec![arrival(port, takes); unit];
        let refusals: &[bool] = if pair.may_refuse { &[true, false] } else { &[true] };
        let bursts = (0..ports).flat_map(|port| refusals.iter().map(move |&takes| burst(port, takes)));
        let sets: Vec<usize> = match ports <= MOST_PORTS {
            true => (1..1 << ports).collect(),
            false => (0..ports).map(|port| 1 << port).chain([(1 << ports) - 1]).collect(),
        };
        let busy = sets.into_iter().map(|set| {
            let arrivals = (0..ports).filter(|port| set >> port & 1 == 1).map(|port| arrival(port, true));
            // a packet that arrives after the others have sent finds room in a full memory, so that lengths stay multiples
            let slot: Vec<Step> = [Step::Tick].into_iter().chain(arrivals).collect();
            slot.repeat(unit)
        });
        let idle = [vec![Step::Tick; unit]];
        Coarse { pair, unit, moves: idle.into_iter().chain(bursts).chain(busy).collect() }
    }
}

impl Plan for Coarse<'_> {
    fn steps(&self, number: usize) -> Vec<Step> {
        self.moves[number].clone()
    }
}

impl Model for Coarse<'_> {
    fn start(&self) -> State {
        self.pair.start()
    }

    fn degree(&self) -> usize {
        self.moves.len()
    }

    fn moves(&self, state: State, moves: &mut [Move]) {
        for (slot, steps) in moves.iter_mut().zip(&self.moves) {
            let mut parts = self.pair.parts(state);
            let mut sums = [0_u8; 2];
            for &step in steps {
                let (after, gains) = self.pair.after(parts, step);
                parts = after;
                sums = [sums[0] + gains[0], sums[1] + gains[1]];
            }
            let [opponent, policy] = sums;
            *slot = Move { to: self.pair.least(parts.0, parts.1).0, opponent, policy };
        }
    }
}

/// Return coarse moves whose states fit the limit, with the graph of these states: the finest of those tried, from what the
/// number of all states suggests in steps of a quarter, and parts of the memory. Lengths that are multiples of such a part have the
/// fewest states.
pub(crate) fn explore<'a>(
    pair: &'a Pair,
    (ports, cells): (usize, u64),
    limit: Limit,
    watch: &Watch<'_>,
) -> Result<(Coarse<'a>, Graph), Failure> {
    let most = usize::from(u8::MAX) / ports; // what a move earns has eight bits
    let too_fine =
        |unit: u32| limit.most.states > limit.states as u128 * u128::from(unit).pow(2 * ports as u32);
    let first = (2..).find(|&unit| !too_fine(unit)).map_or(2, |unit| unit as usize);
    let mut unit = first.min(most);
    loop {
        let coarse = Coarse::new(pair, ports, unit);
        match Graph::explore(&coarse, limit, watch) {
            Err(Failure::States(_)) if unit < most => {
                let (next, part) =
                    (unit + unit.div_ceil(4), |unit: &usize| cells.is_multiple_of(*unit as u64));
                unit = (unit + 1..next).find(part).unwrap_or(next).min(most);
            }
            Err(failure) => return Err(failure),
            Ok(graph) => return Ok((coarse, graph)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{GO_ON, LQD, dt, question};
    use crate::{Question, Ratio};

    #[test]
    fn a_search_beyond_the_limit_finds_an_input_that_is_not_worse_than_the_worst() {
        for (policy, ports, cells) in [(LQD, 2, 24), (&dt(1.0), 2, 24), (&dt(8.0), 2, 24), ("{}", 3, 9)] {
            let exact = question(policy, ports, cells).answer(GO_ON).unwrap();
            let few = Question { limit: 4000, searches: true, ..question(policy, ports, cells) };
            let found = few.answer(GO_ON).unwrap();
            assert!(found.unit.is_some_and(|unit| unit > 1) && exact.unit.is_none(), "{policy}");
            assert!(found.states <= 4000 && found.ratio <= exact.ratio, "{policy}: {}", found.ratio);
            // coarse moves find nearly all of what the worst input adds to 1
            let (found_part, exact_part) = (found.ratio.value() - 1.0, exact.ratio.value() - 1.0);
            assert!(found_part >= 0.9 * exact_part, "{policy}: {} of {}", found.ratio, exact.ratio);
            let document = found.document(&few);
            assert_eq!((&document["proved"], &document["upper"]), (&false.into(), &serde_json::Value::Null));
        }
        let enough = Question { searches: true, ..question(LQD, 2, 8) };
        assert_eq!(
            enough.answer(GO_ON).unwrap().ratio,
            Ratio::new(14, 11),
            "within the limit there is a proof"
        );
    }
}
