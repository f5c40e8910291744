"""Policies of a memory, written in Python, which the tests compare with schemes and with plain rules."""

from typing import Any

from pushout import policy


@policy.admission(asks="unit")
def sharing(x: Any) -> Any:
    """Complete sharing."""
    return False


@policy.admission(asks="unit", params={"alpha": policy.number(1.0, low=0)})
def threshold(x: Any) -> Any:
    """A dynamic threshold."""
    return x.own >= x.alpha * (x.capacity - x.total)


@policy.admission(asks="unit", params={"limit": policy.level("50 %")})
def limited(x: Any) -> Any:
    """A static threshold."""
    return x.own >= x.limit


@policy.admission(asks="unit")
def harmonic(x: Any) -> Any:
    """The harmonic policy for two queues: together they may use the pool, and each of them 2/3 of it."""
    return 3 * (x.own + 1) > 2 * x.capacity or x.own + x.length(1 - x.queue) >= x.capacity


@policy.admission(asks="unit")
def protecting(x: Any) -> Any:
    """In a memory that is half full, a queue that is not the longest may go on."""
    return 2 * x.total >= x.capacity and x.queue == x.longest()


@policy.admission(
    asks="unit",
    params={"of_own": 1, "of_total": 1, "of_seen": 1, "of_repeat": 1, "of_longest": 1, "limit": 5, "modulus": 2},
    state={"last": 0},
    per_queue={"seen": 0},
)
def drawn(x: Any, s: Any) -> Any:
    """A rule with variables: a count of the queue's packets modulo a number, and the queue of the last packet."""
    s.seen = (s.seen + 1) % x.modulus
    weight = x.of_own * x.own + x.of_total * x.total + x.of_seen * s.seen
    if s.last == x.queue:
        weight += x.of_repeat
    if x.longest() == x.queue:
        weight += x.of_longest
    s.last = x.queue
    return weight >= x.limit


@policy.pushout(params={"of_longest": 1, "of_own": 1, "more": 1})
def exchanging(x: Any) -> Any:
    """The longest queue gives way if it is longer than the own one; by default longest queue drop."""
    longest = x.longest()
    return longest if x.of_longest * x.length(longest) > x.of_own * x.own + x.more * x.size else -1
