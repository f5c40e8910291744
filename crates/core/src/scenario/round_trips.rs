//! The base round trip of the flows through a port: propagation along the route of the data, and back along that of the
//! acknowledgements; with several routes, along the first.

use std::cell::OnceCell;

use super::model::{Flow, Line, Vc};
use crate::units::Span;
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId};

/// The base round trips at every port, computed when the first is asked for.
pub(super) struct RoundTrips<'a> {
    delays: IdVec<LineId, Span>,
    flows: &'a IdVec<FlowId, Flow>,
    vcs: &'a IdVec<CircuitId, Vc>,
    /// For every port the shortest and the longest; `None` if no flow with acknowledgements passes.
    found: OnceCell<IdVec<LineId, Option<(Span, Span)>>>,
}

impl<'a> RoundTrips<'a> {
    /// Those of these flows over these lines.
    pub(super) fn new(
        lines: &IdVec<LineId, Line>,
        flows: &'a IdVec<FlowId, Flow>,
        vcs: &'a IdVec<CircuitId, Vc>,
    ) -> RoundTrips<'a> {
        let delays = lines.iter().map(|line| line.delay.least()).collect();
        RoundTrips { delays, flows, vcs, found: OnceCell::new() }
    }

    /// Return the base round trip of all flows through a port; the error says why there is none.
    pub(super) fn at(&self, port: LineId) -> Result<Span, String> {
        match self.found.get_or_init(|| self.find())[port] {
            None => {
                Err("the port has no base round trip, for no flow with acknowledgements passes it; give a \
                         size or a time, as in \"25 ms\""
                    .to_string())
            }
            Some((least, most)) if least == most => Ok(least),
            Some((least, most)) => Err(format!(
                "the flows through the port have base round trips from {least} to {most}; give a size or a time, \
                 as in \"25 ms\""
            )),
        }
    }

    fn find(&self) -> IdVec<LineId, Option<(Span, Span)>> {
        let mut found = IdVec::filled(None, self.delays.len());
        for flow in self.flows {
            let Some(back) = flow.back else { continue };
            let routes = [&self.vcs[flow.vc].path, &self.vcs[back].path];
            let round_trip = Span(routes.iter().copied().flatten().map(|&line| self.delays[line].0).sum());
            for &line in routes.iter().copied().flatten() {
                let (least, most) = found[line].unwrap_or((round_trip, round_trip));
                found[line] = Some((round_trip.min(least), round_trip.max(most)));
            }
        }
        found
    }
}
