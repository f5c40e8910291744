//! Keys of transfers, and of queries and workloads that consist of them.

use super::Holds::{Count, Number, Table, Text, Texts, Whole};
use super::{ReportKey, if_so, key};

/// Keys of the completion times of transfers.
pub(super) const COMPLETION: &[ReportKey] = &[
    key("count", Count, "Transfers that ended."),
    key("unfinished", Count, "Transfers that had not ended at the end of the run."),
    key("unfinished_age_max_s", Number("s"), "Longest age of one of these; null without one."),
    key("slowdown", Table(SLOWDOWN), "Slowdowns by size."),
];

/// Keys of slowdowns by size of transfer.
const SLOWDOWN: &[ReportKey] = &[
    key("all", Table(SLOWDOWNS), "All transfers."),
    key("short", Table(SLOWDOWNS), "Those below 100 kB."),
    key("medium", Table(SLOWDOWNS), "Those from 100 kB to below 1 MB."),
    key("long", Table(SLOWDOWNS), "Those from 1 MB on."),
];

/// Keys of the slowdowns of a group of transfers.
const SLOWDOWNS: &[ReportKey] = &[
    key("count", Count, "Transfers that ended, on which the percentiles rest."),
    key("mean", Number("1"), "Mean slowdown."),
    key("p50", Number("1"), "Median (nearest rank)."),
    key("p95", Number("1"), "95th percentile."),
    key("p99", Number("1"), "99th percentile."),
    key("p999", Number("1"), "99.9th percentile; the longest below 1000 transfers."),
    key("unfinished", Count, "Transfers that had not ended, and count in no percentile."),
    key(
        "unfinished_max",
        Number("1"),
        "Their largest age over the ideal: a slowdown that one has exceeded already.",
    ),
];

/// Keys of the completion times of queries.
pub(super) const QUERY: &[ReportKey] = &[
    key("count", Count, "Queries whose answers have all ended."),
    key("mean", Number("s"), "Mean time."),
    key("p50", Number("s"), "Median (nearest rank)."),
    key("p95", Number("s"), "95th percentile."),
    key("p99", Number("s"), "99th percentile."),
    key("p999", Number("s"), "99.9th percentile."),
    key("unfinished", Count, "Queries with an answer that had not ended."),
];

/// Keys of a transfer.
pub(super) const TRANSFER: &[ReportKey] = &[
    key("name", Text, "Its name: that of its source and its number there, unless a list gives another one."),
    key("from", Text, "Host that sends."),
    key("to", Text, "Host that receives."),
    key("octets", Whole, "Its size."),
    key("start_s", Number("s"), "When it started; null if it still waited for others at the end of the run."),
    key(
        "time_s",
        Number("s"),
        "How long it took; null if it had not ended, or ended before the measured time.",
    ),
    key("slowdown", Number("1"), "That over the ideal."),
];

/// Keys of a workload.
pub(super) const WORKLOAD: &[ReportKey] = &[
    key("transfers", Count, "Transfers of the workload."),
    key("completed", Count, "Its transfers that ended within the run."),
    key("unfinished", Count, "Its transfers that started and did not end."),
    key(
        "not_started",
        Count,
        "Its transfers that did not start: their start is after the run, or they still waited for others.",
    ),
    key("octets", Count, "Octets of all its transfers."),
    key("first_start_s", Number("s"), "When its first transfer started; null if none did."),
    key(
        "last_finish_s",
        Number("s"),
        "When its last transfer ended: its last octet was acknowledged; null if none ended.",
    ),
    if_so(
        "critical_path",
        Texts,
        "with transfers that wait for others",
        "Names of the transfers that determined when the last one ended: of those that each waited for, the one that ended last. Of several replications that of the first.",
    ),
];
