//! Outcome of a flow: its counts, without the state of its transport.

use super::figures::Figures;
use crate::metrics::state::Figure;
use crate::metrics::steps::StepSeries;
use crate::program::Failure;
use crate::units::{Span, Time};

/// Outcome of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// Counts of the flow since the last reset.
    pub figures: Figures,
    /// Transfers of files since the last reset; `None` for a flow without files.
    pub transfers: Option<Transfers>,
    /// Start and end of the only transfer of a flow, whether or not it fell into the measured time; `None` if the flow is
    /// no transfer, or has not started.
    pub only_transfer: Option<TransferSpan>,
    /// The progress of a flow with acknowledgements since the start of the run.
    pub progress: Option<DataProgress>,
    /// Whether a greedy TCP flow was still in its first slow start when the measured time began; `None` for other flows.
    pub began_in_slow_start: Option<bool>,
    /// The first call that a program as congestion control could not compute, if there is one.
    pub failure: Option<Box<Failure>>,
    /// The counts over time that the scenario requests, if any.
    pub(super) series: Option<Box<CountSeries>>,
}

/// The progress of a flow with acknowledgements, in octets of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataProgress {
    /// Octets sent at least once.
    pub sent: u64,
    /// Octets that the receiver delivered in order.
    pub delivered: u64,
    /// Octets whose acknowledgement the sender has received.
    pub acked: u64,
}

/// Start and end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferSpan {
    /// Time at which it was requested.
    pub began: Time,
    /// Duration until its last octet was acknowledged; `None` if it had not ended.
    pub time: Option<Span>,
}

/// The transfers of files of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfers {
    /// Duration of each transfer that has ended.
    pub times: Box<[Span]>,
    /// Time at which the file in transfer was requested, if there is one.
    pub under_way: Option<Time>,
}

/// Counts of a flow over time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CountSeries {
    /// Octets that reached the application.
    pub(super) octets: Option<StepSeries>,
    /// The congestion window of a TCP flow, in octets.
    pub(super) cwnd: Option<StepSeries>,
    /// The state of the flow's congestion control.
    pub(super) state: Option<StepSeries<Vec<Figure>>>,
}

impl FlowOutcome {
    /// Reset the counters at `now`, for a flow that has ended before.
    pub(crate) fn reset_counters(&mut self, now: Time) {
        self.figures = self.figures.fresh();
        if let Some(transfers) = &mut self.transfers {
            transfers.times = Box::default();
        }
        self.steps().for_each(|steps| steps.restart(now));
        self.states().for_each(|steps| steps.restart(now));
    }

    /// Close the flow at the end of the run.
    pub(crate) fn close(mut self, now: Time) -> FlowOutcome {
        self.steps().for_each(|steps| steps.catch_up(now));
        self.states().for_each(|steps| steps.catch_up(now));
        self
    }

    fn steps(&mut self) -> impl Iterator<Item = &mut StepSeries> {
        self.series.iter_mut().flat_map(|series| series.octets.iter_mut().chain(&mut series.cwnd))
    }

    fn states(&mut self) -> impl Iterator<Item = &mut StepSeries<Vec<Figure>>> {
        self.series.iter_mut().flat_map(|series| &mut series.state)
    }

    /// Return the state of the congestion control at every sample, if it is recorded.
    pub fn state(&self) -> Option<&[Vec<Figure>]> {
        Some(self.series.as_ref()?.state.as_ref()?.counts())
    }

    /// Return the throughput in bits per second in windows of length `window`, one that begins at each step, if it is
    /// recorded.
    pub fn throughput(&self, window: Span) -> Option<Vec<f64>> {
        Some(self.series.as_ref()?.octets.as_ref()?.throughput(window))
    }

    /// Return the congestion window at every sample, in octets, if it is recorded.
    pub fn cwnd(&self) -> Option<&[u64]> {
        Some(self.series.as_ref()?.cwnd.as_ref()?.counts())
    }
}
