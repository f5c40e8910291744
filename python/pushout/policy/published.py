"""Published schemes and congestion controls in Python: they give what those of the simulator give, and can be changed.

    from pushout.policy import published

    pushout.compare("lan", ["codel", published.codel, published.codel(target="20 ms")])

A time of the simulator is a whole number of picoseconds: `int(1e12 * x.target + 0.5)` is that of a parameter.
"""

from math import sqrt
from typing import Any

from pushout import policy


def _codel_head(x: Any, s: Any) -> Any:
    """The pseudocode of RFC 8289, section 5, packet by packet: `s.after` says why the one in front was discarded."""
    if not x.is_first:
        return "partial" if s.discards else False
    interval = int(1e12 * x.interval + 0.5)
    late = False
    if x.waited_ps < int(1e12 * x.target + 0.5) or x.waiting <= x.mtu:
        s.above = -1
    elif s.above < 0:
        s.above = x.now_ps + interval
    else:
        late = x.now_ps >= s.above
    after = s.after
    s.after = 0
    s.discards = False
    if after == 1:
        return False
    begins = after == 0 and not s.dropping and late
    if begins:
        recent = x.now_ps - s.next < 16 * interval
        s.count = s.count - s.last if s.count - s.last > 1 and recent else 1
        s.last = s.count
        s.dropping = True
        s.next = x.now_ps + int(interval / sqrt(s.count))
    elif after == 2 and late:
        s.next = s.next + int(interval / sqrt(s.count))
    else:
        s.dropping = s.dropping and late
    if not begins:
        if not s.dropping or x.now_ps < s.next:
            return False
        s.count += 1
    if x.marks and x.ect:
        if not begins:
            s.next = s.next + int(interval / sqrt(s.count))
        return "mark delay"
    s.after = 1 if begins else 2
    s.discards = True
    return "delay"


@policy.admission(
    asks="unit",
    params={"target": policy.time("5 ms"), "interval": policy.time("100 ms"), "marks": False},
    per_vc={"discards": False},
    per_queue={"above": -1, "dropping": False, "next": 0, "count": 0, "last": 0, "after": 0},
    at_head=_codel_head,
)
def codel(x: Any) -> Any:
    """CoDel (RFC 8289): accept what fits, and decide at the head of the queue."""
    return False


def _pie_head(x: Any, s: Any) -> Any:
    """The wait of the packet that left last, 0 if none waited behind it."""
    s.wait = x.waited if x.waiting > 0 else 0.0
    return False


def _pie_update(x: Any, s: Any) -> None:
    """Set the probability (RFC 8033, section 4.2) and the time for which bursts pass (section 4.4)."""
    fine = 2048.0 if s.p < 0.000001 else 512.0 if s.p < 0.00001 else 128.0 if s.p < 0.0001 else 32.0
    divisor = fine if s.p < 0.001 else 8.0 if s.p < 0.01 else 2.0 if s.p < 0.1 else 1.0
    change = (x.alpha * (s.wait - x.target) + x.beta * (s.wait - s.old_wait)) / divisor
    if s.p >= 0.1:
        change = min(change, 0.02)
    s.p = min(max(s.p + change, 0.0), 1.0)
    if s.wait == 0.0 and s.old_wait == 0.0:
        s.p = s.p * 0.98
    burst = int(1e12 * x.burst + 0.5)
    s.left = max((burst if s.left < 0 else s.left) - int(1e12 * x.every + 0.5), 0)
    if s.p == 0.0 and s.wait < x.target / 2 and s.old_wait < x.target / 2:
        s.left = burst
    s.old_wait = s.wait


@policy.admission(
    asks="unit",
    params={
        "target": policy.time("15 ms"),
        "alpha": policy.number(0.125, low=0),
        "beta": policy.number(1.25, low=0),
        "burst": policy.time("150 ms"),
        "marks": False,
        "mark_limit": policy.number(0.1, low=0, high=1),
    },
    per_vc={"fate": 0},
    per_queue={"p": 0.0, "wait": 0.0, "old_wait": 0.0, "sum": 0.0, "left": -1},
    at_head=_pie_head,
    tick=_pie_update,
    every="15 ms",
    stream="pie",
)
def pie(x: Any, s: Any) -> Any:
    """PIE (RFC 8033). The fate of a frame: 0 whole, 1 broken, 2 refused by chance, 3 refused for want of room."""
    marked = False
    if x.is_first:
        s.fate = 0
        bursts = x.burst > 0.0 if s.left < 0 else s.left > 0
        calm = s.old_wait < x.target / 2 and s.p < 0.2
        if not (bursts or calm or x.waiting <= 2 * x.mtu):
            s.sum = 0.0 if s.p == 0.0 else s.sum + s.p
            if s.sum >= 0.85 and (s.sum >= 8.5 or x.draw() < s.p):
                s.sum = 0.0
                marked = x.marks and x.ect and s.p <= x.mark_limit
                s.fate = 0 if marked else 2
    if s.fate == 2:
        return "random"
    if s.fate == 3 or (s.fate == 1 and not (x.is_last and x.fits)):
        return "partial"
    if not x.fits:
        s.fate = 3 if x.is_first else 1
        s.sum = 0.0
        return "overflow"
    return "mark random" if marked else False


@policy.scheduler(state={"last": -1})
def round_robin(x: Any, s: Any) -> Any:
    """One unit of each queue in turn."""
    s.last = x.next_backlogged(s.last)
    return s.last


def _drr_joined(x: Any, s: Any) -> None:
    """A queue that becomes active goes to the end of the list, without a deficit."""
    if x.length(x.queue) == 1:
        s.deficit[x.queue] = 0
        s.turn[x.queue] = s.clock
        s.clock += 1
        if s.visited == x.queue:
            s.visited = -1


def _drr_sent(x: Any, s: Any) -> None:
    """Subtract the sent octets from the deficit."""
    s.deficit[x.queue] = max(s.deficit[x.queue] - x.bytes, 0)


@policy.scheduler(
    params={"quantum": policy.whole(1514, low=1)},
    state={"clock": 0, "visited": -1},
    per_queue={"turn": 0, "deficit": 0},
    joined=_drr_joined,
    sent=_drr_sent,
)
def drr(x: Any, s: Any) -> Any:
    """Deficit round robin: `s.turn` is the place in the list. The quantum must not be shorter than a packet."""
    queue = x.least(s.turn)
    if queue != s.visited:
        s.deficit[queue] += max(int(x.quantum * x.weight(queue)), 1)
    if x.octets(queue) > s.deficit[queue]:
        s.turn[queue] = s.clock
        s.clock += 1
        queue = x.least(s.turn)
        s.deficit[queue] += max(int(x.quantum * x.weight(queue)), 1)
    s.visited = queue
    return queue


@policy.pushout
def longest_queue(x: Any) -> Any:
    """Longest queue drop: the arriving unit is lost if its own queue is the longest, or as long as the longest."""
    victim = x.longest()
    return victim if x.length(victim) > x.own + x.size else -1


PUBLISHED = {"codel": codel, "pie": pie, "round-robin": round_robin, "drr": drr, "longest-queue": longest_queue}
"""All of them, by the names of the schemes."""


def _halve(x: Any, s: Any) -> None:
    """Set the window to half of what was in use, in whole segments (RFC 5681)."""
    s.window = min(s.window, x.advertised) // 2 // x.mss * x.mss


@policy.congestion(on_loss=_halve)
def reno(x: Any, s: Any) -> None:
    """Slow start up to the threshold, then a segment more in each round trip: `new-reno` of the simulator."""
    if s.window <= s.threshold:
        s.window += x.mss
    else:
        s.window += max(x.mss * x.mss // s.window, 1)


def _dctcp_loss(x: Any, s: Any) -> None:
    """For a mark subtract half of the average marked share, for a loss halve the window (RFC 8257)."""
    if x.by_mark:
        s.window = s.window - s.window * s.alpha // 2048
    else:
        s.window = min(s.window, x.advertised) // 2 // x.mss * x.mss


@policy.congestion(
    state={"alpha": 1024, "acked": 0, "marked": 0, "end": 0},
    trace={"alpha"},
    on_loss=_dctcp_loss,
    echo_each=True,
)
def dctcp(x: Any, s: Any) -> None:
    """DCTCP with the integers of Linux: `s.alpha` is the average marked share of a window in units of 1/1024."""
    s.acked += x.acked
    if x.marked:
        s.marked += x.acked
    if x.acknowledged > s.end:
        decay = s.alpha // 16
        s.alpha = s.alpha - decay if decay > 0 else 0
        s.alpha = min(s.alpha + s.marked * 64 // max(s.acked, 1), 1024)
        s.acked = 0
        s.marked = 0
        s.end = x.sent
    if s.window <= s.threshold:
        s.window += x.mss
    else:
        s.window += max(x.mss * x.mss // s.window, 1)


def _scalable_loss(x: Any, s: Any) -> None:
    """Keep seven eighths of the window, and of a small one a half."""
    s.window = int(s.window * (1 - x.decrease)) if s.window > x.small * x.mss else s.window // 2


@policy.congestion(
    params={"increase": 0.01, "decrease": policy.number(0.125, low=0, high=1), "small": 16}, on_loss=_scalable_loss
)
def scalable(x: Any, s: Any) -> None:
    """Scalable TCP: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", CCR 33(2), 2003.

    A window above `small` segments grows by a share of what is acknowledged, so that it doubles in a constant number of
    round trips, whatever its size. A smaller one is that of Reno.
    """
    if s.window <= s.threshold:
        s.window += x.mss
    elif s.window > x.small * x.mss:
        s.window += int(x.increase * x.acked)
    else:
        s.window += max(x.mss * x.mss // s.window, 1)


def _westwood_loss(x: Any, s: Any) -> None:
    """Set the window to what the path has delivered in its shortest round trip."""
    estimate = int(s.rate * s.least)
    s.window = min(s.window, estimate) if s.rate > 0 else s.window // 2


@policy.congestion(
    state={"least": 1e9, "rate": 0.0, "octets": 0, "since": 0.0, "end": 0}, trace={"rate"}, on_loss=_westwood_loss
)
def westwood(x: Any, s: Any) -> None:
    """Fall to what the path delivers in its shortest round trip: Westwood+.

    L. A. Grieco and S. Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion
    Control", CCR 34(2), 2004.

    Once in a round trip the rate of delivery is measured and smoothed with a weight of 1/8, in octets per second.
    """
    if x.rtt > 0:
        s.least = min(s.least, x.rtt)
    s.octets += x.delivered
    if x.acknowledged > s.end:
        if x.now > s.since:
            sample = s.octets / (x.now - s.since)
            s.rate = s.rate * 7 / 8 + sample / 8 if s.rate > 0 else sample
        s.octets = 0
        s.since = x.now
        s.end = x.sent
    if s.window <= s.threshold:
        s.window += x.mss
    else:
        s.window += max(x.mss * x.mss // s.window, 1)


@policy.congestion(
    params={"alpha": 1.0, "beta": 3.0, "gamma": 1.0},
    state={"least": 1e9, "waits": 0.0, "grows": True, "end": 0},
    trace={"waits"},
)
def vegas(x: Any, s: Any) -> None:
    """Keep the segments that wait in queues between `alpha` and `beta`: Vegas.

    L. S. Brakmo and L. L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8),
    1995, section IV. A loss halves the window, as with Reno; the paper's retransmissions are not here.

    `s.waits` is the number of segments that wait, by the round trip. Slow start doubles the window in every second
    round trip, until more than `gamma` segments wait.
    """
    if x.rtt > 0:
        s.least = min(s.least, x.rtt)
        s.waits = s.window * (1 - s.least / x.rtt) / x.mss
    round_ends = x.acknowledged > s.end
    if round_ends:
        s.end = x.sent
        s.grows = not s.grows
    if s.window < s.threshold:
        if s.waits > x.gamma:
            s.threshold = s.window
        elif s.grows:
            s.window += x.mss
    elif round_ends and s.waits < x.alpha:
        s.window += x.mss
    elif round_ends and s.waits > x.beta:
        s.window = max(s.window - x.mss, 2 * x.mss)


CONTROLS = {"new-reno": reno, "dctcp": dctcp}
"""Controls that the simulator has as well, by its names."""
