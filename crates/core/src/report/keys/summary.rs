//! Keys of all flows together, and of classes of flows.

use super::Holds::{Count, Entries, Number, Numbers, Table, Text};
use super::transfers::{COMPLETION, QUERY, WORKLOAD};
use super::{MEASURED, ReportKey, WITH_CODE, WITH_DELIVERY, WITH_FILES, WITH_TRIPS, if_so, key};

/// Condition of a key: the scenario has sources whose transfers each have their own connection.
const WITH_DRAWINGS: &str = "with a workload, or sources `arrivals` or `query`";
const WITH_GREEDY: &str = "with greedy TCP flows";
const TRIPS_OF_ALL: &str = "As for a flow, over the round trips that all senders measured.";
const TRIPS_OF_CLASS: &str = "As for a flow, over the round trips that all of its senders measured.";

pub(super) const SUMMARY: &[ReportKey] = &[
    key("goodput_bps", Number("b/s"), "Goodput of all flows together."),
    key("goodput_ratio", Number("1"), "Goodput over `ideal_bps`."),
    key(
        "ideal_bps",
        Number("b/s"),
        "Max–min fair payload rates of all flows together, with every overhead counted.",
    ),
    key(
        "fairness_mean_deviation",
        Number("1"),
        "1 minus the mean relative deviation from the mean goodput (study 000, eq. 2).",
    ),
    key(
        "fairness_jain",
        Number("1"),
        "Jain's index of the rates of circuits beyond their guaranteed minimum (study 003, eq. 5).",
    ),
    key("difference", Number("1"), "(Largest − smallest) / mean goodput of the flows (study 003, eq. 6)."),
    key(
        "retransmission_ratio",
        Number("1"),
        "Retransmitted over sent segments of all TCP flows; null without one.",
    ),
    key("weighted_deviation", Number("1"), "Largest deviation of a circuit's `weighted_share` from 1."),
    key(
        "goodput_drift",
        Number("1"),
        "Goodput in the second half of the measured time minus that in the first, over the mean of both: near 0 in a steady state; of flows whose sources do not stop by themselves.",
    ),
    if_so(
        "flows_in_slow_start",
        Count,
        WITH_GREEDY,
        "Such flows that were still in their first slow start when the measured time began: without a warm-up, all of them.",
    ),
    if_so("delivery_time_min_s", Number("s"), WITH_DELIVERY, "As for a flow, over the packets of all flows."),
    if_so("delivery_time_p50_s", Number("s"), WITH_DELIVERY, "As for a flow, over the packets of all flows."),
    if_so("delivery_time_p95_s", Number("s"), WITH_DELIVERY, "As for a flow, over the packets of all flows."),
    if_so("delivery_time_p99_s", Number("s"), WITH_DELIVERY, "As for a flow, over the packets of all flows."),
    if_so("delivery_time_max_s", Number("s"), WITH_DELIVERY, "As for a flow, over the packets of all flows."),
    if_so("transfers", Count, WITH_FILES, "Files that ended."),
    if_so("transfers_unfinished", Count, WITH_FILES, "Files that had not ended at the end of the run."),
    if_so(
        "transfer_age_max_s",
        Number("s"),
        WITH_FILES,
        "Longest age of an unfinished file at the end of the run; null without one.",
    ),
    if_so("transfer_time_mean_s", Number("s"), WITH_FILES, "Mean transfer time of all files that ended."),
    if_so("transfer_time_p50_s", Number("s"), WITH_FILES, "Its median (nearest rank)."),
    if_so("transfer_time_p95_s", Number("s"), WITH_FILES, "Its 95th percentile."),
    if_so("transfer_time_p99_s", Number("s"), WITH_FILES, "Its 99th percentile."),
    if_so("transfer_time_max_s", Number("s"), WITH_FILES, "The longest."),
    if_so(
        "transfer_time_drift",
        Number("1"),
        WITH_FILES,
        "Time of the later half of each flow's files minus that of the earlier half, over the mean of both: near 0 in a steady state.",
    ),
    if_so(
        "fct",
        Table(COMPLETION),
        WITH_DRAWINGS,
        "Transfers that started in the measured time. Slowdown is the time from a transfer's arrival to its last acknowledgement over the shortest time that an empty network allows: every line sends the first packet once it has arrived whole, the others follow at the rate of the slowest line, and the acknowledgement of the last one comes back.",
    ),
    if_so(
        "query",
        Table(QUERY),
        "with answers of sources `query`",
        "Queries that started in the measured time, in seconds from the query to the end of the last answer.",
    ),
    if_so("round_trip_min_s", Number("s"), WITH_TRIPS, TRIPS_OF_ALL),
    if_so("round_trip_mean_s", Number("s"), WITH_TRIPS, TRIPS_OF_ALL),
    if_so("round_trip_p50_s", Number("s"), WITH_TRIPS, TRIPS_OF_ALL),
    if_so("round_trip_p95_s", Number("s"), WITH_TRIPS, TRIPS_OF_ALL),
    if_so("round_trip_p99_s", Number("s"), WITH_TRIPS, TRIPS_OF_ALL),
    if_so("round_trip_max_s", Number("s"), WITH_TRIPS, TRIPS_OF_ALL),
    if_so("rpm", Number("1/min"), WITH_TRIPS, TRIPS_OF_ALL),
    if_so("workload", Table(WORKLOAD), "with a workload", "Its transfers, over the whole run."),
    if_so("packets_sent", Count, WITH_CODE, "As for a flow, summed over all flows."),
    if_so("packets_received", Count, WITH_CODE, "As for a flow, summed over all flows."),
    if_so("packets_recovered", Count, WITH_CODE, "As for a flow, summed over all flows."),
    if_so("packets_lost", Count, WITH_CODE, "As for a flow, summed over all flows."),
    if_so("blocks_whole", Count, WITH_CODE, "As for a flow, summed over all flows."),
    if_so("blocks_lost", Count, WITH_CODE, "As for a flow, summed over all flows."),
    if_so("packet_throughput", Number("1"), WITH_CODE, "As for a flow, summed over all flows."),
    if_so("classes", Entries(CLASS), "with classes", "Every class of flows."),
    if_so(
        "class_fairness",
        Number("1"),
        "with `measure.fairness`",
        "Goodput of one class divided by that of the other, each relative to its fair share.",
    ),
    if_so(
        "effective_throughput",
        Number("1"),
        "with `measure.reference`",
        "Rate of delivered IP packets divided by the rate of the reference line without cell headers.",
    ),
    if_so(
        "throughput_deviation",
        Numbers("1"),
        MEASURED,
        "Standard deviation of the flows' rates divided by their mean, in each window.",
    ),
];

pub(super) const CLASS: &[ReportKey] = &[
    key("name", Text, "Name of the class."),
    key("flows", Count, "Its flows."),
    key("goodput_bps", Number("b/s"), "Their goodput together."),
    key("segments_sent", Count, "As for a flow, all of them together."),
    key("segments_received", Count, "As for a flow, all of them together."),
    key("fairness_mean_deviation", Number("1"), "As in the summary, among them."),
    if_so("effective_throughput", Number("1"), "with `measure.reference`", "As in the summary, of them."),
    if_so(
        "delivery_time_min_s",
        Number("s"),
        WITH_DELIVERY,
        "As for a flow, over the packets of all of them.",
    ),
    if_so(
        "delivery_time_p50_s",
        Number("s"),
        WITH_DELIVERY,
        "As for a flow, over the packets of all of them.",
    ),
    if_so(
        "delivery_time_p95_s",
        Number("s"),
        WITH_DELIVERY,
        "As for a flow, over the packets of all of them.",
    ),
    if_so(
        "delivery_time_p99_s",
        Number("s"),
        WITH_DELIVERY,
        "As for a flow, over the packets of all of them.",
    ),
    if_so(
        "delivery_time_max_s",
        Number("s"),
        WITH_DELIVERY,
        "As for a flow, over the packets of all of them.",
    ),
    if_so("round_trip_min_s", Number("s"), WITH_TRIPS, TRIPS_OF_CLASS),
    if_so("round_trip_mean_s", Number("s"), WITH_TRIPS, TRIPS_OF_CLASS),
    if_so("round_trip_p50_s", Number("s"), WITH_TRIPS, TRIPS_OF_CLASS),
    if_so("round_trip_p95_s", Number("s"), WITH_TRIPS, TRIPS_OF_CLASS),
    if_so("round_trip_p99_s", Number("s"), WITH_TRIPS, TRIPS_OF_CLASS),
    if_so("round_trip_max_s", Number("s"), WITH_TRIPS, TRIPS_OF_CLASS),
    if_so("rpm", Number("1/min"), WITH_TRIPS, TRIPS_OF_CLASS),
];
