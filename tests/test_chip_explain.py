"""Which configurations explain counts: the right one is among them, and the answer says when counts leave it open.

`make test` makes counts from 30 random configurations, `make hostile` from 200 (PUSHOUT_CHIPS).
"""

import json
import os
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import pushout
from conftest import command
from pushout.errors import QuestionError
from pushout.simulate import Progress
from pushout.switch import explain as chip_explain

CHIPS = int(os.environ.get("PUSHOUT_CHIPS", "30"))

CELLS = (96, 144, 176, 192, 208, 254, 256, 420)


PARTS = ("access", "bottleneck", "egress")
"""The links of a dumbbell."""


class Chip(NamedTuple):
    """A configuration of a class in a memory."""

    alpha: float
    cell: int
    shared: int
    reserved: int
    headroom: int
    mark: int
    lines: int

    def scenario(self) -> dict[str, Any]:
        """A scenario with it, written as a user writes one: a dumbbell, with a class that pauses if it has headroom."""
        size = self.shared + self.lines * (self.reserved + self.headroom)
        queue: dict[str, Any] = {"pool": "p", "alpha": self.alpha, "reserved": f"{self.reserved} cells"}
        if self.headroom:
            queue["pause"] = {"xoff": f"{self.headroom} cells", "xon": f"{self.reserved // 2} cells"}
        line = {"rate": "10 Gb/s", "delay": "0 s"}
        port = {"memory": "m", "admission": {"policy": "step", "threshold": f"{self.mark} cells"}}
        return {
            "name": "random",
            "duration": "1 us",
            "adaptation": {"kind": "packet"},
            "topology": {
                "template": "dumbbell",
                "sources": self.lines,
                "access": line,
                "bottleneck": line,
                "egress": line,
            },
            "port": {"bottleneck": port},
            "memory": {
                "m": {
                    "size": f"{size} cells",
                    "cell": f"{self.cell} bytes",
                    "admission": {"policy": "dynamic-threshold", "alpha": 0.3},
                    "pool": {"p": {"side": "ingress"}},
                }
            },
            "queue": {"c": queue},
            "flows": {"transport": {"kind": "udp"}, "source": {"kind": "cbr", "rate": "1 Mb/s", "size": "500 bytes"}},
        }


def drawn(stream: random.Random) -> Chip:
    """A random configuration."""
    return Chip(
        alpha=2.0 ** stream.randint(-7, 3),
        cell=stream.choice(CELLS),
        shared=stream.randint(300, 9_000),
        reserved=stream.choice([0, stream.randint(1, 80)]),
        headroom=stream.choice([0, stream.randint(20, 300)]),
        mark=stream.randint(1, 40),
        lines=stream.randint(1, 4),
    )


def counted(chip: Chip, stream: random.Random) -> list[dict[str, object]]:
    """What acceptance tests would count: a random part of it, with packets of one or two sizes."""
    sizes = stream.sample([64, 200, 300, 1_500], stream.choice([1, 2]))
    rows: list[dict[str, object]] = []
    for packet in sizes:
        for each in pushout.chip_predict(chip.scenario(), packet=packet).expected:
            name = each.name.partition(".")[2]
            first = name in ("drop", "xoff")
            if name.endswith(("_dequeue", "_rest")) or not (first or stream.random() < 0.7):
                continue
            lines = {"lines": chip.lines} if name.endswith("together") else {}
            rows.append({"name": name, "value": each.value, "packet": packet, **lines})
    return rows


def bounds(label: str, rows: list[dict[str, object]]) -> bool:
    """Whether a count bounds the configuration to the packet: it is of one line, and those before were counted."""
    name, _, packet = label.partition("@")
    kind, _, line = name.partition(".")
    sized = {str(row["name"]) for row in rows if not packet or row["packet"] == int(packet)}
    before = {kind, *(f"{kind}.{number}" for number in range(2, int(line)))} if line.isdigit() else set()
    return line != "together" and before <= sized


@pytest.mark.parametrize("seed", range(CHIPS))
def test_the_right_configuration_is_among_the_answers(seed: int) -> None:
    stream = random.Random(seed)  # noqa: S311
    chip = drawn(stream)
    rows = counted(chip, stream)
    (found,) = pushout.chip_explain(rows, cell=stream.choice([None, chip.cell])).document["classes"]
    assert found["tolerance"] == 0
    right = [
        each
        for each in found["configurations"]
        if each["alpha"] == chip.alpha
        and chip.cell in each["cell_bytes"]
        and each["reserved_cells"][0] <= chip.reserved <= each["reserved_cells"][1]
        and each["shared_cells"][0] <= chip.shared <= each["shared_cells"][1]
    ]
    assert len(right) == 1, (chip, rows, found)
    if "headroom_cells" in right[0]:
        assert right[0]["headroom_cells"][0] <= chip.headroom <= right[0]["headroom_cells"][1]
    if "mark_cells" in right[0]:
        assert right[0]["mark_cells"][0] <= chip.mark <= right[0]["mark_cells"][1]
    exact = {name: value for name, value in right[0]["residuals"].items() if bounds(name, rows)}
    assert exact
    assert not any(exact.values()), (chip, rows, right)


LADDER = {"xoff": 120_117, "xoff.2": 60_096, "xoff.3": 30_085, "xoff.4": 15_079, "xoff.5": 7_577, "xoff.6": 3_825}
"""Pause triggers of Tomahawk 5 that its acceptance tests expect (qos_params.th5.yaml, t0-standalone)."""


def only(counts: Any, **options: Any) -> dict[str, Any]:
    """The explanation of counts of one class."""
    (found,) = pushout.chip_explain(counts, **options).document["classes"]
    return found


def test_a_published_ladder_has_one_configuration() -> None:
    found = only(LADDER, cell=254)
    (one,) = found["configurations"]
    assert found["verdict"] == "one"
    assert (one["alpha"], one["reserved_cells"], one["shared_cells"]) == (1.0, [74, 74], [240_086, 240_086])
    assert not any(one["residuals"].values())


def test_one_count_is_explained_by_every_alpha_and_the_answer_says_so() -> None:
    found = only({"lossy.drop": 9_884, "lossy.fill": 8})
    assert found["verdict"] == "several"
    assert [each["alpha"] for each in found["configurations"]] == [2.0**n for n in range(3, -8, -1)]
    assert "open: alpha" in found["note"]
    assert "drop.2" in found["note"]
    assert "cell" in found["note"]


def test_a_known_pool_decides_about_alpha() -> None:
    found = only({"drop": 9_884, "fill": 8}, pool=11_110)
    assert [each["alpha"] for each in found["configurations"]] == [8.0]
    none = only({"drop": 9_884, "fill": 8}, pool=5_000)
    assert (none["verdict"], none["configurations"]) == ("none", [])


def test_packets_of_two_sizes_decide_about_cells() -> None:
    rows = [{"name": "drop", "value": value, "packet": size} for size, value in ((64, 1_000), (1_500, 167))]
    found = only(rows)
    assert {tuple(each["cell_bytes"]) for each in found["configurations"]} == {(254, 256)}, "six cells of 250 or more"


def test_counts_that_differ_by_packets_need_a_tolerance() -> None:
    found = only({**LADDER, "xoff.2": 60_098}, cell=254)
    assert found["tolerance"] in (1, 2)
    best = found["configurations"][0]
    assert best["alpha"] == 1.0
    assert 0 < max(map(abs, best["residuals"].values())) <= 3
    assert only({**LADDER, "xoff.2": 60_098}, cell=254, tolerance=0)["verdict"] == "none"


def test_counts_of_several_classes_are_explained_for_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "counts.csv"
    lines = ["# of a switch", "name, value", *(f"lossless.{name}, {value}" for name, value in LADDER.items())]
    table.write_text("\n".join([*lines, "", "lossy.drop, 9884"]), encoding="utf-8")
    command("switch", "explain", str(table), "--cell", "254", "--json")
    document = json.loads(capsys.readouterr().out)
    assert [each["class"] for each in document["classes"]] == ["lossless", "lossy"]
    command("switch", "explain", str(table), "--cell", "254")
    out = capsys.readouterr().out
    assert "lossless: one configuration explains the counts" in out
    assert "lossy: several configurations explain the counts" in out


def test_together_counts_the_lines() -> None:
    found = only([{"name": "drop.together", "value": 2_620, "lines": 4}, {"name": "fill", "value": 6}], cell=208)
    one = next(each for each in found["configurations"] if each["alpha"] == 1.0)
    assert one["shared_cells"][0] <= 13_071 <= one["shared_cells"][1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have the columns name and value"),
        ("name,value\n", "at least one count"),
        ("name,value\ndorp,3\n", 'counts.csv:2: unknown count "dorp"; did you mean "drop"?'),
        ("name,value\ndrop,many\n", "counts.csv:2: value must be an integer"),
        ("name,value\ndrop,-1\n", "value must be an integer"),
        ("name,value\ndrop,99999999999\n", "value must be an integer"),
        ("name,value\ndrop,1,2\n", "must have at most 2 values"),
        ("name,valu\ndrop,1\n", 'unknown column "valu"'),
        ("name,value\ndrop,1\ndrop,2\n", "counts.csv:3: 'drop' must be counted once"),
        ("name,value\nfill.2,1\n", "only drop and xoff have numbers of lines"),
        ("name,value\ndrop.65,1\n", "number of a line must be from 1 to 64"),
        ("name,value\ndrop.together,1\n", "lines must be an integer from 2 to 64"),
        ("name,value,packet\ndrop,1,1\n", "packet must be an integer from 29"),
        ("name,value\nfill,8\n", "must have a count drop, xoff or loss"),
        ("name,value\nxoff.2,1999999\n", "counts.csv:2: xoff.2 must come with xoff, the count of the line before"),
        ("name,value\ndrop,2000000\ndrop.2,2000000\ndrop.3,1\n", "must hold at most 4000000 packets, not 4000001"),
        ("name,value,lines\ndrop,1,\ndrop.together,62500,64\n", "must hold at most 4000000 packets, not 4000001"),
        ('name,value\n"drop,8\n', "must be CSV"),
    ],
)
def test_a_wrong_table_gets_one_message_with_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "counts.csv"
    table.write_text(text, encoding="utf-8")
    with pytest.raises(QuestionError) as caught:
        pushout.chip_explain(table)
    assert message in str(caught.value)
    assert "counts.csv" in str(caught.value)
    assert len(str(caught.value)) <= 300


def test_arguments_are_within_their_ranges() -> None:
    wrong: list[Mapping[str, int]] = [{"cell": 0}, {"pool": 0}, {"tolerance": -1}]
    for arguments in wrong:
        with pytest.raises(QuestionError, match=f"{next(iter(arguments))} must be from"):
            pushout.chip_explain({"drop": 1}, **arguments)


def test_the_largest_counts_are_explained() -> None:
    found = only({"drop": 2_000_000, "drop.2": 1_000_000, "drop.3": 500_000}, cell=254)
    one = next(each for each in found["configurations"] if each["alpha"] == 1.0)
    assert one["shared_cells"][0] <= 4_000_000 <= one["shared_cells"][1]
    with pytest.raises(QuestionError, match="value must be an integer from 0 to 2000000"):
        only({"drop": 2_000_001})


def test_a_long_search_reports_its_progress() -> None:
    seen: list[tuple[float, float]] = []
    progress: Progress = lambda done, total: seen.append((done, total))  # noqa: E731
    pushout.chip_explain({"drop": 988, "fill": 8}, cell=208, progress=progress)
    assert seen == [(number, len(seen)) for number in range(len(seen))]
    assert len(seen) == len(chip_explain.ALPHAS)


def test_the_advice_names_the_count_that_a_later_line_lacks() -> None:
    assert "; count drop.2, or give pool" in only({"drop": 988, "drop.3": 90}, cell=208)["note"]


def test_a_bench_that_fails_names_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise QuestionError("memory.chip.size must be smaller")

    monkeypatch.setattr(chip_explain, "ask_predict", refuse)
    with pytest.raises(QuestionError, match=r"counts\[0\]: no bench can repeat these counts: memory"):
        only({"drop": 988}, cell=208)
