//! Keys of ports.

use super::Holds::{Count, Entries, ListsByReason, Number, Numbers, Reasons, Table, Text, Whole};
use super::{ReportKey, WITH_STATE, if_so, key};

const SAMPLED: &str = "with a limited buffer";
const WITH_SOJOURN: &str = "with `measure.sojourn`";
const SAMPLED_HALF: &str = "Median of the sampled occupancies: half of them are no higher (nearest rank, at most a 128th too high); null of fewer than a thousand.";

pub(super) const PORT: &[ReportKey] = &[
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
        "policed_green",
        Count,
        "with a policer",
        "Cells or packets that its policer found within the committed rate.",
    ),
    if_so("policed_yellow", Count, "with a policer", "Those that it found within the excess."),
    if_so("policed_red", Count, "with a policer", "Those that it found beyond both."),
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
    if_so("repeats", Count, "with `repeat` of its link", "Times that the link sent a packet again."),
    if_so(
        "held_back",
        Count,
        "with `[[reorder]]`",
        "Packets that were held back behind the line, by intent.",
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
