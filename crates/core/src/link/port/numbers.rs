//! The circuits of a port, and the numbers that they have there.

use crate::units::ids::{CircuitId, IdSlice, PortVc};

/// The circuits that pass a port, from which the number of each follows: its place among them.
#[derive(Clone, Debug)]
pub enum Numbers {
    /// All circuits from this one on.
    From(CircuitId),
    /// These circuits, in ascending order.
    Listed(Box<[CircuitId]>),
}

impl Numbers {
    /// Return the numbers of these circuits, which are in ascending order.
    pub fn new(circuits: IdSlice<'_, PortVc, CircuitId>) -> Numbers {
        let first = circuits.iter().next().copied().unwrap_or(CircuitId(0));
        let follows = |(place, circuit): (usize, &CircuitId)| circuit.index() == first.index() + place;
        if circuits.iter().enumerate().all(follows) {
            Numbers::From(first)
        } else {
            Numbers::Listed(circuits.iter().copied().collect())
        }
    }

    /// Return the number of a circuit that passes the port.
    #[inline]
    pub fn of(&self, circuit: CircuitId) -> PortVc {
        match self {
            Numbers::From(first) => PortVc(circuit.0 - first.0),
            Numbers::Listed(circuits) => {
                PortVc::new(circuits.binary_search(&circuit).expect("a unit waits where its circuit passes"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_place_among_the_circuits_of_the_port() {
        for circuits in [vec![3, 4, 5, 6], vec![0, 2, 3, 9], vec![7], vec![]] {
            let circuits: Vec<CircuitId> = circuits.into_iter().map(CircuitId).collect();
            let numbers = Numbers::new(IdSlice::new(&circuits));
            let places: Vec<usize> = circuits.iter().map(|&circuit| numbers.of(circuit).index()).collect();
            assert_eq!(places, (0..circuits.len()).collect::<Vec<_>>());
        }
    }
}
