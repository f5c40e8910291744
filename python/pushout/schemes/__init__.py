"""Every scheme that has parameters as a class, so that editors and type checkers know them.

    from pushout.schemes import Epd, TailDrop

    pushout.compare("lan", [TailDrop(), Epd(threshold="90 %")])
    pushout.run("lan", set={"port.bottleneck.admission": Epd(reserve="4500 bytes")})

An object stands for the same table as in a scenario. Schemes without parameters are names: `compare` takes "fq-codel",
and `Tcp(congestion="cubic")` has the controls. `pushout list schemes NAME` prints the complete page of a scheme.
"""

# Generated from the registry: make generate.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from pushout.schemes.base import Scheme, unknown

__all__ = [
    "N23",
    "Aal5",
    "Abm",
    "Arrivals",
    "AtmRed",
    "Cbfc",
    "Cbr",
    "Cells",
    "Codel",
    "CompleteSharing",
    "Dfba",
    "DropFromFront",
    "Drr",
    "DtEpd",
    "DualQueue",
    "Dumbbell",
    "DynamicThreshold",
    "Epd",
    "Espd",
    "FairQueue",
    "FatTree",
    "Fba",
    "Fec",
    "FecBlock",
    "Fifo",
    "File",
    "FollowLqd",
    "Fred",
    "GatekeeperJanitor",
    "Gcra",
    "Greedy",
    "Harmonic",
    "Iwu",
    "LeafSpine",
    "LongestQueue",
    "Occamy",
    "OnOff",
    "Packet",
    "ParkingLot",
    "Pi2",
    "Pie",
    "Poisson",
    "Ppd",
    "Program",
    "ProgramPushout",
    "ProgramScheduler",
    "Pushout1",
    "Pushout2",
    "Pushout3",
    "QuasiPushout",
    "Query",
    "Random",
    "Red",
    "Replay",
    "RoundRobin",
    "SelectiveDrop",
    "StaticThreshold",
    "Step",
    "StrictPriority",
    "TailDrop",
    "Tcp",
    "TransferList",
    "Udp",
    "VirtualQueueing",
    "Wfepd",
    "Wrr",
    "WrrMcr",
]


def __getattr__(name: str) -> NoReturn:
    unknown(name)


@dataclass(frozen=True, eq=False, kw_only=True)
class TailDrop(Scheme):
    """Accept everything that fits.

    Admission `tail-drop`.

    A unit is accepted if it fits. The policy ignores frames, so cells of frames that have lost a cell stay queued.

    Source: The discipline of a switch without a discard policy, "vanilla UBR" in paper 000 (V. Rosolen, O. Bonaventure,
    G. Leduc, 1998), section 4, and "plain ATM" in paper 001 (L. Kalampoukas, A. Varma, 1995), section 3. The threshold
    for marked cells: the "selective threshold discarder" of paper 004 (S. Chatterjee, W. Xiao), section 3.

    Its parameters:

    - `clp_threshold` (size or %; not set): Occupancy from which marked units are refused.
    """

    policy: str = field(default="tail-drop", init=False, repr=False)
    clp_threshold: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Ppd(Scheme):
    """Discard the rest of a frame that has lost a cell.

    Admission `ppd`.

    Once a cell of a frame has been lost, the remaining cells are useless: discard them as they arrive. The last one is
    kept, so that the receiver does not glue the fragment to the next frame.

    Source: A. Romanow, S. Floyd, "Dynamics of TCP traffic over ATM networks", IEEE JSAC 13(4), 1995, "partial packet
    discard"; cited by papers 000 (section 2.1), 003 (section 1) and 004 (section 1).

    Its parameters:

    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    """

    policy: str = field(default="ppd", init=False, repr=False)
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Epd(Scheme):
    """Refuse whole frames above a threshold.

    Admission `epd`.

    A frame is refused as a whole when the occupancy X that its first cell meets has reached the threshold τ. An
    accepted frame may fill the buffer, and is cut short as by partial packet discard only if it overflows.

    Source: A. Romanow, S. Floyd, "Dynamics of TCP traffic over ATM networks", IEEE JSAC 13(4), 1995; paper 000 (V.
    Rosolen, O. Bonaventure, G. Leduc, 1998), section 2.1; paper 001 (L. Kalampoukas, A. Varma, 1995), section 3, for
    the threshold that leaves room for three segments.

    Its parameters:

    - `threshold` (size or %; default "80 %"): Occupancy from which new frames are refused.
    - `reserve` (size; not set): Room to keep free instead of a fixed threshold, but never more than a fifth of the
      buffer (paper 001).
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    - `discard_rest` (default True): Discard the rest of a frame that has lost a cell (PPD); if not, it is queued as far
      as it fits.
    - `action` (default "drop"): What happens to a frame that meets the threshold: `drop`, or `mark` where the transport
      reacts to marks (ECT). `drop`: Refuse it. `mark`: Accept it with a congestion mark if its transport reacts to
      marks (ECT) and there is room; refuse any other. A cell link marks the first cell of the frame (EFCI). `trim`: Cut
      it to its headers, which go before everything else to the receiver, so that the sender learns of the loss at once;
      also where it finds no room. Only for packets, and with policies that decide when they arrive.
    """

    policy: str = field(default="epd", init=False, repr=False)
    threshold: str = "80 %"
    reserve: str | None = None
    pass_eom: bool = True
    discard_rest: bool = True
    action: Literal["drop", "mark", "trim"] = "drop"


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectiveDrop(Scheme):
    """Refuse whole frames of circuits that hold more than their share of the queue.

    Admission `selective-drop`.

    Above an occupancy R, a frame is refused as a whole if its circuit already holds more than its fair share of what is
    queued. With `X_i` of X queued for this circuit and `N_a` circuits that have anything queued, refuse iff

    > X > R and X_i · N_a / X > Z

    Source: R. Goyal, R. Jain, S. Kalyanaraman, S. Fahmy, S.-C. Kim, "UBR+: improving performance of TCP over ATM-UBR
    service", ATM Forum/96-1269, 1996; described as "selective packet dropping" in paper 000 (V. Rosolen, O.
    Bonaventure, G. Leduc, 1998), section 2.2.

    Its parameters:

    - `threshold` (size or %; default "90 %"): Occupancy up to which every frame is taken.
    - `scale` (default 0.8): Multiple of the fair share from which a circuit is refused.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    - `action` (default "drop"): What happens to a frame of a circuit with more than its share: `drop`, or `mark` where
      the transport reacts to marks (ECT). `drop`: Refuse it. `mark`: Accept it with a congestion mark if its transport
      reacts to marks (ECT) and there is room; refuse any other. A cell link marks the first cell of the frame (EFCI).
      `trim`: Cut it to its headers, which go before everything else to the receiver, so that the sender learns of the
      loss at once; also where it finds no room. Only for packets, and with policies that decide when they arrive.
    """

    policy: str = field(default="selective-drop", init=False, repr=False)
    threshold: str = "90 %"
    scale: float = 0.8
    pass_eom: bool = True
    action: Literal["drop", "mark", "trim"] = "drop"


@dataclass(frozen=True, eq=False, kw_only=True)
class Fba(Scheme):
    """Refuse whole frames of circuits that hold more than a share which falls while the buffer fills.

    Admission `fba`.

    As selective drop, but the share that a circuit may hold falls smoothly while the buffer fills, instead of at once:
    above R a frame is accepted iff

    > W_i = X_i · N_a / X ≤ Z · (1 + (K − X) / (X − R)) = Z · (K − R) / (X − R)

    Source: J. Heinanen, K. Kilkki, "A fair buffer allocation scheme", Computer Communications 21(3), 1998; paper 000
    (V. Rosolen, O. Bonaventure, G. Leduc, 1998), section 2.2 and figure 1.

    Its parameters:

    - `threshold` (size or %; default "73.2421875 %"): Occupancy R up to which every frame is taken.
    - `capacity` (size or %; default "97.65625 %"): Occupancy K at which a circuit may hold Z fair shares.
    - `scale` (default 0.9): Scaling factor Z of the share that a circuit may hold.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    - `discard_rest` (default True): Discard the rest of a frame that has lost a cell (PPD); if not, it is queued as far
      as it fits.
    - `action` (default "drop"): What happens to a frame of a circuit with more than its share: `drop`, or `mark` where
      the transport reacts to marks (ECT). `drop`: Refuse it. `mark`: Accept it with a congestion mark if its transport
      reacts to marks (ECT) and there is room; refuse any other. A cell link marks the first cell of the frame (EFCI).
      `trim`: Cut it to its headers, which go before everything else to the receiver, so that the sender learns of the
      loss at once; also where it finds no room. Only for packets, and with policies that decide when they arrive.
    """

    policy: str = field(default="fba", init=False, repr=False)
    threshold: str = "73.2421875 %"
    capacity: str = "97.65625 %"
    scale: float = 0.9
    pass_eom: bool = True
    discard_rest: bool = True
    action: Literal["drop", "mark", "trim"] = "drop"


@dataclass(frozen=True, eq=False, kw_only=True)
class Dfba(Scheme):
    """Refuse frames of circuits that hold more of one queue than their minimum cell rate's share, at random.

    Admission `dfba`.

    Keep minimum cell rates in one FIFO: a circuit that holds more than its weight's share of the queue loses frames at
    random, the more probably the more it holds and the fuller the buffer is. With `X_i` of X queued for the circuit and
    r = W_i / W, its part of all weights, a frame is judged at its first cell:

    | occupancy | untagged (CLP = 0) | tagged (CLP = 1) |
    |---|---|---|
    | X < L | accept | accept |
    | L ≤ X < H, `X_i` ≤ r · X | accept | refuse |
    | L ≤ X < H, `X_i` > r · X | refuse with probability P | refuse |
    | X ≥ H | refuse | refuse |

    > P = (1 − r) · (a · (X_i − r · X) / (X · (1 − r)) + (1 − a) · (X − L) / (H − L))

    Source: R. Goyal, R. Jain, S. Fahmy, B. Vandalore, "Buffer management for the GFR service", ATM Forum/98-0405, July
    1998 (differential fair buffer allocation); `muxwfqbuffman.c` of the simulator YATS.

    Its parameters:

    - `low` (size or %; default "50 %"): Occupancy L below which every frame is taken; from it on none that is tagged
      (CLP = 1).
    - `high` (size or %; default "90 %"): Occupancy H from which every frame is refused.
    - `fairness` (default 0.5): Part a that a circuit's excess has in the probability of refusal; the load of the buffer
      has the rest.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    """

    policy: str = field(default="dfba", init=False, repr=False)
    low: str = "50 %"
    high: str = "90 %"
    fairness: float = 0.5
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class DropFromFront(Scheme):
    """Make room for the newest cell by giving up the oldest.

    Admission `drop-from-front`.

    A full buffer takes the arriving cell and gives up the one at the head of the queue, so that a sender detects the
    loss a whole queue earlier. In the frame form, the remaining cells of a frame that has lost a cell at the head are
    discarded when they reach the head, except the EOM that delimits the part that has been sent.

    Source: T. V. Lakshman, A. Neidhardt, T. J. Ott, "The drop from front strategy in TCP and in TCP over ATM", IEEE
    INFOCOM 1996; cited by papers 000 (section 2) and 003 (section 3.1). The frame form is from memory of that paper.

    Its parameters:

    - `form` (default "cell"): What is given up. `cell`: One cell for each arriving cell. `frame`: One cell, and then
      the rest of its frame.
    - `pass_eom` (default True): Send the last cell of a broken frame as a delimiter; for the frame form only.
    """

    policy: str = field(default="drop-from-front", init=False, repr=False)
    form: Literal["cell", "frame"] = "cell"
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Red(Scheme):
    """Discard packets at random before the queue is full.

    Admission `red`.

    An arriving packet is discarded at random, with a probability that grows with the average length of the queue. For
    each packet that meets a queue of length q,

    > q > 0: avg ← (1 − w) · avg + w · q, else avg ← (1 − w)^m · avg with m = idle time / packet time
    >
    > p_b = maxp · (avg − minth) / (maxth − minth), p_a = p_b / (1 − count · p_b)

    where `count` packets have been accepted since the last one was discarded. With `adaptive` maxp is moved every
    `interval` so that avg stays in the middle fifth between the thresholds:

    > avg above it and maxp ≤ 0.5: maxp ← maxp + min(0.01, maxp / 4), avg below it and maxp ≥ 0.01: maxp ← 0.9 · maxp

    Source: S. Floyd, V. Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM ToN 1(4), 1993;
    paper 000 (V. Rosolen, O. Bonaventure, G. Leduc, 1998), section 2.3, equation (1) and figure 2; for `adaptive` S.
    Floyd, R. Gummadi, S. Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's active queue
    management", ICSI, 2001.

    Its parameters:

    - `weight` (default 0.002): Weight w of a new sample in the average queue.
    - `max_p` (default 0.02): Probability of discard when the average reaches the upper threshold.
    - `min_threshold` (size or %; default "25 %"): Average below which nothing is discarded.
    - `max_threshold` (size or %; default "75 %"): Average at which the probability is maxp.
    - `curve` (default "classic"): What happens above the upper threshold. `classic`: Everything is discarded from maxth
      on. `gentle`: From maxp at maxth on a straight line to 1 at twice maxth.
    - `packet_time` (time; not set): Time in which an idle port could have sent a packet; by default a full frame of the
      average circuit.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    - `action` (default "drop"): What happens to a packet that is drawn, and above the upper threshold to every one:
      `drop`, or `mark` where the transport reacts to marks (ECT). `drop`: Refuse it. `mark`: Accept it with a
      congestion mark if its transport reacts to marks (ECT) and there is room; refuse any other. A cell link marks the
      first cell of the frame (EFCI). `trim`: Cut it to its headers, which go before everything else to the receiver, so
      that the sender learns of the loss at once; also where it finds no room. Only for packets, and with policies that
      decide when they arrive.
    - `adaptive` (default False): Move the largest probability so that the average stays in the middle between the
      thresholds (adaptive RED).
    - `interval` (time; default "500 ms"): Time between two moves.
    - `byte_mode` (default False): Discard short packets less often, in proportion to their length.
    - `count` (default "octets"): What is counted between two discards in byte mode: `octets`, or `packets` as in the
      letter of the paper of 1993. `octets`: Octets, so that the probability of discard is proportional to the length.
      `packets`: Packets of any length.
    - `mtu` (size; not set): Octets of a full packet; by default a full frame.
    - `yellow` (table; not set): What differs for packets that a policer has marked yellow, or tagged (CLP).
    - `red` (table; not set): What differs for packets that a policer has marked red.
    """

    policy: str = field(default="red", init=False, repr=False)
    weight: float = 0.002
    max_p: float = 0.02
    min_threshold: str = "25 %"
    max_threshold: str = "75 %"
    curve: Literal["classic", "gentle"] = "classic"
    packet_time: str | None = None
    pass_eom: bool = True
    action: Literal["drop", "mark", "trim"] = "drop"
    adaptive: bool = False
    interval: str = "500 ms"
    byte_mode: bool = False
    count: Literal["octets", "packets"] = "octets"
    mtu: str | None = None
    yellow: Mapping[str, Any] | None = None
    red: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class AtmRed(Scheme):
    """Random early detection in cells: a marked cell costs its circuit the next frame.

    Admission `atm-red`.

    RED in cells, without a queue per circuit: every arriving cell updates RED's average and may be marked. A mark
    discards the *next* frame of the cell's circuit as a whole. Two bits per circuit store its state (m: the cell is
    marked, e: it is the EOM; A: accept, D: discard):

    | state | m̄, ē | m̄, e | m, ē | m, e |
    |---|---|---|---|---|
    | accept-first | A, accept-cell | A, accept-first | D, discard-cell | D, accept-first |
    | accept-cell | A, accept-cell | A, accept-first | A, accept-rest | A, discard-cell |
    | accept-rest | A, accept-rest | A, discard-cell | – | – |
    | discard-cell | D, discard-cell | D, accept-first | – | – |

    Source: V. Rosolen, O. Bonaventure, G. Leduc, "Impact of cell discard strategies on TCP/IP in ATM UBR networks", ULg
    RUN-PP98-02, 1998: paper 000, section 2.3 (a), figures 2 and 3.

    Its parameters:

    - `weight` (default 0.002): Weight w of one cell in the average queue.
    - `max_p` (default 0.02): Probability per packet at the upper threshold; divided by the cells of a full frame.
    - `min_threshold` (size or %; default "24.4140625 %"): Average below which nothing is discarded.
    - `max_threshold` (size or %; default "73.2421875 %"): Average at which the probability is maxp.
    - `curve` (default "gentle"): What happens above the upper threshold. `classic`: Everything is discarded from maxth
      on. `gentle`: From maxp at maxth on a straight line to 1 at twice maxth.
    - `frame` (cells; not set): Cells of a full frame by which maxp is divided; by default those of each circuit's own.
    - `literal_eom` (default False): Discard a marked EOM of an accepted frame, as one sentence of the paper has it.
    - `pass_eom` (default True): Keep the last cell of a frame that overflowed as a delimiter, if it fits.
    - `discard_rest` (default True): Discard the rest of a frame that has lost a cell (PPD); if not, it is queued as far
      as it fits.
    - `action` (default "drop"): What a mark causes: `drop`, the loss of the circuit's next frame, or `mark`, a
      congestion mark on the cell itself where the transport reacts to marks (ECT). `drop`: Refuse it. `mark`: Accept it
      with a congestion mark if its transport reacts to marks (ECT) and there is room; refuse any other. A cell link
      marks the first cell of the frame (EFCI). `trim`: Cut it to its headers, which go before everything else to the
      receiver, so that the sender learns of the loss at once; also where it finds no room. Only for packets, and with
      policies that decide when they arrive.
    """

    policy: str = field(default="atm-red", init=False, repr=False)
    weight: float = 0.002
    max_p: float = 0.02
    min_threshold: str = "24.4140625 %"
    max_threshold: str = "73.2421875 %"
    curve: Literal["classic", "gentle"] = "gentle"
    frame: str | None = None
    literal_eom: bool = False
    pass_eom: bool = True
    discard_rest: bool = True
    action: Literal["drop", "mark", "trim"] = "drop"


@dataclass(frozen=True, eq=False, kw_only=True)
class Fred(Scheme):
    """Random early detection that uses each circuit's backlog.

    Admission `fred`.

    Experimental: its sources leave important details open, so no fidelity is claimed.

    RED with the backlog of each circuit. A circuit that keeps more than its part of the queue is limited to the average
    share `avg / N` and gets a strike; a circuit with only a few packets is never discarded at random. With `N` circuits
    backlogged and share = max(avg / N, one packet), a packet of a circuit with `own` queued is discarded and the
    circuit given a strike iff

    > own ≥ most, or avg ≥ maxth and own > 2 · share, or own ≥ share and strikes > 1

    where most = minth, but two packets from avg ≥ maxth on. Otherwise RED's random discard applies if own ≥
    max(`min_packets`, share). From avg ≥ maxth on it applies to every packet and discards all.

    Source: D. Lin, R. Morris, "Dynamics of random early detection", ACM SIGCOMM 1997; cited by paper 002 (A. Rácz, G.
    Fodor, Z. Turányi, 1999), section II, for its classes of non-adaptive, fragile and robust sources.

    Its parameters:

    - `weight` (default 0.002): Weight of a new sample in the average queue.
    - `max_p` (default 0.02): Probability of discard when the average reaches the upper threshold.
    - `min_threshold` (size or %; default "25 %"): Average below which nothing is discarded at random, and the most that
      one circuit may hold.
    - `max_threshold` (size or %; default "75 %"): Average from which every packet is discarded.
    - `min_packets` (default 2): Packets that a circuit may hold without taking part in random discard.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    - `action` (default "drop"): What happens to a packet that is drawn: `drop`, or `mark` where the transport reacts to
      marks (ECT). A packet of a circuit above its limit is always discarded. `drop`: Refuse it. `mark`: Accept it with
      a congestion mark if its transport reacts to marks (ECT) and there is room; refuse any other. A cell link marks
      the first cell of the frame (EFCI). `trim`: Cut it to its headers, which go before everything else to the
      receiver, so that the sender learns of the loss at once; also where it finds no room. Only for packets, and with
      policies that decide when they arrive.
    """

    policy: str = field(default="fred", init=False, repr=False)
    weight: float = 0.002
    max_p: float = 0.02
    min_threshold: str = "25 %"
    max_threshold: str = "75 %"
    min_packets: int = 2
    pass_eom: bool = True
    action: Literal["drop", "mark", "trim"] = "drop"


@dataclass(frozen=True, eq=False, kw_only=True)
class Step(Scheme):
    """Mark packets that meet an occupancy above a threshold.

    Admission `step`.

    An arriving packet is marked if the present queue is longer than a threshold K: no average and no random number,
    because the senders average over a round trip.

    > mark iff X > K

    Source: M. Alizadeh, A. Greenberg, D. A. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta and M. Sridharan,
    "Data Center TCP (DCTCP)", ACM SIGCOMM 2010, section 3.1; S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert and
    G. Judd, RFC 8257, 2017, section 3.1.

    Its parameters:

    - `threshold` (size or %; default "20 %"): Occupancy above which packets are marked.
    - `action` (default "mark"): What happens to a packet that finds an occupancy above the threshold: `mark` where the
      transport reacts to marks (ECT), or `drop`. `drop`: Refuse it. `mark`: Accept it with a congestion mark if its
      transport reacts to marks (ECT) and there is room; refuse any other. A cell link marks the first cell of the frame
      (EFCI). `trim`: Cut it to its headers, which go before everything else to the receiver, so that the sender learns
      of the loss at once; also where it finds no room. Only for packets, and with policies that decide when they
      arrive.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    """

    policy: str = field(default="step", init=False, repr=False)
    threshold: str = "20 %"
    action: Literal["drop", "mark", "trim"] = "mark"
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Codel(Scheme):
    """Discard packets at the head if all packets have waited too long for an interval.

    Admission `codel`.

    A queue that becomes empty within every `interval` is harmless. If all packets have waited `target` or longer for a
    whole `interval`, the packet at the head is discarded, and further ones at intervals that shrink with the square
    root of their number, until a packet has waited less:

    > t ← t + interval / √count

    Source: K. Nichols, V. Jacobson, A. McGregor and J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289,
    2018, section 5; for `law = "linux"` the file `include/net/codel_impl.h` of Linux 6 (E. Dumazet and others).

    Its parameters:

    - `target` (time; default "5 ms"): Wait that is acceptable.
    - `interval` (time; default "100 ms"): Time for which packets may wait longer than the target; a round trip in the
      worst case.
    - `law` (default "exact"): How the time between two discarded packets follows from their number. `exact`: interval /
      √count, as in RFC 8289. `linux`: In integers as in Linux.
    - `action` (default "drop"): What happens to a packet that is due to be discarded: `drop`, or `mark` where the
      transport reacts to marks (ECT). `drop`: Refuse it. `mark`: Accept it with a congestion mark if its transport
      reacts to marks (ECT) and there is room; refuse any other. A cell link marks the first cell of the frame (EFCI).
      `trim`: Cut it to its headers, which go before everything else to the receiver, so that the sender learns of the
      loss at once; also where it finds no room. Only for packets, and with policies that decide when they arrive.
    - `ce_threshold` (time; not set): Wait above which a packet is marked in any case if its transport reacts to marks
      (ECT); by default there is no such limit.
    - `mtu` (size; not set): Octets behind a packet up to which it is not discarded; by default a full frame.
    - `full` (default "arrival"): What is lost when the buffer is full. `arrival`: The packet that arrives.
      `fattest-queue`: Packets at the head of the queue with the most octets.
    - `batch` (default 64): Most packets that the queue with the most octets loses before the longest queue is
      determined again.
    """

    policy: str = field(default="codel", init=False, repr=False)
    target: str = "5 ms"
    interval: str = "100 ms"
    law: Literal["exact", "linux"] = "exact"
    action: Literal["drop", "mark", "trim"] = "drop"
    ce_threshold: str | None = None
    mtu: str | None = None
    full: Literal["arrival", "fattest-queue"] = "arrival"
    batch: int = 64


@dataclass(frozen=True, eq=False, kw_only=True)
class Pie(Scheme):
    """Discard arriving packets with a probability that holds the wait at a target.

    Admission `pie`.

    An arriving packet is discarded with a probability p that a controller sets every `update`, so that waits settle at
    `target`. With d the wait of the packet that left last, 0 if none waited behind it:

    > p ← p + (alpha · (d − target) + beta · (d − d_old)) / f, f = 2048, 512, 128, 32, 8, 2, 1

    where f is smaller the larger p was: 2048 below 10⁻⁶, 1 from 0.1 on; from 0.1 on p rises by at most 0.02 per update.

    Source: R. Pan, P. Natarajan, F. Baker and G. White, "Proportional Integral Controller Enhanced (PIE)", RFC 8033,
    2017; for `law = "linux"` the file `net/sched/sch_pie.c` of Linux 6 (V. Subramanian, M. Prabhu, M. Tahiliani and
    others).

    Its parameters:

    - `target` (time; default "15 ms"): Target of the wait.
    - `update` (time; default "15 ms"): Time between two updates of the probability.
    - `alpha` (default 0.125): How fast the probability follows the wait's distance from the target, per second of wait.
    - `beta` (default 1.25): How fast the probability follows changes of the wait, per second of wait.
    - `burst` (time; default "150 ms"): Time for which a burst passes after a time without congestion.
    - `law` (default "rfc"): Which rules hold where RFC and Linux differ. `rfc`: RFC 8033. `linux`: Linux.
    - `action` (default "drop"): What happens to a packet that is drawn: `drop`, or `mark` where the transport reacts to
      marks (ECT). `drop`: Refuse it. `mark`: Accept it with a congestion mark if its transport reacts to marks (ECT)
      and there is room; refuse any other. A cell link marks the first cell of the frame (EFCI). `trim`: Cut it to its
      headers, which go before everything else to the receiver, so that the sender learns of the loss at once; also
      where it finds no room. Only for packets, and with policies that decide when they arrive.
    - `mark_limit` (default 0.1): Probability above which packets are discarded instead of being marked.
    - `derandomise` (default True): Spread discards evenly: neither two in a row nor long gaps.
    - `byte_mode` (default False): Discard short packets less often, in proportion to their length.
    - `mtu` (size; not set): Octets of a full packet; by default a full frame.
    """

    policy: str = field(default="pie", init=False, repr=False)
    target: str = "15 ms"
    update: str = "15 ms"
    alpha: float = 0.125
    beta: float = 1.25
    burst: str = "150 ms"
    law: Literal["rfc", "linux"] = "rfc"
    action: Literal["drop", "mark", "trim"] = "drop"
    mark_limit: float = 0.1
    derandomise: bool = True
    byte_mode: bool = False
    mtu: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Pi2(Scheme):
    """Mark packets of scalable senders in proportion to a probability, and discard others by its square.

    Admission `pi2`.

    A controller sets a base probability p' every `update`, so that packets wait `target` in the end. With d the longest
    wait of a packet at the head of a queue,

    > p' ← p' + alpha · (d − target) + beta · (d − d_old)

    A packet at the head without ECT(1) and CE is classic: it is discarded, or marked, with the probability p'². Any
    other one is of a scalable sender, and marked with the probability k · p', since its sender reacts to single marks
    in proportion: so both get about the same rate. It is marked too if it has waited longer than `step` and its queue
    holds more than `mtu` octets, the packet included (`Th_len` of RFC 9332): on a slow line the only packet may take
    longer than `step`, and shows no queue.

    Source: K. De Schepper, O. Bondarenko, I.-J. Tsang and B. Briscoe, "PI²: A linearized AQM for both classic and
    scalable TCP", ACM CoNEXT 2016; the same, B. Briscoe and G. White, "Dual-Queue Coupled Active Queue Management
    (AQM)", RFC 9332, 2023, section 2 and appendix A; for `law = "linux"` the file `net/sched/sch_dualpi2.c` of Linux
    6.17.

    Its parameters:

    - `target` (time; default "15 ms"): Wait that is aimed at.
    - `update` (time; default "16 ms"): Time between two updates of the probability.
    - `alpha` (default 0.16): How fast the probability follows the wait's distance from the target, per second of wait.
    - `beta` (default 3.2): How fast the probability follows changes of the wait, per second of wait.
    - `law` (default "exact"): How the probability is computed. `exact`: In real numbers, as in RFC 9332. `linux`: In
      integers as in Linux.
    - `coupling` (default 2.0): Factor of the probability for packets of scalable senders (ECT(1) or CE).
    - `step` (time; default "1 ms"): Wait above which every packet of a scalable sender is marked.
    - `action` (default "mark"): What happens to a classic packet that is drawn: `mark` where the transport reacts to
      marks (ECT), or `drop`. `drop`: Refuse it. `mark`: Accept it with a congestion mark if its transport reacts to
      marks (ECT) and there is room; refuse any other. A cell link marks the first cell of the frame (EFCI). `trim`: Cut
      it to its headers, which go before everything else to the receiver, so that the sender learns of the loss at once;
      also where it finds no room. Only for packets, and with policies that decide when they arrive.
    - `overload` (default "drop"): What happens when marks alone cannot hold the wait at its target. `drop`: Packets are
      discarded with the probability p'². `overflow`: The base probability stays at 1 / k, and the buffer fills.
    - `mtu` (size; not set): Octets of a full packet; by default a full frame.
    """

    policy: str = field(default="pi2", init=False, repr=False)
    target: str = "15 ms"
    update: str = "16 ms"
    alpha: float = 0.16
    beta: float = 3.2
    law: Literal["exact", "linux"] = "exact"
    coupling: float = 2.0
    step: str = "1 ms"
    action: Literal["drop", "mark", "trim"] = "mark"
    overload: Literal["drop", "overflow"] = "drop"
    mtu: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Espd(Scheme):
    """Refuse every frame of a few selected circuits while congestion lasts.

    Admission `espd`.

    Experimental: its sources leave important details open, so no fidelity is claimed.

    Random discards hit many sessions at once and synchronise their windows. Instead a few sessions are selected and
    lose every frame until the congestion is over, so that sessions take turns. When the occupancy X reaches H, the
    circuit of the next frame is put on a list. The list grows while X continues to grow, and it is cleared when X falls
    below L. A frame is refused iff its circuit is on the list.

    Source: K. Cheon, S. S. Panwar, "Early selective packet discard for alternating resource access of TCP over
    ATM-UBR", IEEE LCN 1997; cited by paper 002 (A. Rácz, G. Fodor, Z. Turányi, 1999), section II.

    Its parameters:

    - `low` (size or %; default "70 %"): Occupancy L below which the list of selected circuits is cleared.
    - `high` (size or %; default "80 %"): Occupancy H from which circuits are selected.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    """

    policy: str = field(default="espd", init=False, repr=False)
    low: str = "70 %"
    high: str = "80 %"
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class VirtualQueueing(Scheme):
    """Refuse whole frames of circuits whose virtual queue is too long.

    Admission `virtual-queueing`.

    A shared FIFO counts the lengths of the queues that per-circuit queueing would have: a cell joins the virtual queue
    `M_i` of its circuit, but each departing cell is charged to the circuit that weighted round robin would have served.
    With `credit_i` = MCR_i · T renewed every T, that is the next circuit with `M_i` > 0 and a credit left, or else the
    next with `M_i` > 0. A frame is refused as a whole iff X ≥ Th and `M_i` > Th_i. Always Σ M_i = X.

    Source: Y. Wu, K.-Y. Siu, W. Ren, "Improved virtual queueing and dynamic EPD techniques for TCP over ATM", IEEE ICNP
    1997, and H.-Y. Tzeng, K.-Y. Siu before it; cited as VQ by paper 003 (D. Wu, H. J. Chao, 1998), sections 2 and 4.3.

    Its parameters:

    - `threshold` (size or %; default "33.333 %"): Occupancy below which every frame is taken.
    - `period` (time; default "1 ms"): Interval at which the credits of minimum cell rates are renewed.
    - `share` (default "equal"): How long a virtual queue may be above the threshold. `equal`: The threshold divided by
      the number of virtual queues in use. `mean`: The mean length of the virtual queues in use. `mcr`: The circuit's
      part of all minimum cell rates; equal if no circuit has one. `none`: None: a frame may begin only in an empty
      virtual queue.
    - `credits` (default True): Whether minimum cell rates earn credits; if not, all virtual queues take turns alike.
    - `carry` (default False): Carry the fraction of a credit that is left over into the next period.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    """

    policy: str = field(default="virtual-queueing", init=False, repr=False)
    threshold: str = "33.333 %"
    period: str = "1 ms"
    share: Literal["equal", "mean", "mcr", "none"] = "equal"
    credits: bool = True
    carry: bool = False
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Wfepd(Scheme):
    """Refuse frames of circuits above their weighted share of the line.

    Admission `wfepd`.

    The rate `r_i` at which each circuit is accepted is measured. Every δ the rate R of the line is divided by shares
    α_i among the circuits that want more than their part, while the others get what they offer. Circuits above their
    part are *violating*, and their frames are refused; those near it are *pending*, and theirs are refused with a
    probability that rises with the rate; the others are *clear*.

    Source: A. Rácz, G. Fodor, Z. Turányi, "Weighted fair early packet discard at an ATM switch output port", IEEE
    INFOCOM 1999: paper 002, sections III to V.

    Its parameters:

    - `meter` (default "moving-average"): How the rate of a circuit is measured. `moving-average`: Exponentially
      weighted: equation (2). `sliding-window`: All intervals of a window equally: equation (1). `cell-window`: All
      units of a window that moves with every cell, measured at every frame: the alternative of section IV-A.
    - `interval` (time; default "10 ms"): Interval between two measurements.
    - `memory` (default 0.95): Weight of the past in the moving average, below 1.
    - `window` (time; default "200 ms"): Length of the window; of a sliding one, a multiple of the interval.
    - `bottom` (default 0.7): Part of its share from which a circuit is pending.
    - `top` (default 1.0): Multiple of its share up to which a circuit is pending.
    - `max_p` (default 0.1): Highest probability with which frames of pending circuits are refused.
    - `margin` (default 1.0): Multiple of the line's rate that is divided among the circuits.
    - `threshold` (size or %; default "0 %"): Occupancy below which every frame is taken.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    """

    policy: str = field(default="wfepd", init=False, repr=False)
    meter: Literal["moving-average", "sliding-window", "cell-window"] = "moving-average"
    interval: str = "10 ms"
    memory: float = 0.95
    window: str = "200 ms"
    bottom: float = 0.7
    top: float = 1.0
    max_p: float = 0.1
    margin: float = 1.0
    threshold: str = "0 %"
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class CompleteSharing(Scheme):
    """Share the room without limits.

    Admission `complete-sharing`.

    All queues share the room without limits: a unit is accepted iff it fits. One busy queue can take everything.

    Source: M. I. Irland, "Buffer management in a packet switch", IEEE Transactions on Communications 26(3), 1978; the
    name is that of F. Kamoun and L. Kleinrock, "Analysis of shared finite storage in a computer network node
    environment under general traffic conditions", IEEE Transactions on Communications 28(7), 1980.
    """

    policy: str = field(default="complete-sharing", init=False, repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class StaticThreshold(Scheme):
    """Block a circuit whose queue has reached a fixed length.

    Admission `static-threshold`.

    No queue may exceed a fixed limit, even if there is room.

    Source: M. I. Irland, "Buffer management in a packet switch", IEEE Transactions on Communications 26(3), 1978
    ("sharing with maximum queue lengths"); the "static threshold" with which paper 003 (D. Wu, H. J. Chao, 1998),
    section 2, compares the dynamic one.

    Its parameters:

    - `limit` (size or %; default "50 %"): Length that a queue may have.
    """

    policy: str = field(default="static-threshold", init=False, repr=False)
    limit: str = "50 %"


@dataclass(frozen=True, eq=False, kw_only=True)
class Harmonic(Scheme):
    """Limit the k longest queues together by the k-th harmonic number.

    Admission `harmonic`.

    Limits that fall as the harmonic numbers: of N queues one alone may hold B / H_N, and the k longest together H_k /
    H_N of the buffer, where H_k = 1 + 1/2 + … + 1/k. So room stays free for short queues, and yet all queues together
    can fill the buffer. The policy takes nothing back; against an optimum that knows the future it sends at least 1 /
    (ln N + 2) as much. The longest that queue i may become beside the others is

    > T = min over k of ⌊B · H_k / H_N⌋ − (the k − 1 longest other queues)

    Source: A. Kesselman, Y. Mansour, "Harmonic buffer management policy for shared memory switches", Theoretical
    Computer Science 324(2–3), 2004.
    """

    policy: str = field(default="harmonic", init=False, repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class DynamicThreshold(Scheme):
    """Block a circuit whose queue is longer than a multiple of the free room.

    Admission `dynamic-threshold`.

    No queue may be longer than α times the free room. Thus a few long queues get most of the buffer, many queues get
    equal parts of it, and a small part stays free for new ones:

    > T(t) = α · (B − X(t))  (2)

    A cell of circuit i is blocked iff Xᵢ ≥ T. With N greedy circuits Xᵢ settles at α B / (1 + α N).

    Source: A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds in a shared memory ATM switch", IEEE INFOCOM
    1996, as paper 003 (D. Wu, H. J. Chao, 1998) gives it in section 2, equations (1) and (2).

    Its parameters:

    - `alpha` (default 2.0): Length that a queue may have, as a multiple of the free room.
    """

    policy: str = field(default="dynamic-threshold", init=False, repr=False)
    alpha: float = 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Abm(Scheme):
    """Block a circuit by a dynamic threshold divided by the number of congested queues and scaled by its rate.

    Admission `abm`.

    A dynamic threshold limits the room of a queue, but a queue that drains slowly keeps its room for long. ABM divides
    the threshold by the number n of congested queues of the same priority, and multiplies it by the share μ of its line
    that the queue gets:

    > T(t) = α · (B − X(t)) · μ / n

    So queues of a priority together hold at most α (B − X), and every queue drains in bounded time.

    Source: V. Addanki, M. Apostolaki, M. Ghobadi, S. Schmid, L. Vanbever, "ABM: Active Buffer Management in
    Datacenters", ACM SIGCOMM 2022, equation (9); how congested queues are counted and how rates are measured is from
    the authors' code (ns3-datacenter).

    Its parameters:

    - `alpha` (default 0.5): Length that all queues of a priority may have, as a multiple of the free room.
    - `update` (time; default "80 us"): Interval over which rates are measured.
    - `congested` (size; default "28 kB"): Length from which a queue counts as congested.
    """

    policy: str = field(default="abm", init=False, repr=False)
    alpha: float = 0.5
    update: str = "80 us"
    congested: str = "28 kB"


@dataclass(frozen=True, eq=False, kw_only=True)
class FollowLqd(Scheme):
    """Block a circuit whose queue is as long as it would be with longest queue drop.

    Admission `follow-lqd`.

    Longest queue drop needs push-out. FollowLQD needs none: beside the real buffer it keeps a virtual one, which gets
    the same arrivals and is run by longest queue drop. The length Tᵢ of a virtual queue is the threshold of the real
    one: a packet is taken iff it fits and its queue is shorter than Tᵢ, in which the packet counts.

    Source: V. Addanki, M. Pacut, S. Schmid, "Credence: Augmenting Datacenter Switch Buffer Sharing with ML
    Predictions", USENIX NSDI 2024, section 3 ("FollowLQD").

    Its parameters:

    - `counts_arrival` (default True): Whether an arriving packet counts for its own virtual queue when queues are
      compared.
    """

    policy: str = field(default="follow-lqd", init=False, repr=False)
    counts_arrival: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Occamy(Scheme):
    """Block a circuit by a dynamic threshold, and expel what a queue has beyond it.

    Admission `occamy`.

    Admission is that of a dynamic threshold with a large α, so that hardly any memory stays unused. What a queue has
    beyond its threshold, because the threshold fell after packets were accepted, is expelled: packets go from the heads
    of such queues, one at a time and in turn, for as long as the memory has bandwidth to spare.

    Source: D. Shan et al., "Occamy: A Preemptive Buffer Management for On-chip Shared-memory Switches", EuroSys 2025,
    and the authors' prototype (DPDK), which has the rate and the depth of the token bucket.

    Its parameters:

    - `alpha` (default 8.0): Length that a queue may have, as a multiple of the free room.
    - `token_rate` (number in a second; default "55 per us"): Tokens that the bucket gains: cells that the memory can
      read, sent or expelled.
    - `token_depth` (cells; default "200 cells"): Tokens that the bucket holds.
    """

    policy: str = field(default="occamy", init=False, repr=False)
    alpha: float = 8.0
    token_rate: str = "55 per us"
    token_depth: str = "200 cells"


@dataclass(frozen=True, eq=False, kw_only=True)
class DtEpd(Scheme):
    """Refuse whole frames of a circuit whose queue is longer than a multiple of the free room.

    Admission `dt-epd`.

    Early packet discard whose threshold follows the room that is left: a frame of circuit i is refused as a whole when
    its first cell meets a queue of

    > Xᵢ ≥ DT = α · (B − X)  (3)

    A frame that was accepted may exceed this and is cut short, as by partial packet discard, only if it overflows.

    A shared memory can have it too, as `admission` of `[memory.NAME]`: it refuses a frame of a class whose queue at a
    port has reached α times the room that is free in its pool. The threshold judges the first cell alone; the memory
    accepts the rest as long as there is room.

    Source: D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), section
    2, equation (3), after A. K. Choudhury, E. L. Hahne, IEEE INFOCOM 1996.

    Its parameters:

    - `alpha` (default 2.0): Length of a queue from which new frames are refused, as a multiple of the free room.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    """

    policy: str = field(default="dt-epd", init=False, repr=False)
    alpha: float = 2.0
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class GatekeeperJanitor(Scheme):
    """Refuse and give up what codes can restore.

    Admission `gatekeeper-janitor`.

    A frame can spare FCF cells and a block BLF frames, because a code restores them. Above a threshold a gatekeeper
    refuses marked cells (CLP = 1) that can be spared. A cell that cannot be spared is critical: it takes the place of a
    queued cell that can, and a janitor then sweeps the queue once. In order, for a cell of frame f in block b:

    1. CLP = 0: admit, if there is room; 2. gate open: admit; 3. FCF < 0, a dead frame: discard; 4. FCF > 0: discard,
    FCF − 1; 5. FCF = 0, BLF > 0: discard with the rest of f, FCF = −1, BLF − 1; 6. FCF = BLF = 0, or no room: give up
    (a) a cell of a dead frame, (b) a marked one of a frame with FCF > 0, (c) an unmarked one of such a frame, (d) a
    whole frame of a block with BLF > 0; without any, admit while there is room.

    Source: Paper 004 (S. Chatterjee, W. Xiao, "Increasing throughput in ATM/B-ISDN using simple buffer management and
    selective discarding"), sections 4.1, 4.2 and 6, figure 5.

    Its parameters:

    - `upper` (size or %; default "80 %"): Occupancy at which the gatekeeper becomes active.
    - `lower` (size or %; default "40 %"): Occupancy at or below which it rests again.
    - `fcf` (not set): Cells that a frame can spare; by default what the circuit's code repairs.
    - `blf` (not set): Frames that a block can spare; by default what the circuit's code repairs.
    - `order` (default "dead-first"): When cells of dead frames are candidates. `dead-first`: Before any other.
      `spare-first`: After the single cells that frames can spare, as the text names these first.
    - `dead_frames` (default "discard"): What happens to the arriving cells of a dead frame. `discard`: They are
      discarded. `gate`: Unmarked ones are admitted, and marked ones while the gate is open.
    - `sweep` (default "everything"): How much the janitor gives up in a sweep. `everything`: Every candidate, and one
      whole frame of each circuit. `until-upper`: Until the occupancy is below the upper threshold.
    - `rearm` (default "below-upper"): When the janitor may sweep again. `below-upper`: After the occupancy has been
      below the upper threshold. `gate-open`: After the gate has opened.
    - `corrupted_blocks` (default False): Whether frames of blocks that are beyond repair may be given up.
    - `pass_eom` (default True): Keep the last cell of a dead frame as a delimiter where it is needed, if it fits.
    - `cache` (not set): Addresses that the candidate cache holds; by default every candidate is known.
    """

    policy: str = field(default="gatekeeper-janitor", init=False, repr=False)
    upper: str = "80 %"
    lower: str = "40 %"
    fcf: int | None = None
    blf: int | None = None
    order: Literal["dead-first", "spare-first"] = "dead-first"
    dead_frames: Literal["discard", "gate"] = "discard"
    sweep: Literal["everything", "until-upper"] = "everything"
    rearm: Literal["below-upper", "gate-open"] = "below-upper"
    corrupted_blocks: bool = False
    pass_eom: bool = True
    cache: int | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Program(Scheme):
    """Do what the instructions in the scenario say.

    Admission `program`.

    The policy is data: `code` is a list of instructions, which run from the first one to an answer. With `asks =
    "frame"` they run at the first unit of every frame, and the frame rule (partial packet discard) decides about the
    others; with `asks = "unit"` they run at every unit. `at_head` has instructions that run when such a unit comes to
    the head of its queue, about to be sent, and `tick` has some that a clock runs. Early packet discard, for example,
    is

    ```toml
    [port.bottleneck.admission]
    policy = "program"
    name = "my-epd"
    asks = "frame"
    params = { threshold = "80 %" }
    code = [
    "r0 = x.total",
    "r1 = params.threshold",
    "r2 = r0 >= r1",
    "unless r2 jump 5",
    "refuse early",
    "accept",
    ]
    ```

    Source: A scheme of your own: the instructions that a scenario gives. Write it in Python and let Pushout translate
    it.

    Its parameters:

    - `name` (default "program"): What messages call it.
    - `asks` (default "frame"): How often it is asked. `frame`: Once a frame, at its first unit. `unit`: Once a unit.
    - `looks_at` (not set): What it looks at; by default what the code says. `total`: The total occupancy. `own`: Also
      that of the unit's own circuit, or how many circuits are active. `queues`: Also the queues: how long units wait,
      what waits behind them, state of queues, or units at the head.
    - `params` (not set): Parameters, by name.
    - `limits` (tables; not set): Limits of parameters, by name, as in `{ weight = { low = 0, high = 1 } }`; times count
      in seconds, rates in bits per second.
    - `state` (not set): State of the port, by name: the initial values.
    - `per_vc` (not set): State of each circuit, by name: the initial values.
    - `per_queue` (not set): State of each queue, by name: the initial values.
    - `trace` (not set): State of the port or of queues that reports with `measure.state` show over time, by name.
    - `code` (not set): Instructions; by default `accept` alone.
    - `at_head` (not set): Instructions about a unit at the head of its queue; by default it is sent.
    - `tick` (table; not set): A clock, and the instructions that it runs.
    - `pass_eom` (default True): Keep the last cell of a broken frame as a delimiter, if it fits.
    - `stream` (default "program"): Name of its random numbers: programs with one name draw the same at a port, and with
      "red" what RED draws.
    - `source` (table; not set): The text from which the code comes.
    """

    policy: str = field(default="program", init=False, repr=False)
    name: str = "program"
    asks: Literal["frame", "unit"] = "frame"
    looks_at: Literal["total", "own", "queues"] | None = None
    params: Mapping[str, Any] | None = None
    limits: Mapping[str, Any] | None = None
    state: Mapping[str, Any] | None = None
    per_vc: Mapping[str, Any] | None = None
    per_queue: Mapping[str, Any] | None = None
    trace: Sequence[str] | None = None
    code: Sequence[str] | None = None
    at_head: Sequence[str] | None = None
    tick: Mapping[str, Any] | None = None
    pass_eom: bool = True
    stream: str = "program"
    source: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Pushout1(Scheme):
    """The longest queue loses its head up to the first EOM.

    Pushout `pushout-1`.

    An arriving cell is accepted as long as there is room; when the buffer is full, the longest queue loses the partial
    packet at its head, from the first cell to the first EOM. Thus short queues grow at the expense of long ones, and no
    room is ever reserved.

    Source: D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), section
    3.1 ("Pushout-1"), and section 4.3.4, equations (10) and (11), for the buffer share.

    Its parameters:

    - `buffer_share` (default False): Count a queue only by what it has beyond its circuit's share of the buffer, by
      MCR.
    - `keep_eom` (default False): Whether the EOM stays when the receiver already has a part of the frame.
    - `fallback` (default "next-queue"): What goes when the longest queue has no EOM. `next-queue`: Such a part of the
      next queue that has one; if there is none, as `head-fragment`. `head-fragment`: The head of that queue up to and
      including its first EOM, if it has one. `refuse`: Nothing.
    - `pass_eom` (default True): Keep the last cell of a frame that loses its end as a delimiter, if there is room.
    """

    policy: str = field(default="pushout-1", init=False, repr=False)
    buffer_share: bool = False
    keep_eom: bool = False
    fallback: Literal["next-queue", "head-fragment", "refuse"] = "next-queue"
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Pushout2(Scheme):
    """The longest queue loses its first entire packet.

    Pushout `pushout-2`.

    When the buffer is full, the first entire packet from the head of the longest queue is discarded. No packet that the
    receiver has begun to collect is damaged, and the sender of the lost packet detects the loss early.

    A shared memory can have it too, as `pushout` of `[memory.NAME]`, also where its ports send cells: what AAL5
    switches do. Then the longest queue is that of a class at a port, by the shared room that it has taken, and it loses
    the first entire packet of the longest circuit that has one. Each such port has a scheduler with a queue for each
    circuit and an admission policy by frames, as `ppd`, which discards the rest of a packet that found no room.

    Source: D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), section
    3.1 ("Pushout-2"), and section 4.3.4, equations (10) and (11), for the buffer share.

    Its parameters:

    - `buffer_share` (default False): Count a queue only by what it has beyond its circuit's share of the buffer, by
      MCR.
    - `fallback` (default "next-queue"): What goes when the longest queue has no entire packet. `next-queue`: Such a
      part of the next queue that has one; if there is none, as `head-fragment`. `head-fragment`: The head of that queue
      up to and including its first EOM, if it has one. `refuse`: Nothing.
    - `pass_eom` (default True): Keep the last cell of a frame that loses its end as a delimiter, if there is room.
    """

    policy: str = field(default="pushout-2", init=False, repr=False)
    buffer_share: bool = False
    fallback: Literal["next-queue", "head-fragment", "refuse"] = "next-queue"
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Pushout3(Scheme):
    """The longest queue loses its tail back to the last EOM.

    Pushout `pushout-3`.

    When the buffer is full, the longest queue loses the partial packet at its tail, from behind the last EOM to the
    last cell: the frame that is still arriving, whose rest is then discarded as it comes.

    Source: D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), section
    3.1 ("Pushout-3"), and section 4.3.4, equations (10) and (11), for the buffer share.

    Its parameters:

    - `buffer_share` (default False): Count a queue only by what it has beyond its circuit's share of the buffer, by
      MCR.
    - `last_eom` (default "stays"): Whether the last EOM goes as well. `stays`: It stays, so that the frame that it ends
      is not touched. `goes`: It goes as well: the frame that it ended goes on into the next one, and both are lost.
    - `fallback` (default "next-queue"): What goes when the longest queue ends with an EOM that stays. `next-queue`:
      Such a part of the next queue that has one; if there is none, as `head-fragment`. `head-fragment`: The head of
      that queue up to and including its first EOM, if it has one. `refuse`: Nothing.
    - `discard_rest` (default True): Whether to discard the rest of a frame that has lost a cell.
    - `pass_eom` (default True): Keep the last cell of a frame that loses its end as a delimiter, if there is room.
    """

    policy: str = field(default="pushout-3", init=False, repr=False)
    buffer_share: bool = False
    last_eom: Literal["stays", "goes"] = "stays"
    fallback: Literal["next-queue", "head-fragment", "refuse"] = "next-queue"
    discard_rest: bool = True
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class QuasiPushout(Scheme):
    """The quasi-longest queue loses its first entire packet.

    Pushout `quasi-pushout`.

    Push-out of entire packets without a search for the longest queue: a register LQ names the quasi-longest one.
    Whenever a queue receives or sends a cell, it is compared with queue LQ, and replaces it if it is longer. The
    register may name another queue than the longest for a while, until the longest queue receives or sends a cell.

    Source: Y. S. Lin et al., "Quasi-pushout cell discarding", IEEE Communications Letters 1(5), 1997, as paper 003 (D.
    Wu, H. J. Chao, 1998) gives it in section 3.2 with its pseudocode; equations (10) and (11) there for the buffer
    share.

    Its parameters:

    - `buffer_share` (default False): Count a queue only by what it has beyond its circuit's share of the buffer, by
      MCR.
    - `fallback` (default "next-queue"): What goes when the quasi-longest queue has no entire packet. `next-queue`: Such
      a part of the next queue that has one; if there is none, as `head-fragment`. `head-fragment`: The head of that
      queue up to and including its first EOM, if it has one. `refuse`: Nothing.
    - `pass_eom` (default True): Keep the last cell of a frame that loses its end as a delimiter, if there is room.
    """

    policy: str = field(default="quasi-pushout", init=False, repr=False)
    buffer_share: bool = False
    fallback: Literal["next-queue", "head-fragment", "refuse"] = "next-queue"
    pass_eom: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class LongestQueue(Scheme):
    """The longest queue loses a packet; in a shared memory, of whichever port it is.

    Pushout `longest-queue`.

    Longest queue drop: every arriving packet finds room as long as there is any. In a full buffer the longest queue
    loses a packet for it, until the arriving one fits. A single queue can so use everything, and N queues that compete
    get equal parts. In a shared memory the longest queue may be that of another port.

    Source: E. L. Hahne, A. Kesselman, Y. Mansour, "Competitive buffer management for shared-memory switches", SPAA
    2001; for two ports the exact bound of K. Kobayashi, S. Miyazaki, Y. Okabe, "A tight bound on online buffer
    management for two-port shared-memory switches", IEICE Transactions E91-D(8), 2008: never less than (3M − 2) / (4M −
    4) of what an optimal policy sends from a memory of M packets, for even M. For odd M an exact search for the worst
    cycle of arrivals (M = 3, 5, 7, 9) gives 3 / 4, which is less than the formula.

    Its parameters:

    - `end` (default "tail"): Which of its packets goes. `tail`: The packet that came last. `head`: The packet that
      would be sent next.
    - `counts_arrival` (default True): Whether an arriving packet counts for its own queue when queues are compared.
    """

    policy: str = field(default="longest-queue", init=False, repr=False)
    end: Literal["tail", "head"] = "tail"
    counts_arrival: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgramPushout(Scheme):
    """The queue that the instructions in the scenario choose loses a packet.

    Pushout `program`.

    `code` runs when a unit finds no room and some queue can give way. It chooses the queue that loses a packet, and
    runs again until the unit fits. Longest queue drop, for example, is

    ```toml
    [port.bottleneck.pushout]
    policy = "program"
    name = "my-longest-queue"
    code = [
    "r0 = longest",
    "r1 = x.length[r0]",
    "r2 = x.own",
    "r3 = x.size",
    "r2 = r2 + r3",
    "r4 = r1 > r2",
    "unless r4 jump 8",
    "choose r0",
    "r0 = -1",
    "choose r0",
    ]
    ```

    Source: A push-out policy of your own: the instructions that a scenario gives. Write it in Python and let Pushout
    translate it.

    Its parameters:

    - `name` (default "program"): What messages call it.
    - `end` (default "tail"): Which packet of the queue goes. `tail`: The packet that came last. `head`: The packet that
      would be sent next.
    - `params` (not set): Parameters, by name.
    - `limits` (tables; not set): Limits of parameters, by name, as in `{ weight = { low = 0, high = 1 } }`; times count
      in seconds, rates in bits per second.
    - `state` (not set): State of the port, by name: the initial values.
    - `per_queue` (not set): State of each queue, by name: the initial values.
    - `trace` (not set): State of the port or of queues that reports with `measure.state` show over time, by name.
    - `code` (not set): Instructions that choose a queue; by default the longest.
    - `stream` (default "pushout"): Name of its random numbers: programs with one name draw the same at a port.
    - `source` (table; not set): The text from which the code comes.
    """

    policy: str = field(default="program", init=False, repr=False)
    name: str = "program"
    end: Literal["tail", "head"] = "tail"
    params: Mapping[str, Any] | None = None
    limits: Mapping[str, Any] | None = None
    state: Mapping[str, Any] | None = None
    per_queue: Mapping[str, Any] | None = None
    trace: Sequence[str] | None = None
    code: Sequence[str] | None = None
    stream: str = "pushout"
    source: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Fifo(Scheme):
    """First come, first served.

    Scheduler `fifo`.

    Units leave in the order in which they were taken, whatever their circuit.

    Source: The discipline of papers 000 (section 3), 001 (section 3), 002 (section III) and 004 (section 5.1).
    """

    policy: str = field(default="fifo", init=False, repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class RoundRobin(Scheme):
    """One unit of each queue in turn.

    Scheduler `round-robin`.

    Queues that hold something send one unit each, in turn. A queue without credit loses its turn, not its place.

    Source: J. Nagle, "On packet switches with infinite storage", IEEE Transactions on Communications 35(4), 1987; the
    discipline of paper 001 (L. Kalampoukas, A. Varma, 1995) with credits and, for the bandwidth in excess of
    guarantees, of paper 003 (D. Wu, H. J. Chao, 1998).
    """

    policy: str = field(default="round-robin", init=False, repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class WrrMcr(Scheme):
    """Minimum cell rates by weighted round robin, the excess by round robin.

    Scheduler `wrr-mcr`.

    Weighted round robin gives every circuit its minimum cell rate (MCR), round robin shares the rest. A slot goes to
    the next circuit that has cells and is owed one; if there is none, to the next circuit that has cells. So unused
    guarantees are shared like the excess, and the line is never idle while a cell waits.

    With the virtual clock, "next" is the circuit among those that are owed a cell whose following cell falls due first:
    VirtualClock serves the cell with that time stamp. A circuit that always has cells then gets its MCR at any load of
    the line. With credits it certainly does as long as the MCRs leave one cell for each circuit and one more in every
    period. On a fuller line a part of what it is owed may be dropped at the end of a period, and a warning names the
    shortest period that suffices.

    Source: D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), sections
    3.1 and 4.3.5, equation (12); L. Zhang, "VirtualClock: a new traffic control algorithm for packet switching
    networks", ACM TOCS 9(2), 1991, for the other way to keep a minimum rate.

    Its parameters:

    - `realisation` (default "credits"): When a circuit is owed a cell. `credits`: Credits in every period.
      `virtual-clock`: Cells fall due one by one.
    - `period` (time; default "1 ms"): Time between two rounds of credits.
    - `carry` (default "exact"): How the fraction of a cell that a circuit is owed is treated. `exact`: Up to one cell
      is kept. `floor`: Nothing is kept.
    - `mcr_plus` (default False): Whether to raise every MCR by its share of the reserved bandwidth.
    - `reserved` (share; default "10 %"): Bandwidth that MCR+ distributes, as a share of the line's rate.
    - `layer` (default "cells"): What a minimum cell rate counts. `cells`: Cells on the line, headers included. `tcp`:
      Application octets in full frames.
    """

    policy: str = field(default="wrr-mcr", init=False, repr=False)
    realisation: Literal["credits", "virtual-clock"] = "credits"
    period: str = "1 ms"
    carry: Literal["exact", "floor"] = "exact"
    mcr_plus: bool = False
    reserved: str = "10 %"
    layer: Literal["cells", "tcp"] = "cells"


@dataclass(frozen=True, eq=False, kw_only=True)
class StrictPriority(Scheme):
    """The lowest priority number first; turns among equals.

    Scheduler `strict-priority`.

    A queue is served only when no queue of a lower priority number has something to send; queues of the same priority
    take turns. Below them all a group of classes may share what is left, in proportion to their weights, as in most
    switches and in the queueing discipline ets of Linux. A class that has not had its minimum rate goes before all
    others.

    Source: The usual discipline of switches with traffic classes. No paper of studies 000 to 004 uses it; it allows
    comparisons of their traffic with prioritised traffic.

    Its parameters:

    - `queues` (default "circuit"): What has a queue of its own. `circuit`: Every circuit. `class`: Every class of
      traffic: the flows that name one section `[queue.NAME]` share a queue, in order of arrival.
    - `group` (table; not set): Classes that share what all others leave; by default none.
    """

    policy: str = field(default="strict-priority", init=False, repr=False)
    queues: Literal["circuit", "class"] = "circuit"
    group: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Drr(Scheme):
    """Serve queues in turn by octets, in proportion to their weights.

    Scheduler `drr`.

    Queues that are not empty are visited in turn. A visit adds `quantum` octets, times the weight of the circuit, to
    the deficit of the queue, which sends packets as long as the one at its head is not longer than the deficit. The
    queue keeps the unused deficit for the next visit; a queue that becomes empty loses it.

    Source: M. Shreedhar and G. Varghese, "Efficient fair queueing using deficit round robin", ACM SIGCOMM 1995, section
    3.

    Its parameters:

    - `quantum` (size; default "1514 bytes"): Octets that a queue of weight 1 may send in a round.
    - `queues` (default "circuit"): What has a queue of its own. `circuit`: Every circuit. `class`: Every class of
      traffic: the flows that name one section `[queue.NAME]` share a queue, in order of arrival.
    """

    policy: str = field(default="drr", init=False, repr=False)
    quantum: str = "1514 bytes"
    queues: Literal["circuit", "class"] = "circuit"


@dataclass(frozen=True, eq=False, kw_only=True)
class Wrr(Scheme):
    """Serve queues in turn, each as many packets as its weight says.

    Scheduler `wrr`.

    Queues that are not empty are visited in turn. At a visit a queue sends as many packets as its weight says, or fewer
    if it becomes empty.

    Source: M. Katevenis, S. Sidiropoulos and C. Courcoubetis, "Weighted round-robin cell multiplexing in a
    general-purpose ATM switch chip", IEEE Journal on Selected Areas in Communications 9(8), 1991; the scheduler "WRR"
    of switches with traffic classes.

    Its parameters:

    - `queues` (default "circuit"): What has a queue of its own. `circuit`: Every circuit. `class`: Every class of
      traffic: the flows that name one section `[queue.NAME]` share a queue, in order of arrival.
    """

    policy: str = field(default="wrr", init=False, repr=False)
    queues: Literal["circuit", "class"] = "circuit"


@dataclass(frozen=True, eq=False, kw_only=True)
class FairQueue(Scheme):
    """Serve hashed queues in turn by octets, those that have just become active first.

    Scheduler `fair-queue`.

    Circuits are hashed to queues, which take turns by octets, and queues that have just become active go first: a flow
    that sends at most `quantum` octets a round waits at most for other new flows. A queue whose octets are used up gets
    `quantum` more and goes to the end of the list of old queues. A new queue that is found empty passes through that
    list once before it is removed, so that it cannot return as a new one and starve the others.

    Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys and E. Dumazet, "The Flow Queue CoDel Packet
    Scheduler and Active Queue Management Algorithm", RFC 8290, 2018, sections 4 and 5; `net/sched/sch_fq_codel.c` of
    Linux 6.

    Its parameters:

    - `quantum` (size; default "1514 bytes"): Octets that a queue may send in a round.
    - `buckets` (default 1024): Buckets into which circuits are hashed.
    """

    policy: str = field(default="fair-queue", init=False, repr=False)
    quantum: str = "1514 bytes"
    buckets: int = 1024


@dataclass(frozen=True, eq=False, kw_only=True)
class DualQueue(Scheme):
    """Serve packets with ECT(1) or CE first, and leave the others a share.

    Scheduler `dual-queue`.

    The congestion notification of a packet says which of two queues it joins: L if it has ECT(1) or CE, else C. L goes
    first, but while both wait, C may send its share. A credit in octets decides, which L fills and C uses up:

    > L sends: credit ← credit + w · octets, C sends: credit ← credit − (1 − w) · octets

    L is served if C is empty or the credit is not above 0.

    Source: K. De Schepper, B. Briscoe and G. White, "Dual-Queue Coupled Active Queue Management (AQM) for Low Latency,
    Low Loss, and Scalable Throughput (L4S)", RFC 9332, 2023, sections 2.4 and 2.5.1.1; `net/sched/sch_dualpi2.c` of
    Linux 6.17.

    Its parameters:

    - `classic_share` (share; default "10 %"): Share of the line that packets with neither ECT(1) nor CE may have while
      both queues wait.
    - `mtu` (size; not set): Octets of a full packet; by default a full frame.
    """

    policy: str = field(default="dual-queue", init=False, repr=False)
    classic_share: str = "10 %"
    mtu: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgramScheduler(Scheme):
    """Serve the queue that the instructions in the scenario choose.

    Scheduler `program`.

    `code` runs when the line is free and some queue may send, and chooses the queue. `joined` runs when a unit has
    joined a queue, `sent` when one that was chosen is sent; they only change state. Round robin, for example, is

    ```toml
    [port.bottleneck.scheduler]
    policy = "program"
    name = "my-round-robin"
    state = { last = -1 }
    code = ["r0 = state.last", "r0 = next_backlogged r0", "state.last = r0", "choose r0"]
    ```

    Source: A scheduler of your own: the instructions that a scenario gives. Write it in Python and let Pushout
    translate it.

    Its parameters:

    - `name` (default "program"): What messages call it.
    - `params` (not set): Parameters, by name.
    - `limits` (tables; not set): Limits of parameters, by name, as in `{ weight = { low = 0, high = 1 } }`; times count
      in seconds, rates in bits per second.
    - `queues` (default "circuit"): What has a queue of its own. `circuit`: Every circuit. `class`: Every class of
      traffic: the flows that name one section `[queue.NAME]` share a queue, in order of arrival.
    - `state` (not set): State of the port, by name: the initial values.
    - `per_queue` (not set): State of each queue, by name: the initial values.
    - `trace` (not set): State of the port or of queues that reports with `measure.state` show over time, by name.
    - `code` (not set): Instructions that choose a queue; by default the first.
    - `joined` (not set): Instructions for a unit that has joined a queue.
    - `sent` (not set): Instructions for a unit that is sent.
    - `stream` (default "scheduler"): Name of its random numbers: programs with one name draw the same at a port.
    - `source` (table; not set): The text from which the code comes.
    """

    policy: str = field(default="program", init=False, repr=False)
    name: str = "program"
    params: Mapping[str, Any] | None = None
    limits: Mapping[str, Any] | None = None
    queues: Literal["circuit", "class"] = "circuit"
    state: Mapping[str, Any] | None = None
    per_queue: Mapping[str, Any] | None = None
    trace: Sequence[str] | None = None
    code: Sequence[str] | None = None
    joined: Sequence[str] | None = None
    sent: Sequence[str] | None = None
    stream: str = "scheduler"
    source: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class N23(Scheme):
    """Credits for a buffer of N2 + N3 cells per circuit (N23).

    Credit `n23`.

    Every circuit has its own buffer of N2 + N3 cells behind every line, and the sender never has more cells in flight
    than fit there. The receiver counts the cells `Vr` that it has forwarded and reports the count to the sender after
    every N2 of them; the sender counts the cells `Vs` that it has sent and sends as long as its balance is positive:

    > bal = N2 + N3 − (Vs − Vr)

    No cell is ever lost (a circuit has X ≤ N2 + N3 cells behind the line) and none is blocked for ever (if a sender has
    no balance, at least N2 of its cells are still to be forwarded). A circuit gets at most N2 + N3 cells in the time of
    N2 cells and one round trip, from the last bit of a cell to its credit: with all three in cells

    > rate / line rate ≤ (N2 + N3) / (RTT + N2)

    Source: H. T. Kung, A. Chapman, "The FCVC (flow-controlled virtual channels) proposal for ATM networks", ICNP 1993;
    paper 001 (L. Kalampoukas, A. Varma, 1995), section 2 and appendix A. The balance is that of the credit update
    protocol: H. T. Kung, T. Blackwell, A. Chapman, SIGCOMM 1994.

    Its parameters:

    - `n2` (cells; default "20 cells"): Cells that the receiver forwards before it sends the next credit cell: N2.
    - `n3` (cells; not set): Cells that keep the line busy for one round trip: N3; by default just enough for `peak`.
    - `peak` (rate; not set): Peak rate of one circuit, for the default of `n3`; by default the rate of the line.
    - `charge` (default True): Whether credit cells take their time on the line in the other direction, ahead of waiting
      data.
    """

    policy: str = field(default="n23", init=False, repr=False)
    n2: str = "20 cells"
    n3: str | None = None
    peak: str | None = None
    charge: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Cbfc(Scheme):
    """Credits for a buffer of each class behind a line of packets (CBFC).

    Credit `cbfc`.

    Every class of traffic is a virtual channel with a buffer of its own behind the line, which is counted in credits of
    `CreditSize` octets. A packet takes whole credits:

    > credits = ⌈(size + overhead) / CreditSize⌉

    The sender counts the credits that it has consumed (CC), the receiver those that it has freed (CF) because packets
    have left the node, sent or lost. A packet of a channel is sent if and only if

    > CC − CF + credits ≤ limit

    The receiver reports CF in messages of 8 octets (CF_Update), which pass the packets that wait on the line in the
    other direction, at least `update` octets of that line apart. One message is for one channel; channels with news
    take turns. Both counters have 20 bits and start again from zero; only their difference counts. As the message says
    what has been freed since the start, the next one mends the loss of one. Nothing is lost for want of room, and
    nothing has to be kept free beyond what the channels may use, as the headroom of pauses has to be. But a channel is
    as fast as its limit allows:

    > rate ≤ limit · CreditSize / (time from the start of a packet to the message that returns its credits)

    Source: Credit-based flow control of Ultra Ethernet 1.0, section 5.2, as described by the Switch Abstraction
    Interface: Open Compute Project, SAI, `doc/CBFC/SAI-Credit_Based_Flow_Control.md` (2026). It is the heir of `n23`,
    with credits for classes of packets in the place of credits for circuits of cells.

    Its parameters:

    - `credit_size` (size; default "128 bytes"): Octets that a credit stands for, best the cell of the memory behind the
      line; a packet takes whole credits.
    - `overhead` (size; default "0 bytes"): Octets that the receiver stores with each packet in addition.
    - `room` (size; not set): What each class may have behind the line, in whole credits; by default as much as keeps
      the line busy with the largest packets.
    - `update` (size; default "6400 bytes"): Least distance of two messages of the receiver, in octets of the line that
      carries them.
    """

    policy: str = field(default="cbfc", init=False, repr=False)
    credit_size: str = "128 bytes"
    overhead: str = "0 bytes"
    room: str | None = None
    update: str = "6400 bytes"


@dataclass(frozen=True, eq=False, kw_only=True)
class Gcra(Scheme):
    """Police by the generic cell rate algorithm.

    Police `gcra`.

    Units are expected every I. A unit that arrives more than L before its theoretical arrival time does not conform and
    leaves the state unchanged:

    > t < TAT − L: excess; otherwise TAT ← max(t, TAT) + I

    Source: ITU-T Recommendation I.371 (1993), annex 1; ATM Forum, "Traffic Management Specification", generic cell rate
    algorithm GCRA(I, L), virtual scheduling form; the policing of paper 004 (S. Chatterjee, W. Xiao), section 3.

    Its parameters:

    - `rate` (rate; must be given): Rate promised, headers and padding included.
    - `tolerance` (time; default "0 s"): How early a unit may come.
    - `action` (default "tag"): What happens to units in excess. `tag`: It is marked with CLP = 1 and continues. `drop`:
      It is lost.
    """

    kind: str = field(default="gcra", init=False, repr=False)
    rate: str
    tolerance: str = "0 s"
    action: Literal["tag", "drop"] = "tag"


@dataclass(frozen=True, eq=False, kw_only=True)
class Random(Scheme):
    """Mark units at random.

    Police `random`.

    The marking of a policer as the paper's analysis sees it, without the traffic that causes it.

    Source: Paper 004 (S. Chatterjee, W. Xiao), section 5.3: a cell is marked with probability m, independently of all
    others.

    Its parameters:

    - `probability` (must be given): Probability that a unit is marked: m.
    - `action` (default "tag"): What happens to marked units. `tag`: It is marked with CLP = 1 and continues. `drop`: It
      is lost.
    """

    kind: str = field(default="random", init=False, repr=False)
    probability: float
    action: Literal["tag", "drop"] = "tag"


@dataclass(frozen=True, eq=False, kw_only=True)
class Greedy(Scheme):
    """An application that always has data to send.

    Source `greedy`.

    There is always more to send.

    Source: The infinite source of most TCP studies, for example paper 001 section 3 ("infinite supply of data").
    """

    kind: str = field(default="greedy", init=False, repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class File(Scheme):
    """An application that sends one file after another.

    Source `file`.

    Send a file; when its last byte has been acknowledged, rest; then send the next one. Or send one at fixed intervals,
    as servers do that answer the same question together (incast), or one at each instant of a list.

    Source: V. Rosolen, O. Bonaventure, G. Leduc, "Impact of cell discard strategies on TCP/IP in ATM UBR networks",
    1998 (paper 000), section 3: an on-off model whose on period is the transfer of a file.

    Its parameters:

    - `size` (size; must be given): Octets of one file.
    - `off` (time; default "0 s"): Pause between the last acknowledgement of a file and the start of the next.
    - `every` (time; not set): Interval from one file to the next; a file that is wanted before the last one has ended
      starts when that ends.
    - `at` (time; not set): Instants at which files are wanted, counted from the start of the flow: one file for each,
      and no others.
    - `reconnect` (default True): Whether every file opens a new connection with fresh estimators. If not, the old
      connection continues with its window and its estimate; after a pause longer than its retransmission timeout it
      slow-starts.
    """

    kind: str = field(default="file", init=False, repr=False)
    size: str
    off: str = "0 s"
    every: str | None = None
    at: Sequence[str] | None = None
    reconnect: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Cbr(Scheme):
    """A source that sends one unit every period.

    Source `cbr`.

    One unit every period, exactly.

    Source: The periodic source of N·D/D/1 analyses: J. W. Roberts, J. T. Virtamo, "The superposition of periodic cell
    arrival streams in an ATM multiplexer", IEEE Trans. Communications 39(2), 1991.

    Its parameters:

    - `rate` (rate; must be given): Rate on the line, headers and padding included.
    - `size` (size; default "1460 bytes"): Data of one packet, or of one piece that the application writes to TCP: one
      length, `{ exponential = { mean, max } }` or `{ mix = [[length, weight], …] }`. A transport of single cells has 48
      octets whatever this says.
    """

    kind: str = field(default="cbr", init=False, repr=False)
    rate: str
    size: str | Mapping[str, Any] = "1460 bytes"


@dataclass(frozen=True, eq=False, kw_only=True)
class Poisson(Scheme):
    """A source whose units form a Poisson stream.

    Source `poisson`.

    Independent, exponentially distributed gaps between units.

    Source: The Poisson stream of M/D/1, as in L. Kleinrock, "Queueing Systems", vol. 1, 1975, section 2.4.

    Its parameters:

    - `rate` (rate; must be given): Mean rate on the line, headers and padding included.
    - `size` (size; default "1460 bytes"): Data of one packet, or of one piece that the application writes to TCP: one
      length, `{ exponential = { mean, max } }` or `{ mix = [[length, weight], …] }`. A transport of single cells has 48
      octets whatever this says.
    """

    kind: str = field(default="poisson", init=False, repr=False)
    rate: str
    size: str | Mapping[str, Any] = "1460 bytes"


@dataclass(frozen=True, eq=False, kw_only=True)
class OnOff(Scheme):
    """A bursty source.

    Source `on-off`.

    Packets back to back at the peak rate during a burst, then silence.

    Source: Paper 004 (S. Chatterjee, W. Xiao), section 5.1: bursty sources with a peak rate, a burst size and an
    activity ratio; the bursty UDP sources of paper 002, section VI.

    Its parameters:

    - `peak` (rate; must be given): Rate within a burst, headers and padding included.
    - `burst` (not set): Mean number of packets in a burst.
    - `on` (time; not set): Mean length of a burst, instead of `burst`.
    - `activity` (not set): Share of time within bursts.
    - `off` (time; not set): Mean length of a silence, instead of `activity`.
    - `distribution` (default "exponential"): How bursts and silences vary. `exponential`: A geometric number of
      packets, an exponential silence. `periodic`: Constant bursts and constant silences in all cycles.
    - `phase` (default "random"): The state of the source when it starts. `random`: A periodic source waits for a time
      uniform over its cycle and then begins its first burst; another one starts anywhere in its cycle, silent with
      probability 1 − activity. `aligned`: At the beginning of a burst: sources that start together begin their first
      bursts together.
    - `total` (not set): Packets after which the source stops; by default it never does.
    - `size` (size; default "1460 bytes"): Data of one packet, or of one piece that the application writes to TCP: one
      length, `{ exponential = { mean, max } }` or `{ mix = [[length, weight], …] }`. A transport of single cells has 48
      octets whatever this says.
    """

    kind: str = field(default="on-off", init=False, repr=False)
    peak: str
    burst: int | None = None
    on: str | None = None
    activity: float | None = None
    off: str | None = None
    distribution: Literal["exponential", "periodic"] = "exponential"
    phase: Literal["random", "aligned"] = "random"
    total: int | None = None
    size: str | Mapping[str, Any] = "1460 bytes"


@dataclass(frozen=True, eq=False, kw_only=True)
class FecBlock(Scheme):
    """A bursty source whose packets form blocks with parity.

    Source `fec-block`.

    K packets of data are followed by h packets of parity. Parity comes on top of the data and so raises the load:

    > λ_eff = λ · (1 + h / K)

    Source: Paper 004 (S. Chatterjee, W. Xiao), sections 3 and 5.1: bursty sources whose packets are grouped into
    blocks.

    Its parameters:

    - `peak` (rate; must be given): Rate of data packets within a burst, headers and padding included, parity not.
    - `burst` (not set): Mean number of data packets in a burst.
    - `on` (time; not set): Mean length of a burst, instead of `burst`.
    - `activity` (not set): Share of time within bursts.
    - `off` (time; not set): Mean length of a silence, instead of `activity`.
    - `distribution` (default "periodic"): How bursts and silences vary. `exponential`: A geometric number of packets,
      an exponential silence. `periodic`: Constant bursts and constant silences in all cycles.
    - `phase` (default "random"): The state of the source when it starts. `random`: A periodic source waits for a time
      uniform over its cycle and then begins its first burst; another one starts anywhere in its cycle, silent with
      probability 1 − activity. `aligned`: At the beginning of a burst: sources that start together begin their first
      bursts together.
    - `block` (default 10): Data packets in a block: K.
    - `parity` (default 1): Parity packets added to a block: h.
    - `blocks` (not set): Blocks after which the source stops; by default it never does.
    - `mtu` (size; default "1500 bytes"): Octets of every packet, IP header included.
    - `parity_adds` (default "rate"): What parity packets do to a burst. `rate`: More packets in the same time. `time`:
      A longer burst at the same rate.
    """

    kind: str = field(default="fec-block", init=False, repr=False)
    peak: str
    burst: int | None = None
    on: str | None = None
    activity: float | None = None
    off: str | None = None
    distribution: Literal["exponential", "periodic"] = "periodic"
    phase: Literal["random", "aligned"] = "random"
    block: int = 10
    parity: int = 1
    blocks: int | None = None
    mtu: str = "1500 bytes"
    parity_adds: Literal["rate", "time"] = "rate"


@dataclass(frozen=True, eq=False, kw_only=True)
class Arrivals(Scheme):
    """Transfers that arrive as a random process, each a connection of its own.

    Source `arrivals`.

    Transfers arrive whether or not earlier ones have ended, and each is a connection of its own. Arrivals at a mean
    rate of

    > λ = load · rate of the sender's link / (8 · mean size)

    Source: The open-loop workloads of studies of data centres: M. Alizadeh et al., "pFabric: minimal near-optimal
    datacenter transport", SIGCOMM 2013, section 5; V. Addanki et al., "ABM", SIGCOMM 2022, section 4.1, and its
    published scripts.

    Its parameters:

    - `sizes` (sizes; must be given): Sizes of transfers.
    - `load` (share; not set): Share of the sender's link that their data fill.
    - `rate` (number in a second; not set): Mean number of arrivals, instead of `load`.
    - `gaps` (default "poisson"): Times between arrivals. `poisson`: Exponential gaps. `fixed`: Equal gaps; the first
      has a random length.
    - `to` (rule or hosts; not set): Where they go: "any" other host, a host at another switch ("other-leaf"), or
      another one of a list of hosts, all equally likely; by default to the host that the flow names.
    """

    kind: str = field(default="arrivals", init=False, repr=False)
    sizes: Literal["websearch", "data-mining", "hadoop"] | str | Mapping[str, Any]
    load: str | None = None
    rate: str | None = None
    gaps: Literal["poisson", "fixed"] = "poisson"
    to: Literal["any", "other-leaf"] | Sequence[str] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Query(Scheme):
    """Queries that many hosts answer at once.

    Source `query`.

    The host of the flow asks `fan_in` other hosts at once, and each answers with its part of `size` over a connection
    of its own. The query is complete when the last answer is. Requests take no time.

    Source: M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 2: partition and aggregate; the incast
    workload of V. Addanki et al., "ABM", SIGCOMM 2022, section 4.1.

    Its parameters:

    - `fan_in` (must be given): Hosts that answer a query.
    - `size` (size; must be given): Octets of all answers together.
    - `rate` (number in a second; must be given): Mean number of queries.
    - `gaps` (default "poisson"): Times between queries. `poisson`: Exponential gaps. `fixed`: Equal gaps; the first has
      a random length.
    - `among` (default "any"): Which hosts answer. `any`: To any other host, all equally likely. `other-leaf`: To a host
      at another switch, all equally likely.
    """

    kind: str = field(default="query", init=False, repr=False)
    fan_in: int
    size: str
    rate: str
    gaps: Literal["poisson", "fixed"] = "poisson"
    among: Literal["any", "other-leaf"] = "any"


@dataclass(frozen=True, eq=False, kw_only=True)
class Replay(Scheme):
    """Packets of a recording, at their times.

    Source `replay`.

    The packets of a recording are sent again, at the same times and with the same lengths.

    Source: Trace-driven simulation: R. Jain, "The Art of Computer Systems Performance Analysis", 1991, chapter 24.

    Its parameters:

    - `file` (must be given): The file that was recorded: CSV, Parquet, pcap or pcapng.
    - `flow` (not set): Only rows of this flow.
    - `data` (recording; not set): The packets of the file, which `pushout` adds.
    """

    kind: str = field(default="replay", init=False, repr=False)
    file: str
    flow: str | None = None
    data: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Tcp(Scheme):
    """TCP, both ends: sender, receiver and their timers.

    Transport `tcp`.

    TCP for bulk data in one direction. `Sender` and `Receiver` are the two ends. Neither depends on the other, a clock
    or a network: the engine hands over each `Segment` that arrives, calls `on_timer` at the instant that `next_timer`
    names, and takes the segments from `out`. Simultaneous facts count in the order in which they are reported.

    Source: The 4.4BSD-Lite implementation (Net/3) as W. R. Stevens and G. R. Wright describe it in "TCP/IP Illustrated,
    Volume 2" (1995), chapters 24–30: segments leave as in `tcp_output`, acknowledgements act as in `tcp_input`, timers
    count ticks as in `tcp_timer`. The congestion control is a part of its own: `congestion`. What is done about losses
    and idle times follows M. Allman, V. Paxson and E. Blanton, RFC 5681 (2009), and what the timers say V. Paxson, M.
    Allman, J. Chu and M. Sargent, RFC 6298 (2011), whose two differences from 4.4BSD are keys.

    Its parameters:

    - `profile` (not set): Defaults of a kind of host; explicit keys take precedence. `bsd-1993`: 4.4BSD of 1993: its
      timers, its back-off table and its initial window; used by studies 000 to 004. `linux`: Linux with its defaults,
      for servers and clients on the Internet: CUBIC, SACK with RACK, ten segments to begin with, timestamps.
      `datacenter`: Linux as in a data centre: DCTCP with marks on all packets, SACK with RACK, a least timeout of 10
      ms.
    - `laws` (default "rfc"): Which laws both ends follow where Linux and the RFCs part. `rfc`: RFC 1122, 5681, 6298 and
      8985. `linux`: Linux. The receiver acknowledges the first 500 segments of a connection and the end of each write
      at once, and others after `fast_timer` exactly. An idle time halves the window once for each timeout, and so does
      an application with what it leaves unused. The window grows by all that an ACK delivers, without a limit. Blocks
      measure round trips. With `dsack` a timeout is taken back as well if all that was sent again had arrived. A first
      segment that is sent again restarts the timer. A timeout in a recovery leaves the threshold as it is. A probe
      allows the ACK of a lone segment `min_rto`; the timers of probes and of reordering expire 2 ms later, and all
      timers of a sender by `kernel_tick`.
    - `kernel_tick` (time; default "0 s"): Tick of the kernel, by which timers of a sender expire late on average (with
      `laws = "linux"`): 4 ms at 250 Hz.
    - `congestion` (word or table; default "reno"): Congestion control of the sender.
    - `mss` (default 1460): Octets of data in a full segment; the default fills an Ethernet frame.
    - `window` (size; default "64 KiB"): Receive buffer, hence largest window; above 65535 bytes the window field is
      scaled (RFC 1323) and the window rounded down to a value of the scaled field. The default is that of the studies.
    - `window_scaling` (default True): Whether the window-scale option is used; if not, a 64 KiB buffer advertises 65535
      bytes.
    - `timestamps` (default False): Whether segments and ACKs carry the timestamp option (RFC 1323): twelve octets each,
      which reduce the data of a full segment, and a round-trip measurement with every ACK of new data.
    - `ecn` (default False): Explicit congestion notification (RFC 3168): segments say that ports may mark them instead
      of losing them, and the sender reacts to a mark as to a loss, at most once per round trip and without a
      retransmission.
    - `ect` (default "data"): Which packets ports may mark then. `data`: Segments of new data (RFC 3168). `all`: All:
      SYN, acknowledgements, retransmissions and probes as well (Linux with `dctcp`).
    - `l4s` (default False): These packets bear ECT(1) instead of ECT(0): the sender is one of L4S (RFC 9331), whose
      packets `dualpi2` puts into its queue of low latency. Only with `congestion = "dctcp"` and `"prague"`, the
      scalable congestion controls.
    - `feedback` (default "rfc3168"): What acknowledgements report about marks; `accecn` and `counters` only with
      `congestion = "prague"`, which needs one of them. `rfc3168`: That there was a mark, until the sender reacts (RFC
      3168); for `dctcp` the marks of the segments that they acknowledge (RFC 8257). `accecn`: The number of marked
      packets in three bits of the header, modulo 8 (accurate ECN, RFC 9768). The sender assumes the wrap that fits the
      packets acknowledged, if an ACK is for fewer than four on average. `counters`: The number of marked packets as a
      whole, as in QUIC and in UDP Prague.
    - `delayed_ack` (default True): Acknowledge every second full segment, or at the next tick of the fast timer
      (4.4BSD); if not, every segment.
    - `slow_timer` (time; default "500 ms"): Tick of the retransmission and persist timers and of round-trip
      measurements: 500 ms in 4.4BSD; 1 ps gives exact timers. A timer of n ticks lasts between n - 1 and n ticks.
    - `fast_timer` (time; default "200 ms"): Tick of the delayed-acknowledgement timer: 200 ms in 4.4BSD.
    - `timer_phase` (default "random"): Where the ticks of both timers fall. `random`: At random, drawn once for each
      host: hosts were not switched on together. `aligned`: At whole multiples of the tick on every host, as in a
      simulator with one clock.
    - `min_rto` (time; default "1 s"): Shortest retransmission timeout: 1 s in 4.4BSD (TCPTV_MIN). Never less than one
      tick.
    - `rto_floor` (default "sum"): What `min_rto` bounds. `sum`: The timeout: max(`min_rto`, srtt + 4 mdev) (RFC 6298,
      2.4). `variance`: Its part for variance: srtt + max(`min_rto`, 4 mdev), as in Linux (`tcp_rtt_estimator`,
      `tcp_set_rto`).
    - `max_rto` (time; default "64 s"): Longest retransmission timeout, back-off included: 64 s in 4.4BSD
      (TCPTV_REXMTMAX).
    - `backoff` (default "rfc6298"): How consecutive timeouts grow. `rfc6298`: Each one doubles the timeout in force, to
      which `min_rto` has been applied, up to `max_rto` (RFC 6298, 2.4 and 5.5). Only the first one for a segment halves
      the window (RFC 5681 section 3.1). `bsd`: They multiply the estimate by 2, 4, … 64, and apply `min_rto` to the
      product: nothing doubles while that is less than `min_rto`. Each one halves the window (4.4BSD).
    - `initial_rto` (time; default "1 s"): First retransmission timeout while there is no measurement: 1 s in RFC 6298,
      where a lost SYN is repeated after 1, 3, 7, … s; 6 s in 4.4BSD, where it is repeated after 6, 30 and 78 s.
    - `initial_srtt` (time; not set): Smoothed round-trip time before the first measurement; together with initial_mdev
      it replaces initial_rto by their sum srtt + 4 mdev.
    - `initial_mdev` (time; not set): Mean deviation of the round-trip time before the first measurement.
    - `initial_estimate` (default "rfc6298"): Role of the initial values in the first measurement and in the back-off
      before it. `rfc6298`: A timeout and no more: the back-off doubles it, and the first measurement replaces it (RFC
      6298, 2.1 and 2.2). Where the SYN was sent again, data begin with 3 s at least (5.7). `bsd`: An estimate: the
      first measurement is averaged into `initial_srtt` and `initial_mdev`; without them the back-off of `bsd` starts
      from twice `initial_rto` (4.4BSD).
    - `rtt_jitter` (time; default "0 s"): Each measurement is lengthened by a uniform random time up to this one,
      against phase effects (L. Kalampoukas and A. Varma, "Performance of TCP over Multi-Hop ATM Networks", 1995,
      section 3).
    - `initial_window` (default 1): Congestion window of a new connection and after an idle time, in segments: 1 in
      4.4BSD.
    - `unscheduled` (not set): Class in shared memories of the new data that a connection sends before its first
      acknowledgement, hence of its first `initial_window` segments: the name of a section `[queue.NAME]`, by default
      the flow's class. The sender marks these packets. What it sends again is of the flow's own class. Queues of ports
      and their schedulers do not heed the mark.
    - `initial_ssthresh` (size; not set): Slow-start threshold of a new connection, up to and at which it slow-starts;
      unlimited in 4.4BSD.
    - `dupack_threshold` (default 3): Duplicate ACKs that trigger a fast retransmission: 3 (4.3BSD-Reno, RFC 2581); a
      number that no window can produce turns fast retransmission off.
    - `partial_ack` (default "impatient"): Which partial ACKs restart the retransmission timer (new-reno only).
      `impatient`: The first one of a recovery restarts it (RFC 6582 section 3.2, step 3). `slow-but-steady`: Each one
      restarts it (RFC 2582 section 4; RFC 6298, 5.3). `never`: None restarts it.
    - `send_high` (default True): After a timeout, no fast retransmission before more than everything sent until then is
      acknowledged (RFC 2582 section 5, the careful variant; new-reno only).
    - `sack` (default False): Selective acknowledgements (RFC 2018): ACKs report what has arrived out of order, and the
      sender repairs losses by the algorithm `recovery`.
    - `recovery` (default "rfc6675"): Recovery algorithm: what counts as lost, and how fast the window is refilled (with
      sack). `rfc6675`: Losses by blocks above them; the window falls at once. `prr`: Losses by blocks above them; the
      window falls in proportion to what is delivered. `rack`: Losses by time, tail-loss probes; the window falls as
      with `prr`.
    - `sack_restarts_timer` (default False): Restart the retransmission timer also when a block reports data that had
      been sent before the first unacknowledged segment was sent last, as Linux does (`tcp_clean_rtx_queue`); if not,
      only when new data is acknowledged (RFC 6298, 5.3; with sack).
    - `dsack` (default False): ACKs report segments that arrive twice (RFC 2883). The sender then takes back a reduction
      of the window when all that it sent again had arrived, as Linux does, and `rack` waits longer for packets that
      others have overtaken (RFC 8985; with sack).
    - `limited_transmit` (default True): Let duplicate ACKs send new segments before a loss is found (RFC 3042; with
      sack).
    - `byte_counting` (default False): Open the window by the octets that are acknowledged instead of by the number of
      ACKs (RFC 3465, with a limit of two segments an ACK in slow start).
    - `cubic_c` (default 0.4): C, how fast the window grows, in segments per second³ (cubic only): RFC 9438 section 5.1.
    - `cubic_law` (default "rfc9438"): How the window follows the curve and the window that Reno would have (cubic
      only). `rfc9438`: The curve is taken a smoothed round trip ahead (RFC 9438 section 4.2). Where it is larger, the
      window is that of Reno, which grows by a segment a round trip from the window before the loss on (section 4.3).
      `linux`: As in `bictcp_update`, in whole segments. The curve is taken the shortest round trip ahead. The window of
      Reno is a target as well, and always grows by 8/15 of a segment a round trip.
    - `hystart` (default "linux"): How slow start ends before a loss (cubic only). `linux`: Linux: when ACKs of a round
      come in a train of half a round trip, or when round trips have become longer. `plus-plus`: RFC 9406: a longer
      round trip slows the growth down to a quarter; after five such rounds slow start ends. `off`: It ends with a loss
      or at the threshold.
    - `bbr_rounds` (default True): Probe for bandwidth after as many rounds as the window has packets, at most 63, as
      the draft does for the sake of senders of Reno; if not, only after 2 to 3 s: for control experiments (bbr only).
    - `bbr_loss_bounds` (default True): Bound rate and flight by losses, as the draft does; if not, losses are only
      repaired: for control experiments (bbr only).
    - `prague_rtt` (time; default "25 ms"): Shortest virtual round trip, by whose clock flows with shorter round trips
      grow; with 0 s each follows its own round trip, as with `dctcp`: for control experiments (prague only).
    - `extra_increase` (default False): Open the window by a further mss/8 with each ACK in congestion avoidance, as
      4.4BSD-Lite does although it should not (RFC 2525, "extra additive constant").
    - `halve_inflation` (default False): A timeout in fast recovery halves the window together with what duplicate ACKs
      have added to it, as 4.4BSD does and RFC 2582 by its letter; if not, without that part.
    - `missed_deflation` (default False): A fast recovery that three duplicates began and no fourth followed leaves the
      window inflated by these three, as in 4.4BSD-Lite, which shrinks it only after more than three (RFC 2525, "failure
      of window deflation after loss recovery"; reno only).
    - `one_fast_retransmit` (default False): One fast retransmission in a window of data: no other one before more is
      acknowledged than had been sent at the last one or at a timeout, as in ns-2 by default (reno only).
    - `handshake` (default True): Open each connection with SYN and SYN-ACK; if not, it is established at once.
    - `pacing` (true, false, auto or table; default "auto"): The sender spreads its packets over the round trip instead
      of sending a window at once, as Linux does: at 2 · cwnd ÷ srtt in slow start below half of ssthresh, else at 1.2 ·
      cwnd ÷ srtt. With `pacing.burst` up to that many packets or octets follow each other, by default 1 packet. "auto":
      as the congestion control demands; `bbr` paces, at its own rate and with its own bursts, and the others do not.
    """

    kind: str = field(default="tcp", init=False, repr=False)
    profile: Literal["bsd-1993", "linux", "datacenter"] | None = None
    laws: Literal["rfc", "linux"] = "rfc"
    kernel_tick: str = "0 s"
    congestion: Literal["reno", "new-reno", "tahoe", "cubic", "dctcp", "bbr", "prague"] | Mapping[str, Any] = "reno"
    mss: int = 1460
    window: str = "64 KiB"
    window_scaling: bool = True
    timestamps: bool = False
    ecn: bool = False
    ect: Literal["data", "all"] = "data"
    l4s: bool = False
    feedback: Literal["rfc3168", "accecn", "counters"] = "rfc3168"
    delayed_ack: bool = True
    slow_timer: str = "500 ms"
    fast_timer: str = "200 ms"
    timer_phase: Literal["random", "aligned"] = "random"
    min_rto: str = "1 s"
    rto_floor: Literal["sum", "variance"] = "sum"
    max_rto: str = "64 s"
    backoff: Literal["rfc6298", "bsd"] = "rfc6298"
    initial_rto: str = "1 s"
    initial_srtt: str | None = None
    initial_mdev: str | None = None
    initial_estimate: Literal["rfc6298", "bsd"] = "rfc6298"
    rtt_jitter: str = "0 s"
    initial_window: int = 1
    unscheduled: str | None = None
    initial_ssthresh: str | None = None
    dupack_threshold: int = 3
    partial_ack: Literal["impatient", "slow-but-steady", "never"] = "impatient"
    send_high: bool = True
    sack: bool = False
    recovery: Literal["rfc6675", "prr", "rack"] = "rfc6675"
    sack_restarts_timer: bool = False
    dsack: bool = False
    limited_transmit: bool = True
    byte_counting: bool = False
    cubic_c: float = 0.4
    cubic_law: Literal["rfc9438", "linux"] = "rfc9438"
    hystart: Literal["linux", "plus-plus", "off"] = "linux"
    bbr_rounds: bool = True
    bbr_loss_bounds: bool = True
    prague_rtt: str = "25 ms"
    extra_increase: bool = False
    halve_inflation: bool = False
    missed_deflation: bool = False
    one_fast_retransmit: bool = False
    handshake: bool = True
    pacing: bool | Literal["auto"] | Mapping[str, Any] = "auto"


@dataclass(frozen=True, eq=False, kw_only=True)
class Udp(Scheme):
    """Datagrams without feedback.

    Transport `udp`.

    Every datagram of the source is one packet, sent once: it is not acknowledged, and the source never slows down.

    Source: J. Postel, "User Datagram Protocol", RFC 768, 1980; the unresponsive sources of paper 002, section VI.

    Its parameters:

    - `ecn` (default False): Datagrams are ECN-capable (ECT): a port that marks keeps them, and the source sends on as
      before.
    - `l4s` (default False): Datagrams that are ECN-capable bear ECT(1), so that `dualpi2` puts them into its queue of
      low latency.
    """

    kind: str = field(default="udp", init=False, repr=False)
    ecn: bool = False
    l4s: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells(Scheme):
    """Single cells without adaptation.

    Transport `cells`.

    Every unit of the source is one cell with 48 octets of payload, a frame by itself and without adaptation trailer.

    Source: The single cells of queueing analyses, as in J. W. Roberts, J. T. Virtamo, IEEE Trans. Communications 39(2),
    1991.
    """

    kind: str = field(default="cells", init=False, repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Fec(Scheme):
    """Packets in blocks with parity.

    Transport `fec`.

    K packets of data and h of parity form a block. A packet arrives or is missing, but is never wrong, so the code only
    fills gaps: any K of the K + h packets restore the data. One parity packet is the bitwise sum of the others (section
    3's equation for c_{K+1,i}); several are the words of a Reed–Solomon code. Within a frame, `parity_cells` p cells of
    parity are added to its L cells, and any L of the L + p cells restore the frame.

    Source: Paper 004 (S. Chatterjee, W. Xiao), sections 3 and 4.1; N. Shacham, P. McKenney, "Packet recovery in
    high-speed networks using coding and buffer management", IEEE INFOCOM 1990; L. Rizzo, "Effective erasure codes for
    reliable computer communication protocols", ACM CCR 27(2), 1997, for more than one parity packet.

    Its parameters:

    - `parity_cells` (default 1): Parity cells added to every frame: p.
    - `fcf` (not set): Cells of a frame that switches may give up; by default as many as the code repairs.
    - `blf` (not set): Packets of a block that switches may give up; by default as many as the code repairs.
    """

    kind: str = field(default="fec", init=False, repr=False)
    parity_cells: int = 1
    fcf: int | None = None
    blf: int | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class TransferList(Scheme):
    """Transfers from a file, each a connection of its own.

    Workload `list`.

    Every row of a file is one transfer: its two hosts, its bytes and its start. Each transfer has a connection of its
    own.

    Source: The inputs of simulators of data centres: connection matrices of htsim (C. Raiciu, M. Handley), and the flow
    files of the HPCC simulator (Y. Li et al., "HPCC: high precision congestion control", SIGCOMM 2019) and its
    descendants.

    Its parameters:

    - `file` (not set): The file: CSV, a connection matrix of htsim (.cm), or a flow file of the HPCC family.
    - `data` (lines; not set): The rows of the file as CSV, which `pushout` adds; or rows that are written here instead
      of a file.
    - `after_delay` (time; default "0 s"): Time from the end of the last transfer for which a transfer waits to its
      start, in addition to the `start` of its row. Transfers that wait for none start at the `start` of their rows.
    """

    kind: str = field(default="list", init=False, repr=False)
    file: str | None = None
    data: str | None = None
    after_delay: str = "0 s"


@dataclass(frozen=True, eq=False, kw_only=True)
class Aal5(Scheme):
    """Packets travel as AAL5 frames in cells.

    Adaptation `aal5`.

    A packet and its trailer of eight octets fill whole cells; the last one is marked (EOM). The receiver collects cells
    up to an EOM and then checks the length and the CRC in the trailer. It cannot see which cell was lost: without the
    EOM of one frame the cells of the next one join it, and both are lost.

    Source: ITU-T Recommendation I.363 (1993), AAL type 5; paper 001 (L. Kalampoukas, A. Varma, 1995), section 3, for
    the number of cells; RFC 1483 (1993) for the LLC/SNAP header.

    Its parameters:

    - `llc_snap` (default False): Whether each frame carries an LLC/SNAP header of 8 octets (RFC 1483).
    """

    kind: str = field(default="aal5", init=False, repr=False)
    llc_snap: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Packet(Scheme):
    """Packets travel whole.

    Adaptation `packet`.

    A packet, IP header included, and the octets that the line adds are one unit. It is stored, lost and delivered
    whole. A shorter unit than the least one of the line is padded.

    Source: No publication: on a packet link a packet is sent as it is. The standard of the line says what it adds, for
    Ethernet IEEE 802.3: preamble (8 octets), header (14), check sequence (4) and gap (12).

    Its parameters:

    - `header` (size; default "0 bytes"): Octets that the line adds to each packet: preamble, header, checksum, gap.
    - `minimum` (size; not set): Least octets of a packet with its header: shorter packets are padded, on lines and in
      buffers. 84 for Ethernet with a header of 38.
    """

    kind: str = field(default="packet", init=False, repr=False)
    header: str = "0 bytes"
    minimum: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Dumbbell(Scheme):
    """Many sources that share one link.

    Template `dumbbell`.

    Hosts `source1`…`sourceN` send to hosts `sink1`…`sinkN` through the switches `left` and `right`:

    ```text
    source1 ──access1──╮                      ╭──egress1── sink1
    source2 ──access2── left ──bottleneck── right ──egress2── sink2
    sourceN ──accessN──╯                      ╰──egressN── sinkN
    ```

    Source: Figures 4 and 5 of paper 000 (V. Rosolen, O. Bonaventure, G. Leduc, 1998); figure 4 of paper 002; the
    network of paper 003, section 4.

    Its parameters:

    - `sources` (must be given): Number of sources, and of sinks.
    - `access` (link; must be given): Links from the sources to the left switch: one for all, or a list that repeats.
    - `bottleneck` (link; must be given): The link that all share.
    - `egress` (link; not set): Links from the right switch to the sinks: one for all, or a list that repeats; by
      default as `access`.
    - `host_latency` (time; default "0 s"): Time that an arriving frame spends inside a host before the transport gets
      it.
    - `switch_latency` (time; default "0 s"): Time that a unit spends inside a switch, or router, before it reaches the
      output port.
    - `flows` (default "own"): Flows: `own`, those above, or `none` where `[[flow]]` names all. `own`: Those that the
      template describes. `none`: None: the flows of the scenario alone are between its hosts.
    """

    template: str = field(default="dumbbell", init=False, repr=False)
    sources: int
    access: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    bottleneck: Mapping[str, Any]
    egress: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    host_latency: str = "0 s"
    switch_latency: str = "0 s"
    flows: Literal["own", "none"] = "own"


@dataclass(frozen=True, eq=False, kw_only=True)
class ParkingLot(Scheme):
    """Flows over several hops, and others that cross one of them.

    Template `parking-lot`.

    Four end-to-end flows share each of the links `a`, `b` and `c` with two flows that cross only that one:

    ```text
    node1 ─access1─╮              node3      node4      node5
    │                │access3   │access4   │access5
    sw1 ──entry──── sw2 ══a══ sw3 ══b══ sw4 ══c══ node6
    │                          │exit7     │exit8
    node2 ─access2─╯                        node7      node8
    ```

    Flows `e2e1`, `e2e2` go from node1 and `e2e3`, `e2e4` from node2 to node6; `cross1`, `cross2` from node3 to node7,
    `cross3`, `cross4` from node4 to node8, `cross5`, `cross6` from node5 to node6. They form the classes `end-to-end`
    and `cross`. Where packets travel whole, the switches are routers.

    Source: Paper 001 (L. Kalampoukas, A. Varma, "Performance of TCP over multi-hop ATM networks", 1995), figure 3.1.

    Its parameters:

    - `rate` (rate; default "149760 kb/s"): Rate of all links.
    - `near` (time; default "100 us"): Propagation delay of the links of class near: along the way of the end-to-end
      flows.
    - `cross` (time; default "950 us"): Propagation delay of the links of class cross: to and from the hosts of the
      cross flows.
    - `far` (time; default "2500 us"): Propagation delay of the link of class far: from the host of the last two cross
      flows.
    - `pause` (time; default "0 s"): Longest of the random pauses before each packet that a sender sends.
    - `flows` (default "own"): Flows: `own`, those above, or `none` where `[[flow]]` names all. `own`: Those that the
      template describes. `none`: None: the flows of the scenario alone are between its hosts.
    """

    template: str = field(default="parking-lot", init=False, repr=False)
    rate: str = "149760 kb/s"
    near: str = "100 us"
    cross: str = "950 us"
    far: str = "2500 us"
    pause: str = "0 s"
    flows: Literal["own", "none"] = "own"


@dataclass(frozen=True, eq=False, kw_only=True)
class Iwu(Scheme):
    """Sources on local networks behind an interworking unit.

    Template `iwu`.

    Hosts `source1`…`sourceN` on their local networks send packets to an interworking unit `iwu`, which cuts them into
    cells and multiplexes these over a `trunk` to the host `sink`:

    ```text
    source1 ──access1──╮
    source2 ──access2── iwu ──trunk── sink
    sourceN ──accessN──╯
    ```

    The paper's unit queues a packet, then sends its cells into the buffer of the trunk "with inter-cell spacing equally
    distributed over the duration of the packet". Here the access link carries these cells itself, at the rate

    > r' = cells of a packet · 424 bit / duration of a packet,

    and that is the same but for a constant delay. Let all packets of a source last D on its local network, which sends
    them one after the other: packet n starts at t_n ≥ t_{n−1} + D. It has arrived at the unit at t_n + D, and by then
    the spacing of packet n − 1, which began at t_{n−1} + D by induction, is over; so its cells leave the packet queue
    at t_n + D + i·D/L without waiting. An access link at r' sends the cells of packet n from t_n on, one every D/L, and
    is free again at t_n + D ≤ t_{n+1}: cell i enters the buffer at t_n + (i + 1)·D/L, the same instants up to D − D/L.

    Source: Figure 6 of paper 004 (S. Chatterjee, W. Xiao), section 5.1.

    Its parameters:

    - `sources` (must be given): Number of sources.
    - `access` (link; must be given): Links from the sources to the unit, by default at the rate of the spaced cells:
      one for all, or a list that repeats.
    - `trunk` (link; must be given): The link that all share.
    - `flows` (default "own"): Flows: `own`, those above, or `none` where `[[flow]]` names all. `own`: Those that the
      template describes. `none`: None: the flows of the scenario alone are between its hosts.
    """

    template: str = field(default="iwu", init=False, repr=False)
    sources: int
    access: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    trunk: Mapping[str, Any]
    flows: Literal["own", "none"] = "own"


@dataclass(frozen=True, eq=False, kw_only=True)
class LeafSpine(Scheme):
    """Two tiers of switches: every leaf is linked to every spine.

    Template `leaf-spine`.

    Every leaf is linked to every spine; hosts stand at the leaves. From a leaf to another there are as many equal ways
    as spines and parallel links, and `routing = "ecmp"` is the default.

    ```text
    host1 ──╮                ╭── spine1 ──╮                ╭── host3
    host2 ── leaf1 ──────────┤            ├────────── leaf2 ── host4
    ╰── spine2 ──╯
    ```

    Source: A. Greenberg et al., "VL2: a scalable and flexible data center network", SIGCOMM 2009, in the form of two
    tiers of C. Clos, "A study of non-blocking switching networks", Bell System Technical Journal 32(2), 1953; the
    network of V. Addanki et al., "ABM", SIGCOMM 2022, section 4.1.

    Its parameters:

    - `leaves` (must be given): Switches with hosts.
    - `spines` (must be given): Switches that link the leaves.
    - `hosts` (must be given): Hosts at every leaf.
    - `links` (default 1): Parallel links between a leaf and a spine.
    - `host` (link; must be given): Links between hosts and leaves.
    - `fabric` (link; must be given): Links between leaves and spines.
    - `host_latency` (time; default "0 s"): Time that a frame which arrives spends inside a host before the transport
      gets it.
    - `switch_latency` (time; default "0 s"): Time that a unit spends inside a switch before it reaches the output port.
    - `flows` (default "own"): Flows: `own`, those above, or `none` where `[[flow]]` names all. `own`: Those that the
      template describes. `none`: None: the flows of the scenario alone are between its hosts.
    """

    template: str = field(default="leaf-spine", init=False, repr=False)
    leaves: int
    spines: int
    hosts: int
    links: int = 1
    host: Mapping[str, Any]
    fabric: Mapping[str, Any]
    host_latency: str = "0 s"
    switch_latency: str = "0 s"
    flows: Literal["own", "none"] = "own"


@dataclass(frozen=True, eq=False, kw_only=True)
class FatTree(Scheme):
    """Three tiers of equal switches.

    Template `fat-tree`.

    Switches of k ports in three tiers: k pods, each with k/2 edge and k/2 aggregation switches, and (k/2)² core
    switches. Every edge switch has k/2 hosts. From a pod to another there are (k/2)² equal ways, and `routing = "ecmp"`
    is the default.

    Source: M. Al-Fares, A. Loukissas, A. Vahdat, "A scalable, commodity data center network architecture", SIGCOMM
    2008, section 3.

    Its parameters:

    - `radix` (must be given): Ports of every switch.
    - `host` (link; must be given): Links between hosts and edge switches.
    - `fabric` (link; must be given): Links between switches.
    - `host_latency` (time; default "0 s"): Time that a frame which arrives spends inside a host before the transport
      gets it.
    - `switch_latency` (time; default "0 s"): Time that a unit spends inside a switch before it reaches the output port.
    - `flows` (default "own"): Flows: `own`, those above, or `none` where `[[flow]]` names all. `own`: Those that the
      template describes. `none`: None: the flows of the scenario alone are between its hosts.
    """

    template: str = field(default="fat-tree", init=False, repr=False)
    radix: int
    host: Mapping[str, Any]
    fabric: Mapping[str, Any]
    host_latency: str = "0 s"
    switch_latency: str = "0 s"
    flows: Literal["own", "none"] = "own"
