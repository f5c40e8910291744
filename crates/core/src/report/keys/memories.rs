//! Keys of memories that ports share.

use super::Holds::{Count, Entries, Number, Numbers, Table, Text, Whole};
use super::{ReportKey, if_so, key};

pub(super) const MEMORY: &[ReportKey] = &[
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
