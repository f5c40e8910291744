//! Transfers that a source draws: the start of each, its two hosts, and its size.
//!
//! All draws of a flow come from its own streams, and none depends on events in the network.

use super::model::{Line, NetworkNode, NodeKind, Transfer};
use crate::rng::Stream;
use crate::source::arrivals::{self, Destinations, Gaps, TransferDestination};
use crate::source::{Spec, query};
use crate::units::ids::{IdVec, LineId, NodeId};
use crate::units::{PS_PER_S, Span};

/// A transfer before it has a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    /// Start of the transfer.
    pub(super) at: Span,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) transfer: Transfer,
}

/// The hosts of a network, from which draws choose.
#[derive(Debug)]
pub(super) struct Hosts {
    /// Every host with the node at the other end of its first line.
    all: Vec<(NodeId, Option<NodeId>)>,
    /// Bits per second of all lines that start at a node.
    rates: IdVec<NodeId, f64>,
}

/// A flow that draws transfers.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawingFlow<'a> {
    pub(super) name: &'a str,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// The destinations that the flow's source lists.
    pub(super) listed: &'a [NodeId],
    /// Time from which transfers may start.
    pub(super) start: Span,
    /// The time before which they must start.
    pub(super) stop: Span,
    pub(super) seed: u64,
}

impl DrawingFlow<'_> {
    fn stream(&self, what: &str) -> Stream {
        Stream::new(self.seed, format_args!("flow.{}.{what}", self.name))
    }

    /// Return the instants of a process with a mean of `rate` events in a second, from `start` to before `stop`.
    fn instants(&self, gaps: Gaps, rate: f64) -> impl Iterator<Item = Span> {
        let (mut stream, mean, stop) = (self.stream("gaps"), PS_PER_S as f64 / rate, self.stop);
        let mut gap = move |is_first: bool| match gaps {
            Gaps::Poisson => mean * stream.exponential(),
            Gaps::Fixed if is_first => mean * stream.unit(),
            Gaps::Fixed => mean,
        };
        let mut at = self.start.0 as f64;
        let mut is_first = true;
        std::iter::from_fn(move || {
            at += gap(std::mem::take(&mut is_first));
            (at < stop.0 as f64).then(|| Span(libm::round(at) as u64))
        })
    }
}

impl Hosts {
    /// List the hosts of a network.
    pub(super) fn new(nodes: &IdVec<NodeId, NetworkNode>, lines: &IdVec<LineId, Line>) -> Hosts {
        let (mut rates, mut first) = (IdVec::filled(0.0, nodes.len()), IdVec::filled(None, nodes.len()));
        for line in lines {
            rates[line.from] += line.rate.mean().as_f64();
            first[line.from].get_or_insert(line.to);
        }
        let hosts = nodes.pairs().filter(|(_, node)| node.kind == NodeKind::Host);
        Hosts { all: hosts.map(|(host, _)| (host, first[host])).collect(), rates }
    }

    /// Return the hosts that a transfer from or to `host` may have at its other end.
    fn others(&self, host: NodeId, which: TransferDestination) -> Vec<NodeId> {
        let own = self.all.iter().find(|(other, _)| *other == host).and_then(|(_, leaf)| *leaf);
        let fits = |(other, leaf): &&(NodeId, Option<NodeId>)| match which {
            TransferDestination::Any => *other != host,
            TransferDestination::OtherLeaf => *other != host && *leaf != own,
        };
        self.all.iter().filter(fits).map(|(other, _)| *other).collect()
    }

    /// Draw the transfers of a source; stop at `most + 1`, so that the caller can refuse too many. The error is the
    /// key for which hosts are missing, and the reason.
    pub(super) fn draw(
        &self,
        drawing: &DrawingFlow<'_>,
        source: &Spec,
        most: usize,
    ) -> Result<Vec<Drawn>, (&'static str, String)> {
        match source {
            Spec::Arrivals(params) => self.arrivals(drawing, params, most),
            Spec::Query(params) => self.queries(drawing, params, most),
            _ => Ok(Vec::new()),
        }
    }

    fn arrivals(
        &self,
        drawing: &DrawingFlow<'_>,
        params: &arrivals::Params,
        most: usize,
    ) -> Result<Vec<Drawn>, (&'static str, String)> {
        let others = match &params.to {
            None => vec![drawing.to],
            Some(Destinations::Rule(rule)) => self.others(drawing.from, *rule),
            Some(Destinations::Listed(_)) => drawing.listed.to_vec(),
        };
        if others.is_empty() {
            return Err(("source.to", "there is no such host".to_string()));
        }
        let (mut sizes, mut ends) = (params.sizes.draws(drawing.stream("sizes")), drawing.stream("to"));
        let rate = params.per_second(self.rates[drawing.from]);
        let instants = drawing.instants(params.gaps, rate).take(most + 1);
        let drawn = instants.map(|at| {
            let to = others[ends.up_to(others.len() as u64 - 1) as usize];
            Drawn { at, from: drawing.from, to, transfer: Transfer { octets: sizes.draw(), query: None } }
        });
        Ok(drawn.collect())
    }

    fn queries(
        &self,
        drawing: &DrawingFlow<'_>,
        params: &query::Params,
        most: usize,
    ) -> Result<Vec<Drawn>, (&'static str, String)> {
        let (mut others, fan_in) = (self.others(drawing.from, params.among), params.fan_in as usize);
        if others.len() < fan_in {
            let message = format!("must be at most {}, the number of hosts that can answer", others.len());
            return Err(("source.fan_in", message));
        }
        let (mut drawn, mut ends) = (Vec::new(), drawing.stream("to"));
        let (part, more) = (params.size.0 / fan_in as u64, (params.size.0 % fan_in as u64) as usize);
        for (number, at) in drawing.instants(params.gaps, params.rate.as_f64()).enumerate() {
            for place in 0..fan_in {
                let last = (others.len() - 1 - place) as u64;
                others.swap(place, place + ends.up_to(last) as usize);
                let octets = part + u64::from(place < more);
                let transfer = Transfer { octets, query: Some(number as u32) };
                drawn.push(Drawn { at, from: others[place], to: drawing.from, transfer });
            }
            if drawn.len() > most {
                break;
            }
        }
        Ok(drawn)
    }
}
