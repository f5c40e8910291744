//! The two ends of a flow as its transport runs them.
//!
//! One transport's ends are one file. To add one, write its file with an `Endpoint` and add a line to the list below:
//! hosts, engines, reports and samples take what they need from here.

mod coded;

mod connection;

pub mod datagrams;

use super::end::{End, Uplink};
use super::figures::Figures;
use super::outcome::FlowOutcome;
use super::processor::Interfaces;
use crate::metrics::state::Figure;
use crate::scenario::model::Scenario;
use crate::transport::Kind;
use crate::transport::cargo::Cargo;
use crate::transport::tcp::Sender;
use crate::units::Time;
use crate::units::ids::FlowId;

use coded::Coded;
use connection::Connection;
use datagrams::Datagrams;

/// Both ends of a flow: they are called at instants that they name and with packets that arrive, and send through
/// [`Interfaces`].
pub(in crate::host) trait Endpoint: Sized {
    /// Build the ends of flow number `index` of a checked scenario, before its start.
    fn new(scenario: &Scenario, index: FlowId) -> Self;

    /// Start at the source.
    fn start<U: Uplink>(&mut self, out: &mut Interfaces<'_, U>);

    /// Return the next instant at which this end must be called, if there is one.
    fn next_timer(&self, end: End) -> Option<Time>;

    /// Act at an instant that [`Endpoint::next_timer`] has named.
    fn on_timer<U: Uplink>(&mut self, end: End, out: &mut Interfaces<'_, U>);

    /// Receive a packet: at the source if it is [`Cargo::is_back`], otherwise at the sink.
    fn receive<U: Uplink>(&mut self, cargo: &Cargo, out: &mut Interfaces<'_, U>);

    /// Send the packet for which a paced sender has waited: see [`crate::host::nic`].
    fn take_turn<U: Uplink>(&mut self, out: &mut Interfaces<'_, U>) {
        let _ = out;
    }

    /// Return the octets that the application has received: since the last reset or, with acknowledgements, since the
    /// start of the run.
    fn delivered(&self) -> u64;

    /// Return the figures since the last reset.
    fn figures(&self) -> Figures;

    /// Reset the counters: the measured time starts now.
    fn reset_counters(&mut self);

    /// Finish, since no more events of the flow follow; `is_quiet` if no unit of its circuit is under way.
    fn finish(&mut self, is_quiet: bool) {
        let _ = is_quiet;
    }

    /// Return the outcome, without the counts that [`super::flow::Flow`] keeps.
    fn outcome(&self) -> FlowOutcome {
        FlowOutcome { figures: self.figures(), ..FlowOutcome::default() }
    }

    /// Return whether the flow's only transfer has ended.
    fn has_transferred(&self) -> bool {
        false
    }

    /// Return the congestion window in octets; 0 without one.
    fn cwnd(&self) -> u64 {
        0
    }

    /// Return the variables of the congestion control, for reports over time.
    fn state(&self) -> Vec<Figure> {
        Vec::new()
    }

    /// Return the TCP sender, if TCP carries the flow.
    fn sender(&self) -> Option<&Sender> {
        None
    }
}

macro_rules! endpoints {
    ($dollar:tt $( $variant:ident = $end:ty as $held:ty where $( $kind:ident ),+ );+ $(;)?) => {
        /// The ends of a flow, by its transport.
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant)] // where there are many flows they are TCP: then every memory access counts
        pub(in crate::host) enum Work { $( $variant($held) ),+ }

        impl Work {
            /// Build the ends of flow number `index` of a checked scenario, before its start.
            pub(in crate::host) fn new(scenario: &Scenario, index: FlowId) -> Work {
                match scenario.flows[index].transport.kind() {
                    $( $( Kind::$kind )|+ => Work::$variant(<$end as Endpoint>::new(scenario, index).into()) ),+
                }
            }
        }

        /// Ask whichever ends a flow has: `each!(work, ends => answer)`.
        macro_rules! each {
            ($dollar work:expr, $dollar ends:ident => $dollar answer:expr) => {
                match $dollar work { $( $crate::host::endpoint::Work::$variant($dollar ends) => $dollar answer ),+ }
            };
        }

        pub(in crate::host) use each;
    };
}

endpoints! { $
    Tcp = Connection as Connection where Tcp;
    Datagrams = Datagrams as Box<Datagrams> where Udp, Cells;
    Coded = Coded as Box<Coded> where Fec;
}
