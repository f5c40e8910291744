//! The routes of a circuit that has several, and the choice of one for a packet.

use crate::rng::mix;
use crate::scenario::model::{self, RouteSpread};
use crate::units::ids::{LineId, PortVc};
use crate::units::{Span, Time};

/// A port on the path of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The port.
    pub port: LineId,
    /// The circuit's number at this port.
    pub vc: PortVc,
}

/// The routes of a circuit.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    key: u64,
    /// All routes, in the order of their periods, each with the largest random number that selects this route.
    routes: Vec<(u64, Vec<Hop>)>,
    flowlets: Option<Flowlets>,
    periods: Vec<RoutePeriod>,
    /// Index of the period in which the latest packet left its host.
    current: usize,
}

/// The flowlets of a circuit: packets that leave their host without a long gap take one route.
///
/// *Source*: E. Vanini, R. Pan, M. Alizadeh, P. Taheri and T. Edsall, "Let it flow: resilient asymmetric load balancing
/// with flowlet switching", NSDI 2017. There every switch finds the gaps and draws a line; here the gaps are those at the
/// host, and the draws of all switches are one number.
#[derive(Clone, Debug)]
struct Flowlets {
    gap: Span,
    /// When the latest packet left its host.
    latest: Option<Time>,
    /// The first packet of each flowlet, in the order of time.
    begins: Vec<u32>,
}

impl Flowlets {
    /// Record that a packet leaves its host.
    fn depart(&mut self, now: Time, frame: u32) {
        if self.latest.replace(now).is_none_or(|latest| now.since(latest) > self.gap) {
            self.begins.push(frame);
        }
    }

    /// Return the first packet of the flowlet of a packet.
    fn first(&self, frame: u32) -> u32 {
        let place = self.begins.partition_point(|&begin| frame.wrapping_sub(begin) as i32 >= 0);
        self.begins[place.saturating_sub(1)]
    }
}

/// A period: routes that are in use at the same time.
#[derive(Clone, Copy, Debug)]
struct RoutePeriod {
    since: Time,
    /// The first packet that leaves its host in this period, once there is one.
    frame: u32,
    /// The number of the period's first route, and the number after its last one.
    routes: (usize, usize),
}

impl Branches {
    pub(super) fn new(spread: &RouteSpread, hops: impl Fn(&[LineId]) -> Vec<Hop>) -> Branches {
        let mut routes = Vec::new();
        let period = |period: &model::Period| {
            let first = routes.len();
            routes.extend(period.routes.iter().map(|route| (route.last, hops(&route.path))));
            RoutePeriod { since: Time::ZERO + period.since, frame: 0, routes: (first, routes.len()) }
        };
        let periods = spread.periods.iter().map(period).collect();
        let flowlets = spread.flowlet_gap.map(|gap| Flowlets { gap, latest: None, begins: Vec::new() });
        Branches { key: spread.key, routes, flowlets, periods, current: 0 }
    }

    /// Return all routes, in the order of their periods.
    pub(super) fn routes(&self) -> impl Iterator<Item = &[Hop]> {
        self.routes.iter().map(|(_, hops)| &hops[..])
    }

    /// Record that a packet leaves its host: packets use the routes of the period in which they leave.
    pub(super) fn depart(&mut self, now: Time, frame: u32) {
        while let Some(next) = self.periods.get_mut(self.current + 1).filter(|next| next.since <= now) {
            next.frame = frame;
            self.current += 1;
        }
        self.flowlets.iter_mut().for_each(|flowlets| flowlets.depart(now, frame));
    }

    /// Return the ports on the route of a packet that has left.
    pub(super) fn route(&self, frame: u32) -> &[Hop] {
        &self.routes[self.number(frame)].1
    }

    /// Return the number of this packet's route among all routes of the circuit.
    pub(super) fn number(&self, frame: u32) -> usize {
        let begun = &self.periods[1..=self.current];
        let has_begun = |period: &&RoutePeriod| frame.wrapping_sub(period.frame) as i32 >= 0;
        let (first, end) = begun.iter().rev().find(has_begun).unwrap_or(&self.periods[0]).routes;
        let subject = self.flowlets.as_ref().map_or(frame, |flowlets| flowlets.first(frame));
        let draw = mix(self.key ^ u64::from(subject));
        first + self.routes[first..end].partition_point(|(last, _)| *last < draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::model::SharedRoute;
    use crate::units::Span;
    use crate::units::ids::IdVec;

    #[test]
    fn a_packet_begins_a_flowlet_if_its_host_was_silent_for_longer_than_the_gap() {
        let mut flowlets = Flowlets { gap: Span(10), latest: None, begins: Vec::new() };
        for (frame, time) in (0..).zip([0, 10, 21, 25, 36, 37]) {
            flowlets.depart(Time(time), frame);
        }
        assert_eq!([0, 1, 2, 3, 4, 5].map(|frame| flowlets.first(frame)), [0, 0, 2, 2, 4, 4]);
    }

    /// Routes of one line each, with the draws at which they end, from some time on.
    fn period(since: u64, first: usize, lasts: &[u64]) -> model::Period {
        let route =
            |(number, &last): (usize, &u64)| SharedRoute { path: vec![LineId::new(first + number)], last };
        model::Period { since: Span(since), routes: lasts.iter().enumerate().map(route).collect() }
    }

    fn branches(periods: Vec<model::Period>) -> Branches {
        let hops = |path: &[LineId]| path.iter().map(|&line| Hop { port: line, vc: PortVc(0) }).collect();
        Branches::new(&RouteSpread { key: 17, flowlet_gap: None, periods }, hops)
    }

    #[test]
    fn packets_take_each_route_with_its_share() {
        let mut branches = branches(vec![period(0, 0, &[u64::MAX / 2, u64::MAX / 4 * 3, u64::MAX])]);
        let mut counts: IdVec<LineId, u32> = IdVec::filled(0, 3);
        for frame in 0..40_000 {
            branches.depart(Time(u64::from(frame)), frame);
            counts[branches.route(frame)[0].port] += 1;
        }
        for (count, share) in counts.iter().zip([0.5, 0.25, 0.25]) {
            assert!((f64::from(*count) / 40_000.0 - share).abs() < 0.01, "{counts:?}");
        }
    }

    #[test]
    fn packets_keep_the_route_of_the_period_in_which_they_leave() {
        let only = [u64::MAX];
        let mut branches = branches(vec![
            period(0, 0, &only),
            period(10, 1, &only),
            period(20, 2, &only),
            period(30, 3, &only),
        ]);
        let ports = |branches: &Branches, frames: u32| -> Vec<u32> {
            (0..frames).map(|frame| branches.route(frame)[0].port.0).collect()
        };
        for (frame, time) in (0..).zip([0, 9, 10, 11, 35]) {
            branches.depart(Time(time), frame);
        }
        assert_eq!(ports(&branches, 5), [0, 0, 1, 1, 3]);
    }
}
