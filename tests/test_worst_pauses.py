"""Senders that a memory stops: a second, plain search, counter-examples on both engines, and the command."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import pushout
from conftest import Typed


class Sender(NamedTuple):
    """What the queue of a sender holds, and its stops."""

    shared: int = 0
    headroom: int = 0
    stops: tuple[bool, ...] = ()
    """Whether the memory stops it: now, then at the ends of the last slots."""


class Case(NamedTuple):
    """A memory and its pauses."""

    alpha: Fraction | None
    memory: int
    xoff: int
    xon: int
    headroom: int
    response: int

    @property
    def pause(self) -> dict[str, int]:
        """The argument of `never`."""
        return {"xoff": self.xoff, "xon": self.xon, "headroom": self.headroom, "response": self.response}

    @property
    def policy(self) -> dict[str, Any]:
        """The scheme that divides the shared room."""
        if self.alpha is None:
            return {"policy": "complete-sharing"}
        return {"policy": "dynamic-threshold", "alpha": float(self.alpha)}

    def arrives(self, state: tuple[Sender, ...], number: int) -> tuple[Sender, ...] | None:
        """Return the state after an arrival; None if the packet is lost."""
        own = state[number]
        room = self.memory - self.headroom - sum(each.shared for each in state)
        below = room if self.alpha is None else min(room, self.alpha * room - own.shared)
        if own.headroom == 0 and below > 0:
            return replaced(state, number, own._replace(shared=own.shared + 1))
        if own.headroom == self.xoff or sum(each.headroom for each in state) == self.headroom:
            return None
        return replaced(state, number, Sender(own.shared, own.headroom + 1, (True, *own.stops[1:])))

    def leaves(self, state: tuple[Sender, ...], number: int) -> tuple[Sender, ...]:
        """Return the state after a departure, at which every queue is looked at."""
        shared, headroom, stops = state[number]
        left = Sender(shared - (headroom == 0), headroom - (headroom > 0), stops)
        state = replaced(state, number, left)
        goes_on = [each.headroom == 0 and each.shared <= self.xon for each in state]
        pairs = zip(state, goes_on, strict=True)
        return tuple(each._replace(stops=(each.stops[0] and not goes, *each.stops[1:])) for each, goes in pairs)

    def slots(self, state: tuple[Sender, ...]) -> Iterator[tuple[tuple[Sender, ...] | None, int]]:
        """Yield the states after a slot and the packets that came and left in it; None after a loss."""
        waiting = [(state, frozenset(n for n, each in enumerate(state) if not each.stops[-1]), 0)]
        while waiting:
            now, able, steps = waiting.pop()
            for number in able:
                after = self.arrives(now, number)
                if after is None:
                    yield None, steps + 1
                else:
                    waiting.append((after, able - {number}, steps + 1))
            served = [(now, steps)]
            for number in range(len(state)):
                served += [
                    (self.leaves(one, number), steps + 1)
                    for one, steps in served
                    if one[number].shared + one[number].headroom
                ]
            for one, steps in served:
                yield tuple(each._replace(stops=(each.stops[0], *each.stops[:-1])) for each in one), steps

    def first_loss(self, senders: int) -> int | None:
        """Return the fewest packets that come and leave, and ends of slots, before a loss and with it."""
        start = (Sender(stops=(False,) * (self.response + 2)),) * senders
        reached: dict[int, set[tuple[Sender, ...]]] = {0: {start}}
        seen: set[tuple[Sender, ...]] = set()
        best: int | None = None
        for steps in count():
            if best is not None and steps >= best:
                return best
            if not reached:
                return None
            for state in reached.pop(steps, set()) - seen:
                seen.add(state)
                for after, taken in self.slots(state):
                    if after is None:
                        best = min(best or steps + taken, steps + taken)
                    elif after not in seen:
                        reached.setdefault(steps + taken + 1, set()).add(after)
        raise AssertionError


def replaced(state: tuple[Sender, ...], number: int, sender: Sender) -> tuple[Sender, ...]:
    """Return the state with another sender at this place."""
    return (*state[:number], sender, *state[number + 1 :])


def cases() -> Iterator[tuple[int, Case]]:
    """Draw memories for one and two senders."""
    draw = random.Random(5)  # noqa: S311
    for senders in (1, 2):
        for _ in range(12):
            xoff, response = draw.randint(1, 3), draw.randint(1, 2)
            headroom = draw.randint(xoff, senders * xoff)
            memory = headroom + draw.randint(1, 4)
            alpha = draw.choice([None, Fraction(1, 2), Fraction(1), Fraction(2)])
            yield senders, Case(alpha, memory, xoff, draw.randint(0, 2), headroom, response)


def test_losses_are_proved_or_shown_as_by_another_search(tmp_path: Path) -> None:
    answers = set()
    for number, (senders, case) in enumerate(cases()):
        result = pushout.never(case.policy, "lossless_drop", ports=senders, memory=case.memory, pause=case.pause)
        first = case.first_loss(senders)
        answers.add(result.proved)
        assert result.proved == (first is None), case
        if first is not None:
            steps = sum(len(slot["arrivals"]) + len(slot["sends"]) for slot in result.input) + len(result.input) - 1
            assert steps == first, case
            assert result.write(tmp_path / f"{number}.toml")["delivered"] == [result.document["policy_count"]]
    assert answers == {True, False}


def test_the_scenario_of_a_loss_loses_one_packet_of_its_class(tmp_path: Path) -> None:
    pause = {"xoff": 3, "response": 2, "headroom": 5}
    result = pushout.never("dynamic-threshold", "lossless_drop", memory=9, set={"alpha": 1}, pause=pause)
    assert result.document["lost_count"] == 1
    result.write(tmp_path / "loss.toml")
    report = pushout.run(tmp_path / "loss.toml")
    assert sum(port.get("lossless_drop", 0) for port in report["ports"]) == 1
    assert result.columns["losses_0"].sum() + result.columns["losses_1"].sum() == 1


def test_the_command_proves_that_headroom_suffices_or_shows_the_loss(typed: Typed, tmp_path: Path) -> None:
    asked = ["worst", "complete-sharing", "--memory", "10", "--never", "lossless_drop", "--pause"]
    done = typed(tmp_path, *asked, "xoff=3,response=2")
    assert done.returncode == 0
    assert "2 senders to a memory of 10 packets, 6 of them headroom; each may take 3" in done.stdout
    assert "never lossless_drop, on no input" in done.stdout
    done = typed(tmp_path, *asked, "xoff=2,response=2", "--out", "loss.toml")
    assert done.returncode == 1
    assert "lossless_drop happens" in done.stdout and "on both engines; loss.toml" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pause", "xoff=2"], "--pause must have response"),
        (["--pause", "response=2"], "--pause must have xoff"),
        (["--pause", "xoff=2,response=0"], "--pause must have a response from 1 to 11 slots, not 0"),
        (["--pause", "xoff=2,respones=1"], "--pause cannot have 'respones' (allowed: xoff, xon, headroom, response)"),
        (
            ["--pause", "xoff=2,response=99999999999"],
            "--pause must have a response from 1 to 11 slots, not 99999999999",
        ),
        (["--pause", "xoff=²,response=1"], "as in xoff=3,response=2, not 'xoff=²'"),
        (["--pause", f"xoff={'9' * 5000},response=1"], "as in xoff=3,response=2, not 'xoff=999"),
        (["--pause", "xoff=1,xoff=2,response=1"], "'xoff' must be given once, not 2 times"),
        (
            ["--pause", "xoff=2,response=1,xon=99"],
            "--pause must have xon of at most the 10 packets of the memory, not 99",
        ),
        (
            ["--pause", "xoff=11,response=1,headroom=2"],
            "--pause must have xoff of at most the 10 packets of the memory",
        ),
        (["--pause", "xoff=two"], "the value must be KEY=N,…, as in xoff=3,response=2, not 'xoff=two'"),
        (["--pause", "xoff=9,response=2"], "--memory must be more than the 18 packets of headroom, not 10"),
        (["--pause", "xoff=2,response=2", "--frames", "3"], "--frames must be left out with pause"),
    ],
)
def test_pauses_that_cannot_be_asked_about_are_refused(
    arguments: list[str], message: str, typed: Typed, tmp_path: Path
) -> None:
    done = typed(tmp_path, "worst", "complete-sharing", "--memory", "10", "--never", "lossless_drop", *arguments)
    assert done.returncode in (2, 3)
    assert message in done.stderr


def test_pauses_are_asked_about_with_the_event_alone(typed: Typed, tmp_path: Path) -> None:
    pause = ["--memory", "10", "--pause", "xoff=2,response=2"]
    assert "needs --never lossless_drop" in typed(tmp_path, "worst", "complete-sharing", *pause).stderr
    other = typed(tmp_path, "worst", "complete-sharing", *pause, "--never", "loss")
    assert 'unknown event "loss" (allowed: lossless_drop)' in other.stderr
    pushes = typed(tmp_path, "worst", "longest-queue", *pause, "--never", "lossless_drop")
    assert "must be a scheme that divides a memory: push-out loses packets" in pushes.stderr
    keeps = typed(tmp_path, "worst", "occamy", *pause, "--never", "lossless_drop")
    assert "must decide by lengths of queues, not by a bucket of tokens" in keeps.stderr


@pytest.mark.parametrize("asked", [("complete-sharing", "--never", "loss"), ("longest-queue",)])
def test_the_scenario_of_an_input_does_not_follow_links(asked: tuple[str, ...], typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept", encoding="utf-8")
    (tmp_path / "worst.toml").symlink_to("kept.txt")
    done = typed(tmp_path, "worst", *asked, "--memory", "4", "--out", "worst.toml")
    assert "worst.toml: is a symbolic link" in done.stderr
    assert (tmp_path / "kept.txt").read_text(encoding="utf-8") == "kept"
