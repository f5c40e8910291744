//! Keys of flows and of their circuits.

use super::Holds::{Count, Entries, Number, Numbers, Table, Text, Whole};
use super::{MEASURED, ReportKey, WITH_CODE, WITH_DELIVERY, WITH_FILES, WITH_STATE, WITH_TRIPS, if_so, key};

const WITH_ECN: &str = "with `ecn` at the transport";
const WITH_SACK: &str = "with `sack` at the transport";
const DELIVERED_HALF: &str =
    "Their median: a time that half of them do not exceed (nearest rank, at most a 128th too long).";

pub(super) const FLOW: &[ReportKey] = &[
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

const FLOW_STATE: &[ReportKey] = &[
    key("start_s", Number("s"), "Time of the first sample."),
    key("step_s", Number("s"), "Interval between samples."),
    key("figures", Entries(FLOW_FIGURE), "The figures that its congestion control keeps."),
];

const FLOW_FIGURE: &[ReportKey] = &[
    key("name", Text, "Name of the figure: `alpha` of DCTCP, `w_max` of CUBIC in segments."),
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

pub(super) const CIRCUIT: &[ReportKey] = &[
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
