"""The tables of a report as types, so that editors and type checkers know their keys.

    from pushout.types import Flow

    flows: list[Flow] = pushout.run("lan").document["flows"]

A number that was measured is an `Interval` in the document of several replications. `docs/result.md` is the same list.
"""

# Generated from the keys of the report: make generate.

from typing import NotRequired, TypedDict

from pushout.stats import Interval
from pushout.warning import Warned

Count = int | Interval
"""A count; of several replications their mean."""

Number = float | None | Interval
"""A measured number; None where nothing was measured."""


class Engine(TypedDict):
    """`engine` of a report."""

    name: str
    """Which engine ran: `fast` or `reference`."""
    version: str
    """Version of the simulator."""
    cell_hops: Count
    """Cells whose transmission on a line has started, counted on every line."""
    packet_hops: Count
    """Packets whose transmission on a line has started, counted on every line."""
    events: Count
    """Events that the kernel has handled."""
    draws: bool
    """Whether a random number was drawn. If not, every seed gives this result."""
    wall_s: Number
    """Wall-clock time of the event loop."""


class FlowThroughput(TypedDict):
    """`flows.throughput` of a report."""

    start_s: Number
    """Start of the first window."""
    step_s: Number
    """Interval between the starts of windows."""
    window_s: Number
    """Length of a window."""
    bps: list[Number]
    """Rate of payload delivered to the application in each window."""


class FlowCwnd(TypedDict):
    """`flows.cwnd` of a report."""

    start_s: Number
    """Time of the first sample."""
    step_s: Number
    """Interval between samples."""
    octets: list[Number]
    """Congestion window at each sample."""


class FlowStateFigure(TypedDict):
    """`flows.state.figures` of a report."""

    name: str
    """Name of the figure: `alpha` of DCTCP, `w_max` of CUBIC in segments."""
    values: list[Number]
    """Its value at each sample."""


class FlowState(TypedDict):
    """`flows.state` of a report."""

    start_s: Number
    """Time of the first sample."""
    step_s: Number
    """Interval between samples."""
    figures: list[FlowStateFigure]
    """The figures that its congestion control keeps."""


_Flow = TypedDict("_Flow", {"class": NotRequired[str]})


class Flow(_Flow):
    """`flows` of a report."""

    name: str
    """Name of the flow."""
    vc: int
    """Number of the circuit that carries its data, in the list of circuits."""
    goodput_bps: Number
    """Rate of payload delivered to the application, in order and each octet once."""
    segments_sent: Count
    """Segments with data, datagrams or cells sent, retransmissions included."""
    segments_retransmitted: Count
    """Segments sent again."""
    segments_received: Count
    """Segments with data, datagrams or cells received, duplicates included."""
    segments_marked: NotRequired[Count]
    """Received segments that carried a congestion mark (CE)."""
    mark_reactions: NotRequired[Count]
    """Window reductions of the sender in response to marks, at most one per round trip."""
    segments_found_lost: NotRequired[Count]
    """Segments that the sender declared lost by selective acknowledgements or by their age, without a timeout."""
    tail_loss_probes: NotRequired[Count]
    """Tail-loss probes sent."""
    timeouts: Count
    """Expirations of the retransmission timer."""
    fast_retransmits: Count
    """Fast retransmissions."""
    transfers: Count
    """Files whose last octet has been acknowledged."""
    transfer_time_mean_s: NotRequired[Number]
    """Mean time from the request of a file to the acknowledgement of its last octet."""
    transfer_time_max_s: NotRequired[Number]
    """The longest such time."""
    transfer_times_s: NotRequired[list[Number]]
    """Every such time, in the order in which the files ended; of several replications one list with those of all."""
    delivery_time_mean_s: Number
    """Mean time from the first sending of a segment to its delivery in order to the receiving application, of one
    segment in 13, with `measure.delivery` of every one; of datagrams, to their arrival."""
    delivery_time_sd_s: Number
    """Standard deviation of these times."""
    delivery_time_min_s: NotRequired[Number]
    """The shortest of them."""
    delivery_time_p50_s: NotRequired[Number]
    """Their median: a time that half of them do not exceed (nearest rank, at most a 128th too long)."""
    delivery_time_p95_s: NotRequired[Number]
    """Their 95th percentile."""
    delivery_time_p99_s: NotRequired[Number]
    """Their 99th percentile."""
    delivery_time_max_s: NotRequired[Number]
    """The longest of them."""
    round_trip_min_s: NotRequired[Number]
    """The shortest round trip that the sender measured: of every ACK with timestamps, otherwise of one segment at a
    time."""
    round_trip_mean_s: NotRequired[Number]
    """The mean of these round trips."""
    round_trip_p50_s: NotRequired[Number]
    """Their median (nearest rank, at most a 128th too long)."""
    round_trip_p95_s: NotRequired[Number]
    """Their 95th percentile."""
    round_trip_p99_s: NotRequired[Number]
    """Their 99th percentile."""
    round_trip_max_s: NotRequired[Number]
    """The longest of them."""
    rpm: NotRequired[Number]
    """Round trips per minute under the load of the run, 60 s over their mean: the unit of responsiveness (draft-ietf-
    ippm-responsiveness)."""
    packets_sent: NotRequired[Count]
    """Packets of data sent, without parity."""
    packets_received: NotRequired[Count]
    """Packets of data that arrived, counted over blocks that are complete or given up."""
    packets_recovered: NotRequired[Count]
    """Packets of data that were lost and restored."""
    packets_lost: NotRequired[Count]
    """Packets of data that are missing after decoding."""
    blocks_whole: NotRequired[Count]
    """Blocks of which all data were received or restored."""
    blocks_lost: NotRequired[Count]
    """Blocks with data missing."""
    packet_throughput: NotRequired[Number]
    """Share of the packets of data that was received or restored."""
    throughput: NotRequired[FlowThroughput]
    """Throughput over time."""
    cwnd: NotRequired[FlowCwnd]
    """Congestion window over time, without inflation in fast recovery."""
    state: NotRequired[FlowState]
    """State of its congestion control over time."""


class PortOccupancyDistribution(TypedDict):
    """`ports.occupancy_distribution` of a report."""

    bin: int
    """Width of a bin, in `occupancy_unit`."""
    share: list[Number]
    """Share of the samples in each bin, from an empty buffer on."""


class PortOccupancy(TypedDict):
    """`ports.occupancy` of a report."""

    start_s: Number
    """Time of the first sample."""
    step_s: Number
    """Interval between samples."""
    values: list[Number]
    """Occupancy at each sample."""


class PortLoss(TypedDict):
    """`ports.losses` and `.marks` of a report."""

    start_s: Number
    """Start of the first interval."""
    step_s: Number
    """Length of an interval."""
    units: dict[str, list[Count]]
    """Cells or packets lost or marked in each interval: a list for every reason."""


class PortPauseClass(TypedDict):
    """`ports.pauses.classes` of a report."""

    name: str
    """Name of the class."""
    share: list[Number]
    """Share of each interval in which the class was stopped."""


class PortPause(TypedDict):
    """`ports.pauses` of a report."""

    start_s: Number
    """Start of the first interval."""
    step_s: Number
    """Length of an interval."""
    classes: list[PortPauseClass]
    """The classes that can be stopped at the port."""


class PortStateFigure(TypedDict):
    """`ports.state.figures` of a report."""

    name: str
    """Name of the figure: `average` and `max_p` of RED, `probability` of PIE and PI2, `count` and `dropping` of CoDel,
    `deficit` of DRR and fair queues in octets, `credits` and `credits_in_use` of lines with credits; of a program those
    of its `trace`."""
    queue: NotRequired[Count]
    """Number of the queue at the port; for credits, that of the account."""
    values: list[Number]
    """Its value at each sample."""


class PortState(TypedDict):
    """`ports.state` of a report."""

    start_s: Number
    """Time of the first sample."""
    step_s: Number
    """Interval between samples."""
    figures: list[PortStateFigure]
    """The figures that the port keeps."""


class PortMeterCircuit(TypedDict):
    """`ports.meter.circuits` of a report."""

    name: str
    """Name of the circuit."""
    bps: list[Number]
    """Measured rate of its accepted units."""
    part_bps: list[Number]
    """Its share of the rate available to the circuits that exceed their shares."""
    granted_bps: list[Number]
    """Rate granted to it."""
    refusal: list[Number]
    """Probability with which its frames were refused."""


class PortMeter(TypedDict):
    """`ports.meter` of a report."""

    start_s: Number
    """Time of the first sample."""
    step_s: Number
    """Interval between samples."""
    circuits: list[PortMeterCircuit]
    """The circuits through the port."""


class Port(TypedDict):
    """`ports` of a report."""

    name: str
    """Name of the port, the same as that of its output line."""
    units_in: Count
    """Cells or packets that arrived, or were in the buffer when the warm-up ended."""
    units_out: Count
    """Cells or packets whose last bit was sent."""
    octets_out: Count
    """Their octets, headers and padding included."""
    units_queued: Count
    """Cells or packets in the buffer at the end, the one on the line included."""
    units_given_up: Count
    """Lost cells or packets that had been accepted into the buffer before."""
    octets_given_up: Count
    """Their octets, headers and padding included."""
    lost: dict[str, Count]
    """Cells or packets lost, by reason; an absent reason counts 0."""
    marked: NotRequired[dict[str, Count]]
    """Cells or packets marked instead of lost, by reason; an absent reason counts 0."""
    frames_in: Count
    """Frames whose first cell arrived."""
    frames_whole_out: Count
    """Frames of which every unit was sent."""
    credit_cells: Count
    """Credit cells, or with `cbfc` messages, sent for the line in the opposite direction."""
    credit_room: Count
    """The most cells, or with `cbfc` credits, that all circuits together may have behind the line; 0 without
    credits."""
    occupancy_mean: Number
    """Mean occupancy of the buffer over time, the unit on the line included."""
    occupancy_max: Count
    """Largest occupancy."""
    occupancy_unit: str
    """Unit of the occupancy: `cells`, `packets`, `bytes` or `memory cells`."""
    trimmed: NotRequired[Count]
    """Packets cut to their headers instead of being lost."""
    paused_s: NotRequired[Number]
    """Time in which pause frames kept a class from being sent."""
    policed_green: NotRequired[Count]
    """Cells or packets that its policer found within the committed rate."""
    policed_yellow: NotRequired[Count]
    """Those that it found within the excess."""
    policed_red: NotRequired[Count]
    """Those that it found beyond both."""
    storms_detected: NotRequired[Count]
    """Times that its watchdog found a class paused for too long."""
    storms_restored: NotRequired[Count]
    """Times that such a class had not been paused for long enough."""
    repeats: NotRequired[Count]
    """Times that the link sent a packet again."""
    held_back: NotRequired[Count]
    """Packets that were held back behind the line, by intent."""
    pause_frames: NotRequired[Count]
    """Pause frames sent on the line, for the other direction."""
    lossless_drop: NotRequired[Count]
    """Lost packets of classes that pause: an error of the scenario."""
    occupancy_p50: NotRequired[Number]
    """Median of the sampled occupancies: half of them are no higher (nearest rank, at most a 128th too high); null of
    fewer than a thousand."""
    occupancy_p95: NotRequired[Number]
    """Their 95th percentile."""
    occupancy_p99: NotRequired[Number]
    """Their 99th percentile."""
    sojourn_mean_s: NotRequired[Number]
    """Mean sojourn time of the units that were sent: from their arrival until their transmission began; headers of cut
    packets do not count."""
    sojourn_p50_s: NotRequired[Number]
    """Their median (nearest rank, at most a 128th too long)."""
    sojourn_p95_s: NotRequired[Number]
    """Their 95th percentile."""
    sojourn_p99_s: NotRequired[Number]
    """Their 99th percentile."""
    sojourn_p999_s: NotRequired[Number]
    """Their percentile 99.9."""
    sojourn_max_s: NotRequired[Number]
    """The longest of them."""
    occupancy_distribution: PortOccupancyDistribution
    """Sampled distribution of the occupancy."""
    occupancy: NotRequired[PortOccupancy]
    """Occupancy over time."""
    losses: NotRequired[PortLoss]
    """Losses over time."""
    marks: NotRequired[PortLoss]
    """Marks over time."""
    pauses: NotRequired[PortPause]
    """Pauses over time."""
    state: NotRequired[PortState]
    """State of its policies and credits over time."""
    meter: NotRequired[PortMeter]
    """Rates and shares that a policy with a meter measured, over time."""


class MemoryOccupancy(TypedDict):
    """`memories.occupancy`, `.queues.occupancy` and `.queues.threshold` of a report."""

    start_s: Number
    """Time of the first sample."""
    step_s: Number
    """Interval between samples."""
    values: list[Number]
    """Value at each sample."""


class MemoryPool(TypedDict):
    """`memories.pools` of a report."""

    name: str
    """Name of the pool."""
    side: str
    """Where it counts: `ingress` or `egress`."""
    shared: int
    """Its shared room in cells: what reserved room and headroom leave."""
    headroom: int
    """Its headroom in cells."""
    occupancy_mean: Number
    """Mean use of the shared room over time."""
    occupancy_max: Count
    """Largest use of the shared room, in cells."""
    headroom_max: Count
    """Largest use of the headroom, in cells."""


class MemoryQueue(TypedDict):
    """`memories.queues` of a report."""

    name: str
    """`PORT/CLASS`."""
    port: str
    """Its port, or in a pool of the ingress side the line over which its packets come."""
    queue: str
    """Its class; `all` where a scenario has no classes."""
    pool: str
    """Its pool."""
    occupancy_mean: Number
    """Mean occupancy over time, reserved room and headroom included."""
    occupancy_max: Count
    """Largest occupancy, in cells."""
    threshold_min: Number
    """Lowest threshold of its policy that an arriving packet met; null without one."""
    headroom_max: Count
    """Largest use of headroom, in cells."""
    dropped: Count
    """Packets of the queue lost at the port, without those lost at policers."""
    marked: Count
    """Its packets marked at the port."""
    trimmed: NotRequired[Count]
    """Its packets cut to their headers at the port."""
    pushed_out_octets: Count
    """Octets of its packets that were pushed out: they had crossed other links in vain."""
    occupancy: NotRequired[MemoryOccupancy]
    """What it held over time."""
    threshold: NotRequired[MemoryOccupancy]
    """Threshold of its policy over time; null where there is none."""


class Memory(TypedDict):
    """`memories` of a report."""

    name: str
    """Name of the memory; `NAME@NODE` if several nodes have one, and `/1`, `/2` … for partitions."""
    node: str
    """Node whose ports share it."""
    cells: int
    """Its cells."""
    cell_octets: int
    """Octets of a cell."""
    occupancy_mean: Number
    """Mean occupancy over time."""
    occupancy_max: Count
    """Largest occupancy, in cells."""
    occupancy: NotRequired[MemoryOccupancy]
    """Occupancy over time."""
    pools: list[MemoryPool]
    """Its pools."""
    queues: list[MemoryQueue]
    """Its queues: each counts in one pool."""


class Circuit(TypedDict):
    """`circuits` of a report."""

    name: str
    """Name of the circuit."""
    goodput_bps: Number
    """Goodput of its flows together; 0 if it only carries acknowledgements."""
    weighted_share: Number
    """Its goodput divided by its weighted share of all goodput; null without data."""
    frames_whole: Count
    """Frames that arrived whole."""
    frames_wrong_length: Count
    """Frames whose length differs from that in their trailer."""
    frames_wrong_crc: Count
    """Frames of the right length that contain parts of other frames."""


_Transfer = TypedDict("_Transfer", {"from": str})


class Transfer(_Transfer):
    """`transfers` of a report."""

    name: str
    """Its name: that of its source and its number there, unless a list gives another one."""
    to: str
    """Host that receives."""
    octets: int
    """Its size."""
    start_s: Number
    """When it started; null if it still waited for others at the end of the run."""
    time_s: Number
    """How long it took; null if it had not ended, or ended before the measured time."""
    slowdown: Number
    """That over the ideal."""


class SummaryFctSlowdownAll(TypedDict):
    """`summary.fct.slowdown.all`, `.short`, `.medium` and `.long` of a report."""

    count: Count
    """Transfers that ended, on which the percentiles rest."""
    mean: Number
    """Mean slowdown."""
    p50: Number
    """Median (nearest rank)."""
    p95: Number
    """95th percentile."""
    p99: Number
    """99th percentile."""
    p999: Number
    """99.9th percentile; the longest below 1000 transfers."""
    unfinished: Count
    """Transfers that had not ended, and count in no percentile."""
    unfinished_max: Number
    """Their largest age over the ideal: a slowdown that one has exceeded already."""


class SummaryFctSlowdown(TypedDict):
    """`summary.fct.slowdown` of a report."""

    all: SummaryFctSlowdownAll
    """All transfers."""
    short: SummaryFctSlowdownAll
    """Those below 100 kB."""
    medium: SummaryFctSlowdownAll
    """Those from 100 kB to below 1 MB."""
    long: SummaryFctSlowdownAll
    """Those from 1 MB on."""


class SummaryFct(TypedDict):
    """`summary.fct` of a report."""

    count: Count
    """Transfers that ended."""
    unfinished: Count
    """Transfers that had not ended at the end of the run."""
    unfinished_age_max_s: Number
    """Longest age of one of these; null without one."""
    slowdown: SummaryFctSlowdown
    """Slowdowns by size."""


class SummaryQuery(TypedDict):
    """`summary.query` of a report."""

    count: Count
    """Queries whose answers have all ended."""
    mean: Number
    """Mean time."""
    p50: Number
    """Median (nearest rank)."""
    p95: Number
    """95th percentile."""
    p99: Number
    """99th percentile."""
    p999: Number
    """99.9th percentile."""
    unfinished: Count
    """Queries with an answer that had not ended."""


class SummaryWorkload(TypedDict):
    """`summary.workload` of a report."""

    transfers: Count
    """Transfers of the workload."""
    completed: Count
    """Its transfers that ended within the run."""
    unfinished: Count
    """Its transfers that started and did not end."""
    not_started: Count
    """Its transfers that did not start: their start is after the run, or they still waited for others."""
    octets: Count
    """Octets of all its transfers."""
    first_start_s: Number
    """When its first transfer started; null if none did."""
    last_finish_s: Number
    """When its last transfer ended: its last octet was acknowledged; null if none ended."""
    critical_path: NotRequired[list[str]]
    """Names of the transfers that determined when the last one ended: of those that each waited for, the one that ended
    last. Of several replications that of the first."""


class SummaryClass(TypedDict):
    """`summary.classes` of a report."""

    name: str
    """Name of the class."""
    flows: Count
    """Its flows."""
    goodput_bps: Number
    """Their goodput together."""
    segments_sent: Count
    """As for a flow, all of them together."""
    segments_received: Count
    """As for a flow, all of them together."""
    fairness_mean_deviation: Number
    """As in the summary, among them."""
    effective_throughput: NotRequired[Number]
    """As in the summary, of them."""
    delivery_time_min_s: NotRequired[Number]
    """As for a flow, over the packets of all of them."""
    delivery_time_p50_s: NotRequired[Number]
    """As for a flow, over the packets of all of them."""
    delivery_time_p95_s: NotRequired[Number]
    """As for a flow, over the packets of all of them."""
    delivery_time_p99_s: NotRequired[Number]
    """As for a flow, over the packets of all of them."""
    delivery_time_max_s: NotRequired[Number]
    """As for a flow, over the packets of all of them."""
    round_trip_min_s: NotRequired[Number]
    """As for a flow, over the round trips that all of its senders measured."""
    round_trip_mean_s: NotRequired[Number]
    """As for a flow, over the round trips that all of its senders measured."""
    round_trip_p50_s: NotRequired[Number]
    """As for a flow, over the round trips that all of its senders measured."""
    round_trip_p95_s: NotRequired[Number]
    """As for a flow, over the round trips that all of its senders measured."""
    round_trip_p99_s: NotRequired[Number]
    """As for a flow, over the round trips that all of its senders measured."""
    round_trip_max_s: NotRequired[Number]
    """As for a flow, over the round trips that all of its senders measured."""
    rpm: NotRequired[Number]
    """As for a flow, over the round trips that all of its senders measured."""


class Summary(TypedDict):
    """`summary` of a report."""

    goodput_bps: Number
    """Goodput of all flows together."""
    goodput_ratio: Number
    """Goodput over `ideal_bps`."""
    ideal_bps: Number
    """Max–min fair payload rates of all flows together, with every overhead counted."""
    fairness_mean_deviation: Number
    """1 minus the mean relative deviation from the mean goodput (study 000, eq. 2)."""
    fairness_jain: Number
    """Jain's index of the rates of circuits beyond their guaranteed minimum (study 003, eq. 5)."""
    difference: Number
    """(Largest − smallest) / mean goodput of the flows (study 003, eq. 6)."""
    retransmission_ratio: Number
    """Retransmitted over sent segments of all TCP flows; null without one."""
    weighted_deviation: Number
    """Largest deviation of a circuit's `weighted_share` from 1."""
    goodput_drift: Number
    """Goodput in the second half of the measured time minus that in the first, over the mean of both: near 0 in a
    steady state; of flows whose sources do not stop by themselves."""
    flows_in_slow_start: NotRequired[Count]
    """Such flows that were still in their first slow start when the measured time began: without a warm-up, all of
    them."""
    delivery_time_min_s: NotRequired[Number]
    """As for a flow, over the packets of all flows."""
    delivery_time_p50_s: NotRequired[Number]
    """As for a flow, over the packets of all flows."""
    delivery_time_p95_s: NotRequired[Number]
    """As for a flow, over the packets of all flows."""
    delivery_time_p99_s: NotRequired[Number]
    """As for a flow, over the packets of all flows."""
    delivery_time_max_s: NotRequired[Number]
    """As for a flow, over the packets of all flows."""
    transfers: NotRequired[Count]
    """Files that ended."""
    transfers_unfinished: NotRequired[Count]
    """Files that had not ended at the end of the run."""
    transfer_age_max_s: NotRequired[Number]
    """Longest age of an unfinished file at the end of the run; null without one."""
    transfer_time_mean_s: NotRequired[Number]
    """Mean transfer time of all files that ended."""
    transfer_time_p50_s: NotRequired[Number]
    """Its median (nearest rank)."""
    transfer_time_p95_s: NotRequired[Number]
    """Its 95th percentile."""
    transfer_time_p99_s: NotRequired[Number]
    """Its 99th percentile."""
    transfer_time_max_s: NotRequired[Number]
    """The longest."""
    transfer_time_drift: NotRequired[Number]
    """Time of the later half of each flow's files minus that of the earlier half, over the mean of both: near 0 in a
    steady state."""
    fct: NotRequired[SummaryFct]
    """Transfers that started in the measured time. Slowdown is the time from a transfer's arrival to its last
    acknowledgement over the shortest time that an empty network allows: every line sends the first packet once it has
    arrived whole, the others follow at the rate of the slowest line, and the acknowledgement of the last one comes
    back."""
    query: NotRequired[SummaryQuery]
    """Queries that started in the measured time, in seconds from the query to the end of the last answer."""
    round_trip_min_s: NotRequired[Number]
    """As for a flow, over the round trips that all senders measured."""
    round_trip_mean_s: NotRequired[Number]
    """As for a flow, over the round trips that all senders measured."""
    round_trip_p50_s: NotRequired[Number]
    """As for a flow, over the round trips that all senders measured."""
    round_trip_p95_s: NotRequired[Number]
    """As for a flow, over the round trips that all senders measured."""
    round_trip_p99_s: NotRequired[Number]
    """As for a flow, over the round trips that all senders measured."""
    round_trip_max_s: NotRequired[Number]
    """As for a flow, over the round trips that all senders measured."""
    rpm: NotRequired[Number]
    """As for a flow, over the round trips that all senders measured."""
    workload: NotRequired[SummaryWorkload]
    """Its transfers, over the whole run."""
    packets_sent: NotRequired[Count]
    """As for a flow, summed over all flows."""
    packets_received: NotRequired[Count]
    """As for a flow, summed over all flows."""
    packets_recovered: NotRequired[Count]
    """As for a flow, summed over all flows."""
    packets_lost: NotRequired[Count]
    """As for a flow, summed over all flows."""
    blocks_whole: NotRequired[Count]
    """As for a flow, summed over all flows."""
    blocks_lost: NotRequired[Count]
    """As for a flow, summed over all flows."""
    packet_throughput: NotRequired[Number]
    """As for a flow, summed over all flows."""
    classes: NotRequired[list[SummaryClass]]
    """Every class of flows."""
    class_fairness: NotRequired[Number]
    """Goodput of one class divided by that of the other, each relative to its fair share."""
    effective_throughput: NotRequired[Number]
    """Rate of delivered IP packets divided by the rate of the reference line without cell headers."""
    throughput_deviation: NotRequired[list[Number]]
    """Standard deviation of the flows' rates divided by their mean, in each window."""


class Audit(TypedDict):
    """`audit` of a report."""

    checks: int
    """Equations that were checked."""
    failures: list[str]
    """Those that do not hold."""


class Run(TypedDict):
    """What a run measured."""

    scenario: str
    """Name of the scenario."""
    seed: int
    """Seed of the run; with several replications, the first seed."""
    seeds: NotRequired[list[int]]
    """Their seeds."""
    duration_s: float
    """Simulated time."""
    warmup_s: float
    """Initial period excluded from all figures."""
    engine: Engine
    """The engine that ran, its version and its work."""
    warnings: list[Warned]
    """Reasons why the scenario or the figures of the run may mislead."""
    flows: list[Flow]
    """Every flow."""
    ports: list[Port]
    """Every port, in the order of the output lines."""
    memories: NotRequired[list[Memory]]
    """Every memory that ports share, or every partition of it."""
    circuits: list[Circuit]
    """Every circuit, those of acknowledgements included."""
    transfers: NotRequired[list[Transfer]]
    """Every transfer of the workload, or that such a source has drawn; of several replications one after the other."""
    summary: Summary
    """All flows together."""
    audit: NotRequired[Audit]
    """Result of the audit."""
