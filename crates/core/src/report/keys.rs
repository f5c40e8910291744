//! Every key of the report, with unit and meaning, declared once: the page of the documentation and the JSON Schema
//! are made from this declaration.

use std::fmt::Write;

use serde_json::{Map, Value as Json, json};

use crate::language::docs::GENERATED;
use crate::verdict::Reason;

/// Condition of a key: the scenario has sources whose transfers each have their own connection.
const WITH_DRAWINGS: &str = "with a workload, or sources `arrivals` or `query`";

/// Keys of the completion times of transfers.
const COMPLETION: &[ReportKey] = &[
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
const QUERY: &[ReportKey] = &[
    key("count", Count, "Queries whose answers have all ended."),
    key("mean", Number("s"), "Mean time."),
    key("p50", Number("s"), "Median (nearest rank)."),
    key("p95", Number("s"), "95th percentile."),
    key("p99", Number("s"), "99th percentile."),
    key("p999", Number("s"), "99.9th percentile."),
    key("unfinished", Count, "Queries with an answer that had not ended."),
];

/// Keys of a transfer.
const TRANSFER: &[ReportKey] = &[
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
const WORKLOAD: &[ReportKey] = &[
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

/// A key of a table in the report.
struct ReportKey {
    name: &'static str,
    holds: Holds,
    /// Condition under which the report has the key; empty if it always has it.
    when: &'static str,
    doc: &'static str,
}

/// The type of a value.
enum Holds {
    /// A word or a name.
    Text,
    /// True or false, the same in all replications.
    Flag,
    /// A whole number, the same in all replications.
    Whole,
    /// A number, the same in all replications.
    Fixed(&'static str),
    /// A whole number from a count.
    Count,
    /// A measured number in this unit; null without a measurement.
    Number(&'static str),
    /// A list of measured numbers in this unit; null without a measurement.
    Numbers(&'static str),
    /// A list of texts.
    Texts,
    /// A list of whole numbers.
    Wholes,
    /// A count for each reason for which a unit was lost or marked.
    Reasons,
    /// A list of counts for each reason, each under the name of the reason.
    ListsByReason,
    /// A nested table.
    Table(&'static [ReportKey]),
    /// A list of tables, each with a name.
    Entries(&'static [ReportKey]),
    /// A list of tables without names.
    Rows(&'static [ReportKey]),
}

use Holds::{
    Count, Entries, Fixed, Flag, ListsByReason, Number, Numbers, Reasons, Rows, Table, Text, Texts, Whole,
    Wholes,
};

const fn key(name: &'static str, holds: Holds, doc: &'static str) -> ReportKey {
    ReportKey { name, holds, when: "", doc }
}

const fn if_so(name: &'static str, holds: Holds, when: &'static str, doc: &'static str) -> ReportKey {
    ReportKey { name, holds, when, doc }
}

const WITH_CODE: &str = "with a code";
const WITH_SACK: &str = "with `sack` at the transport";
const WITH_ECN: &str = "with `ecn` at the transport";
const WITH_FILES: &str = "with files";
const WITH_GREEDY: &str = "with greedy TCP flows";
const WITH_DELIVERY: &str = "with `measure.delivery`";
const WITH_SOJOURN: &str = "with `measure.sojourn`";
const WITH_TRIPS: &str = "with `measure.delivery` and TCP";
const SAMPLED: &str = "with a limited buffer";
const MEASURED: &str = "with `measure.window`";

const RUN: &[ReportKey] = &[
    key("scenario", Text, "Name of the scenario."),
    key("seed", Whole, "Seed of the run; with several replications, the first seed."),
    if_so("seeds", Wholes, "with several replications", "Their seeds."),
    key("duration_s", Fixed("s"), "Simulated time."),
    key("warmup_s", Fixed("s"), "Initial period excluded from all figures."),
    key("engine", Table(ENGINE), "The engine that ran, its version and its work."),
    key("warnings", Rows(WARNING), "Reasons why the scenario or the figures of the run may mislead."),
    key("flows", Entries(FLOW), "Every flow."),
    key("ports", Entries(PORT), "Every port, in the order of the output lines."),
    if_so(
        "memories",
        Entries(MEMORY),
        "with memories",
        "Every memory that ports share, or every partition of it.",
    ),
    key("circuits", Entries(CIRCUIT), "Every circuit, those of acknowledgements included."),
    if_so(
        "transfers",
        Rows(TRANSFER),
        "with `measure.transfers` and a workload, or sources `arrivals` or `query`",
        "Every transfer of the workload, or that such a source has drawn; of several replications one after the other.",
    ),
    key("summary", Table(SUMMARY), "All flows together."),
    if_so("audit", Table(AUDIT), "with `--audit`", "Result of the audit."),
];

const ENGINE: &[ReportKey] = &[
    key("name", Text, "Which engine ran: `fast` or `reference`."),
    key("version", Text, "Version of the simulator."),
    key("cell_hops", Count, "Cells whose transmission on a line has started, counted on every line."),
    key("packet_hops", Count, "Packets whose transmission on a line has started, counted on every line."),
    key("events", Count, "Events that the kernel has handled."),
    key("draws", Flag, "Whether a random number was drawn. If not, every seed gives this result."),
    key("wall_s", Number("s"), "Wall-clock time of the event loop."),
];

const WARNING: &[ReportKey] = &[
    key("code", Text, "Stable identifier, such as `equal-routes`."),
    key("message", Text, "The warning and its remedy."),
];

const DELIVERED_HALF: &str =
    "Their median: a time that half of them do not exceed (nearest rank, at most a 128th too long).";

const FLOW: &[ReportKey] = &[
    key("name", Text, "Name of the flow."),
    if_so("class", Text, "with a class", "Class of the flow."),
    key("vc", Whole, "Number of the circuit that carries its data, in the list of circuits."),
    key(
        "goodput_bps",
        Number("b/s"),
        "Rate of payload delivered to the application, in order and each octet once.",
    ),
    key("segments_sent", Count, "Segments with data, datagrams or cells sent, retransmissions included."),
    key("segments_retransmitted", Count, "Segments sent again."),
    key("segments_received", Count, "Segments with data, datagrams or cells received, duplicates included."),
    if_so("segments_marked", Count, WITH_ECN, "Received segments that carried a congestion mark (CE)."),
    if_so(
        "mark_reactions",
        Count,
        WITH_ECN,
        "Window reductions of the sender in response to marks, at most one per round trip.",
    ),
    if_so(
        "segments_found_lost",
        Count,
        WITH_SACK,
        "Segments that the sender declared lost by selective acknowledgements or by their age, without a timeout.",
    ),
    if_so("tail_loss_probes", Count, WITH_SACK, "Tail-loss probes sent."),
    key("timeouts", Count, "Expirations of the retransmission timer."),
    key("fast_retransmits", Count, "Fast retransmissions."),
    key("transfers", Count, "Files whose last octet has been acknowledged."),
    if_so(
        "transfer_time_mean_s",
        Number("s"),
        WITH_FILES,
        "Mean time from the request of a file to the acknowledgement of its last octet.",
    ),
    if_so("transfer_time_max_s", Number("s"), WITH_FILES, "The longest such time."),
    if_so(
        "transfer_times_s",
        Numbers("s"),
        "with `measure.transfers`",
        "Every such time, in the order in which the files ended; of several replications one list with those of all.",
    ),
    key(
        "delivery_time_mean_s",
        Number("s"),
        "Mean time from the first sending of a segment to its delivery in order to the receiving application, of one segment in 13, with `measure.delivery` of every one; of datagrams, to their arrival.",
    ),
    key("delivery_time_sd_s", Number("s"), "Standard deviation of these times."),
    if_so("delivery_time_min_s", Number("s"), WITH_DELIVERY, "The shortest of them."),
    if_so("delivery_time_p50_s", Number("s"), WITH_DELIVERY, DELIVERED_HALF),
    if_so("delivery_time_p95_s", Number("s"), WITH_DELIVERY, "Their 95th percentile."),
    if_so("delivery_time_p99_s", Number("s"), WITH_DELIVERY, "Their 99th percentile."),
    if_so("delivery_time_max_s", Number("s"), WITH_DELIVERY, "The longest of them."),
    if_so(
        "round_trip_min_s",
        Number("s"),
        WITH_TRIPS,
        "The shortest round trip that the sender measured: of every ACK with timestamps, otherwise of one segment at a time.",
    ),
    if_so("round_trip_mean_s", Number("s"), WITH_TRIPS, "The mean of these round trips."),
    if_so(
        "round_trip_p50_s",
        Number("s"),
        WITH_TRIPS,
        "Their median (nearest rank, at most a 128th too long).",
    ),
    if_so("round_trip_p95_s", Number("s"), WITH_TRIPS, "Their 95th percentile."),
    if_so("round_trip_p99_s", Number("s"), WITH_TRIPS, "Their 99th percentile."),
    if_so("round_trip_max_s", Number("s"), WITH_TRIPS, "The longest of them."),
    if_so(
        "rpm",
        Number("1/min"),
        WITH_TRIPS,
        "Round trips per minute under the load of the run, 60 s over their mean: the unit of responsiveness (draft-ietf-ippm-responsiveness).",
    ),
    if_so("packets_sent", Count, WITH_CODE, "Packets of data sent, without parity."),
    if_so(
        "packets_received",
        Count,
        WITH_CODE,
        "Packets of data that arrived, counted over blocks that are complete or given up.",
    ),
    if_so("packets_recovered", Count, WITH_CODE, "Packets of data that were lost and restored."),
    if_so("packets_lost", Count, WITH_CODE, "Packets of data that are missing after decoding."),
    if_so("blocks_whole", Count, WITH_CODE, "Blocks of which all data were received or restored."),
    if_so("blocks_lost", Count, WITH_CODE, "Blocks with data missing."),
    if_so(
        "packet_throughput",
        Number("1"),
        WITH_CODE,
        "Share of the packets of data that was received or restored.",
    ),
    if_so("throughput", Table(THROUGHPUT), MEASURED, "Throughput over time."),
    if_so(
        "cwnd",
        Table(CWND),
        "with `measure.cwnd`",
        "Congestion window over time, without inflation in fast recovery.",
    ),
    if_so("state", Table(FLOW_STATE), WITH_STATE, "State of its congestion control over time."),
];

const WITH_STATE: &str = "with `measure.state`";

const FLOW_STATE: &[ReportKey] = &[
    key("start_s", Number("s"), "Time of the first sample."),
    key("step_s", Number("s"), "Interval between samples."),
    key("figures", Entries(FLOW_FIGURE), "The figures that its congestion control keeps."),
];

const FLOW_FIGURE: &[ReportKey] = &[
    key("name", Text, "Name of the figure: `alpha` of DCTCP, `w_max` of CUBIC in segments."),
    key("values", Numbers("1"), "Its value at each sample."),
];

const PORT_STATE: &[ReportKey] = &[
    key("start_s", Number("s"), "Time of the first sample."),
    key("step_s", Number("s"), "Interval between samples."),
    key("figures", Entries(PORT_FIGURE), "The figures that the port keeps."),
];

const PORT_FIGURE: &[ReportKey] = &[
    key(
        "name",
        Text,
        "Name of the figure: `average` and `max_p` of RED, `probability` of PIE and PI2, `count` and `dropping` of CoDel, `deficit` of DRR and fair queues in octets, `credits` and `credits_in_use` of lines with credits; of a program those of its `trace`.",
    ),
    if_so(
        "queue",
        Count,
        "of a figure that each queue has",
        "Number of the queue at the port; for credits, that of the account.",
    ),
    key("values", Numbers("1"), "Its value at each sample."),
];

const CWND: &[ReportKey] = &[
    key("start_s", Number("s"), "Time of the first sample."),
    key("step_s", Number("s"), "Interval between samples."),
    key("octets", Numbers("octets"), "Congestion window at each sample."),
];

const THROUGHPUT: &[ReportKey] = &[
    key("start_s", Number("s"), "Start of the first window."),
    key("step_s", Number("s"), "Interval between the starts of windows."),
    key("window_s", Number("s"), "Length of a window."),
    key("bps", Numbers("b/s"), "Rate of payload delivered to the application in each window."),
];

const TRIPS_OF_ALL: &str = "As for a flow, over the round trips that all senders measured.";
const TRIPS_OF_CLASS: &str = "As for a flow, over the round trips that all of its senders measured.";

const SAMPLED_HALF: &str = "Median of the sampled occupancies: half of them are no higher (nearest rank, at most a 128th too high); null of fewer than a thousand.";

const PORT: &[ReportKey] = &[
    key("name", Text, "Name of the port, the same as that of its output line."),
    key("units_in", Count, "Cells or packets that arrived, or were in the buffer when the warm-up ended."),
    key("units_out", Count, "Cells or packets whose last bit was sent."),
    key("octets_out", Count, "Their octets, headers and padding included."),
    key("units_queued", Count, "Cells or packets in the buffer at the end, the one on the line included."),
    key("units_given_up", Count, "Lost cells or packets that had been accepted into the buffer before."),
    key("octets_given_up", Count, "Their octets, headers and padding included."),
    key("lost", Reasons, "Cells or packets lost, by reason; an absent reason counts 0."),
    if_so(
        "marked",
        Reasons,
        "with marked units",
        "Cells or packets marked instead of lost, by reason; an absent reason counts 0.",
    ),
    key("frames_in", Count, "Frames whose first cell arrived."),
    key("frames_whole_out", Count, "Frames of which every unit was sent."),
    key(
        "credit_cells",
        Count,
        "Credit cells, or with `cbfc` messages, sent for the line in the opposite direction.",
    ),
    key(
        "credit_room",
        Count,
        "The most cells, or with `cbfc` credits, that all circuits together may have behind the line; 0 without credits.",
    ),
    key(
        "occupancy_mean",
        Number("`occupancy_unit`"),
        "Mean occupancy of the buffer over time, the unit on the line included.",
    ),
    key("occupancy_max", Count, "Largest occupancy."),
    key("occupancy_unit", Text, "Unit of the occupancy: `cells`, `packets`, `bytes` or `memory cells`."),
    if_so("trimmed", Count, "if there were any", "Packets cut to their headers instead of being lost."),
    if_so(
        "paused_s",
        Number("s"),
        "if it can be paused",
        "Time in which pause frames kept a class from being sent.",
    ),
    if_so(
        "storms_detected",
        Count,
        "with a watchdog",
        "Times that its watchdog found a class paused for too long.",
    ),
    if_so(
        "storms_restored",
        Count,
        "with a watchdog",
        "Times that such a class had not been paused for long enough.",
    ),
    if_so(
        "pause_frames",
        Count,
        "if there were any",
        "Pause frames sent on the line, for the other direction.",
    ),
    if_so(
        "lossless_drop",
        Count,
        "if there were any",
        "Lost packets of classes that pause: an error of the scenario.",
    ),
    if_so("occupancy_p50", Number("`occupancy_unit`"), SAMPLED, SAMPLED_HALF),
    if_so("occupancy_p95", Number("`occupancy_unit`"), SAMPLED, "Their 95th percentile."),
    if_so("occupancy_p99", Number("`occupancy_unit`"), SAMPLED, "Their 99th percentile."),
    if_so(
        "sojourn_mean_s",
        Number("s"),
        WITH_SOJOURN,
        "Mean sojourn time of the units that were sent: from their arrival until their transmission began; headers of cut packets do not count.",
    ),
    if_so(
        "sojourn_p50_s",
        Number("s"),
        WITH_SOJOURN,
        "Their median (nearest rank, at most a 128th too long).",
    ),
    if_so("sojourn_p95_s", Number("s"), WITH_SOJOURN, "Their 95th percentile."),
    if_so("sojourn_p99_s", Number("s"), WITH_SOJOURN, "Their 99th percentile."),
    if_so("sojourn_p999_s", Number("s"), WITH_SOJOURN, "Their percentile 99.9."),
    if_so("sojourn_max_s", Number("s"), WITH_SOJOURN, "The longest of them."),
    key("occupancy_distribution", Table(DISTRIBUTION), "Sampled distribution of the occupancy."),
    if_so("occupancy", Table(OCCUPANCY), "with `measure.occupancy`", "Occupancy over time."),
    if_so("losses", Table(LOSSES), "with `measure.losses`", "Losses over time."),
    if_so("marks", Table(LOSSES), "with `measure.marks`", "Marks over time."),
    if_so("pauses", Table(PAUSES), "with `measure.pauses`", "Pauses over time."),
    if_so("state", Table(PORT_STATE), WITH_STATE, "State of its policies and credits over time."),
    if_so(
        "meter",
        Table(METER),
        "with `measure.meter`",
        "Rates and shares that a policy with a meter measured, over time.",
    ),
];

const MEMORY: &[ReportKey] = &[
    key(
        "name",
        Text,
        "Name of the memory; `NAME@NODE` if several nodes have one, and `/1`, `/2` … for partitions.",
    ),
    key("node", Text, "Node whose ports share it."),
    key("cells", Whole, "Its cells."),
    key("cell_octets", Whole, "Octets of a cell."),
    key("occupancy_mean", Number("cells"), "Mean occupancy over time."),
    key("occupancy_max", Count, "Largest occupancy, in cells."),
    if_so("occupancy", Table(CELLS), "with `measure.memories`", "Occupancy over time."),
    key("pools", Entries(POOL), "Its pools."),
    key("queues", Entries(QUEUE), "Its queues: each counts in one pool."),
];

const POOL: &[ReportKey] = &[
    key("name", Text, "Name of the pool."),
    key("side", Text, "Where it counts: `ingress` or `egress`."),
    key("shared", Whole, "Its shared room in cells: what reserved room and headroom leave."),
    key("headroom", Whole, "Its headroom in cells."),
    key("occupancy_mean", Number("cells"), "Mean use of the shared room over time."),
    key("occupancy_max", Count, "Largest use of the shared room, in cells."),
    key("headroom_max", Count, "Largest use of the headroom, in cells."),
];

const QUEUE: &[ReportKey] = &[
    key("name", Text, "`PORT/CLASS`."),
    key("port", Text, "Its port, or in a pool of the ingress side the line over which its packets come."),
    key("queue", Text, "Its class; `all` where a scenario has no classes."),
    key("pool", Text, "Its pool."),
    key("occupancy_mean", Number("cells"), "Mean occupancy over time, reserved room and headroom included."),
    key("occupancy_max", Count, "Largest occupancy, in cells."),
    key(
        "threshold_min",
        Number("cells"),
        "Lowest threshold of its policy that an arriving packet met; null without one.",
    ),
    key("headroom_max", Count, "Largest use of headroom, in cells."),
    key("dropped", Count, "Packets of the queue lost at the port, without those lost at policers."),
    key("marked", Count, "Its packets marked at the port."),
    if_so("trimmed", Count, "if there were any", "Its packets cut to their headers at the port."),
    key(
        "pushed_out_octets",
        Count,
        "Octets of its packets that were pushed out: they had crossed other links in vain.",
    ),
    if_so("occupancy", Table(CELLS), "with `measure.memories`", "What it held over time."),
    if_so(
        "threshold",
        Table(CELLS),
        "with `measure.memories`",
        "Threshold of its policy over time; null where there is none.",
    ),
];

const CELLS: &[ReportKey] = &[
    key("start_s", Number("s"), "Time of the first sample."),
    key("step_s", Number("s"), "Interval between samples."),
    key("values", Numbers("cells"), "Value at each sample."),
];

const DISTRIBUTION: &[ReportKey] = &[
    key("bin", Whole, "Width of a bin, in `occupancy_unit`."),
    key("share", Numbers("1"), "Share of the samples in each bin, from an empty buffer on."),
];

const OCCUPANCY: &[ReportKey] = &[
    key("start_s", Number("s"), "Time of the first sample."),
    key("step_s", Number("s"), "Interval between samples."),
    key("values", Numbers("`occupancy_unit`"), "Occupancy at each sample."),
];

const LOSSES: &[ReportKey] = &[
    key("start_s", Number("s"), "Start of the first interval."),
    key("step_s", Number("s"), "Length of an interval."),
    key("units", ListsByReason, "Cells or packets lost or marked in each interval: a list for every reason."),
];

const PAUSES: &[ReportKey] = &[
    key("start_s", Number("s"), "Start of the first interval."),
    key("step_s", Number("s"), "Length of an interval."),
    key("classes", Entries(PAUSED), "The classes that can be stopped at the port."),
];

const PAUSED: &[ReportKey] = &[
    key("name", Text, "Name of the class."),
    key("share", Numbers("1"), "Share of each interval in which the class was stopped."),
];

const METER: &[ReportKey] = &[
    key("start_s", Number("s"), "Time of the first sample."),
    key("step_s", Number("s"), "Interval between samples."),
    key("circuits", Entries(METERED), "The circuits through the port."),
];

const METERED: &[ReportKey] = &[
    key("name", Text, "Name of the circuit."),
    key("bps", Numbers("b/s"), "Measured rate of its accepted units."),
    key(
        "part_bps",
        Numbers("b/s"),
        "Its share of the rate available to the circuits that exceed their shares.",
    ),
    key("granted_bps", Numbers("b/s"), "Rate granted to it."),
    key("refusal", Numbers("1"), "Probability with which its frames were refused."),
];

const CIRCUIT: &[ReportKey] = &[
    key("name", Text, "Name of the circuit."),
    key(
        "goodput_bps",
        Number("b/s"),
        "Goodput of its flows together; 0 if it only carries acknowledgements.",
    ),
    key(
        "weighted_share",
        Number("1"),
        "Its goodput divided by its weighted share of all goodput; null without data.",
    ),
    key("frames_whole", Count, "Frames that arrived whole."),
    key("frames_wrong_length", Count, "Frames whose length differs from that in their trailer."),
    key("frames_wrong_crc", Count, "Frames of the right length that contain parts of other frames."),
];

const SUMMARY: &[ReportKey] = &[
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

const CLASS: &[ReportKey] = &[
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

const AUDIT: &[ReportKey] = &[
    key("checks", Whole, "Equations that were checked."),
    key("failures", Texts, "Those that do not hold."),
];

/// Return the documentation's page about results.
pub fn page() -> String {
    let mut text = "# Results\n\n\
        What `pushout run --json` prints, `pushout.run` gives as `document`, and paths such as \
        `flows.flow3.goodput_bps` lead to. Of several replications every number that was measured is \
        `{ mean, ci95, n }`. [Measures](concepts/measures.md) says what the important ones mean; \
        `schema/result.schema.json` is this page for programs.\n"
        .to_string();
    section(&mut text, "A run", RUN);
    text.push_str(GENERATED);
    text
}

/// Return when a report has the key `name`, for the kind of entry whose present keys are `names`; `None` if it
/// always has it, or never.
pub(super) fn when(name: &str, names: &[&str]) -> Option<&'static str> {
    let is_of = |keys: &[ReportKey]| keys.iter().all(|key| !key.when.is_empty() || names.contains(&key.name));
    let keys = [FLOW, PORT, CIRCUIT, SUMMARY, CLASS].into_iter().find(|keys| is_of(keys))?;
    keys.iter().find(|key| key.name == name && !key.when.is_empty()).map(|key| key.when)
}

fn section(text: &mut String, title: &str, keys: &[ReportKey]) {
    write!(text, "\n## {title}\n\n| key | unit | meaning |\n|---|---|---|\n").expect("a text takes text");
    for ReportKey { name, holds, when, doc } in keys {
        let when = if when.is_empty() { String::new() } else { format!(" Only {when}.") };
        writeln!(text, "| `{name}` | {} | {doc}{when} |", holds.unit()).expect("a text takes text");
    }
    for ReportKey { name, holds, .. } in keys {
        if let Table(below) | Entries(below) | Rows(below) = holds {
            let path = if title == "A run" {
                (*name).to_string()
            } else {
                format!("{}.{name}", title.trim_matches('`'))
            };
            section(text, &format!("`{path}`"), below);
        }
    }
}

impl Holds {
    /// Return the unit of a number, or the type of another value.
    fn unit(&self) -> &'static str {
        match self {
            Text => "text",
            Flag => "true or false",
            Whole | Count => "count",
            Reasons => "counts",
            ListsByReason => "lists of counts",
            Fixed(unit) | Number(unit) => unit,
            Numbers("1") => "list",
            Numbers("b/s") => "list, b/s",
            Numbers("s") => "list, s",
            Numbers("octets") => "list, octets",
            Numbers("cells") => "list, cells",
            Numbers(_) => "list, `occupancy_unit`",
            Texts | Wholes | Rows(_) => "list",
            Table(_) => "table",
            Entries(_) => "list by name",
        }
    }

    fn schema(&self) -> Json {
        match self {
            Text => json!({ "type": "string" }),
            Flag => json!({ "type": "boolean" }),
            Whole => json!({ "type": "integer", "minimum": 0 }),
            Fixed(_) => json!({ "type": "number" }),
            Count => json!({ "$ref": "#/$defs/count" }),
            Number(_) => json!({ "$ref": "#/$defs/number" }),
            Numbers(_) => json!({ "type": "array", "items": { "$ref": "#/$defs/number" } }),
            Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Wholes => json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
            Reasons => by_reason(&json!({ "$ref": "#/$defs/count" })),
            ListsByReason => by_reason(&json!({ "type": "array", "items": { "$ref": "#/$defs/count" } })),
            Table(keys) => object(keys),
            Entries(keys) | Rows(keys) => json!({ "type": "array", "items": object(keys) }),
        }
    }
}

/// Return the schema of a table with such an entry for each reason that occurred.
fn by_reason(entry: &Json) -> Json {
    let reasons: Map<String, Json> =
        Reason::ALL.into_iter().map(|reason| (reason.word().to_string(), entry.clone())).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": reasons })
}

fn object(keys: &[ReportKey]) -> Json {
    let property = |key: &ReportKey| {
        let mut schema = key.holds.schema();
        schema["description"] = key.doc.into();
        (key.name.to_string(), schema)
    };
    let properties: Map<String, Json> = keys.iter().map(property).collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.when.is_empty()).map(|key| key.name).collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// Return the JSON Schema (2020-12) of a run's report, of one replication or of several.
pub fn schema() -> Json {
    let interval = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["mean", "ci95", "n"],
        "properties": {
            "mean": { "type": "number" },
            "ci95": { "type": ["array", "null"], "items": { "type": "number" }, "minItems": 2, "maxItems": 2 },
            "n": { "type": "integer", "minimum": 1 },
        },
    });
    let mut schema = object(RUN);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "Pushout result".into();
    schema["description"] = "What a run measured.".into();
    schema["$defs"] = json!({
        "interval": interval,
        "count": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "$ref": "#/$defs/interval" }] },
        "number": { "anyOf": [{ "type": ["number", "null"] }, { "$ref": "#/$defs/interval" }] },
    });
    schema
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::report::{Listing, Report};
    use crate::scenario::Warning;
    use crate::{audit, engine, scenario};

    /// Check a report against the keys, and record which keys occurred.
    fn compare(path: &str, node: &Json, keys: &[ReportKey], seen: &mut BTreeSet<String>) {
        let table = node.as_object().unwrap_or_else(|| panic!("{path} is no table"));
        for name in table.keys() {
            assert!(keys.iter().any(|key| key.name == name), "{path}.{name} is not declared");
        }
        for ReportKey { name, holds, when, .. } in keys {
            let at = format!("{path}.{name}");
            let Some(value) = table.get(*name) else {
                assert!(!when.is_empty(), "{at} is missing");
                continue;
            };
            seen.insert(at.clone());
            let list = || value.as_array().unwrap_or_else(|| panic!("{at} is no list"));
            let right = match holds {
                Text => value.is_string(),
                Flag => value.is_boolean(),
                Whole | Count => value.is_u64(),
                Fixed(_) => value.is_number(),
                Number(_) => value.is_number() || value.is_null(),
                Numbers(_) => list().iter().all(|value| value.is_number() || value.is_null()),
                Texts => list().iter().all(Json::is_string),
                Wholes => list().iter().all(Json::is_u64),
                Reasons => value.as_object().unwrap().values().all(Json::is_u64),
                ListsByReason => {
                    let lists = || value.as_object().unwrap().values().filter_map(Json::as_array);
                    lists().count() == Reason::ALL.len() && lists().flatten().all(Json::is_u64)
                }
                Table(below) => {
                    compare(&at, value, below, seen);
                    true
                }
                Entries(below) | Rows(below) => {
                    list().iter().for_each(|entry| compare(&at, entry, below, seen));
                    true
                }
            };
            assert!(right, "{at} is {value}");
        }
    }

    fn every(path: &str, keys: &[ReportKey], all: &mut BTreeSet<String>) {
        for ReportKey { name, holds, .. } in keys {
            let at = format!("{path}.{name}");
            all.insert(at.clone());
            if let Table(below) | Entries(below) | Rows(below) = holds {
                every(&at, below, all);
            }
        }
    }

    #[test]
    fn a_report_holds_what_is_declared_and_nothing_else() {
        let texts = [
            (
                include_str!("../../../../scenarios/lan.toml"),
                vec!["measure.cwnd=[\"flow1\"]".to_string(), "measure.transfers=true".to_string()],
            ),
            (include_str!("../../../../scenarios/gpj.toml"), vec![]),
            (
                include_str!("../../../../scenarios/lan.toml"),
                vec![
                    "port.bottleneck={ memory = \"chip\" }".to_string(),
                    "memory.chip={ size = \"500 cells\" }".to_string(),
                    "measure.memories=[\"chip\"]".to_string(),
                ],
            ),
            (
                include_str!("../../../../scenarios/lan.toml"),
                vec![
                    "port.bottleneck.admission={ policy = \"probe\", mark_from = \"0 cells\" }".to_string(),
                    "flows.transport.ecn=true".to_string(),
                    "flows.transport.sack=true".to_string(),
                ],
            ),
            (
                include_str!("../../../../scenarios/w1-packet.toml"),
                vec![
                    "port.bottleneck.buffer=\"20 packets\"".to_string(),
                    "port.bottleneck.admission={ policy = \"step\", threshold = \"5 packets\", action = \"trim\" }"
                        .to_string(),
                    "flows.transport.initial_window=20".to_string(),
                ],
            ),
            (
                include_str!("../../../../scenarios/w1-packet.toml"),
                vec![
                    "storm=[{ port = \"bottleneck\", from = \"1 ms\", to = \"2 ms\" }]".to_string(),
                    "port.bottleneck={ memory = \"chip\", watchdog = { detect = \"1 s\", restore = \"1 s\" } }".to_string(),
                    "memory.chip={ size = \"20 cells\", cell = \"1500 bytes\" }".to_string(),
                    "queue.data={ trim = {}, limit = \"2 cells\" }".to_string(),
                    "flows.transport.initial_window=20".to_string(),
                ],
            ),
            (
                include_str!("../../../../scenarios/multi-hop.toml"),
                ["measure.delivery=true", "measure.sojourn=[\"a\"]", "measure.marks=[\"a\"]"].map(str::to_string).to_vec(),
            ),
            (
                include_str!("../../../../scenarios/w1-packet.toml"),
                vec![
                    "flows.transport.ecn=true".to_string(),
                    "flows.transport.congestion=\"dctcp\"".to_string(),
                    "port.bottleneck.admission={ policy = \"pie\" }".to_string(),
                    "measure.state=[\"bottleneck\", \"flow1\"]".to_string(),
                ],
            ),
            (
                include_str!("../../../../scenarios/wfepd-example.toml"),
                vec![
                    "measure.window=\"20 ms\"".to_string(),
                    "measure.occupancy=[\"bottleneck\"]".to_string(),
                    "measure.losses=[\"bottleneck\"]".to_string(),
                ],
            ),
        ];
        let fabric = r#"
name = "drawn"
duration = "1 s"
adaptation = { kind = "packet" }
topology = { template = "leaf-spine", leaves = 2, spines = 1, hosts = 2, host = { rate = "1 Gb/s", delay = "1 us" }, fabric = { rate = "1 Gb/s", delay = "1 us" } }
measure = { transfers = true, pauses = ["host1->leaf1"] }
port = { default = { memory = "chip" } }
[memory.chip]
size = "1 MB"
pool = { in = { side = "ingress" } }
[queue.rdma]
limit = "30 cells"
pause = { xoff = "1 cell" }
[flows]
source = { kind = "arrivals", sizes = "hadoop", load = "20 %", to = "any" }
transport = { kind = "tcp" }
[[flow]]
name = "flow1"
source = { kind = "query", fan_in = 2, size = "10 kB", rate = "500 per s" }
"#;
        let listed = r#"
name = "listed"
duration = "1 s"
adaptation = { kind = "packet" }
topology = { template = "leaf-spine", leaves = 2, spines = 1, hosts = 2, host = { rate = "1 Gb/s", delay = "1 us" }, fabric = { rate = "1 Gb/s", delay = "1 us" } }
flows = { transport = { kind = "tcp" } }
workload = { kind = "list", data = "from,to,bytes,start,name,after\n0,1,9,0,a,\n1,2,9,0,b,a\n" }
"#;
        let texts = texts.into_iter().chain([(fabric, vec![]), (listed, vec![])]);
        let mut seen = BTreeSet::from([".seeds".to_string()]); // which a single run does not have
        for (text, mut sets) in texts {
            sets.extend(["duration=\"50 ms\"", "warmup=\"0 s\"", "sample=\"50 us\""].map(str::to_string));
            let scenario = scenario::load(text, "a scenario", &sets).unwrap();
            let outcome = engine::run(&scenario, true);
            let audit = audit::audit(&scenario, &outcome);
            let warnings = [Warning { code: "equal-routes", message: "2 equally short routes".to_string() }];
            let (scenario, outcome, warnings, audit) = (&scenario, &outcome, &warnings[..], Some(&audit));
            let report = Report { scenario, outcome, warnings, audit, wall_s: None, listing: Listing::All };
            compare("", &report.document(), RUN, &mut seen);
        }
        let mut all = BTreeSet::new();
        every("", RUN, &mut all);
        assert_eq!(
            all.difference(&seen).collect::<Vec<_>>(),
            Vec::<&String>::new(),
            "declared, but never there"
        );
    }
}
