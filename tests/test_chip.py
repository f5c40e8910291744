"""The counts of acceptance tests: equal to those of study 101, and to what a run of the profile itself does."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import ROOT, command
from pushout.errors import QuestionError
from pushout.quantity import grouped
from pushout.study.model import load

STUDY = load("101-chip-thresholds", ROOT / "studies")

PLACES: Mapping[str, tuple[str, str]] = {
    r"silicon\.th5\.(t0-.*|ft2-64)\.(\d+)": ("ladder.{0}", "xoff.{1}"),
    r"silicon\.th5\.t0\.trig_ingr_drp": ("headroom.t0-standalone", "loss"),
    r"silicon\.th5\.ft2\.trig_ingr_drp": ("headroom.ft2-64", "loss"),
    r"silicon\.th1\.pfc\.(\d+)": ("together.{0}", "xoff.together"),
    r"silicon\.th1\.xoff_cells\.(.*)": ("xoff.{0}", "headroom"),
    r"silicon\.egress_lossy\.(.*)": ("egress.{0}", "drop"),
    r"dt\.share\.([\d.]+)\.(\d+)": ("share.{0}.{1}", "drop.together"),
}
"""For the numbers of the study the case that has the profile, and the name of the count."""


def place(number: str) -> tuple[str, str]:
    """The case of the study with the profile of a number, and the name of the count there."""
    for pattern, (case, name) in PLACES.items():
        if match := re.fullmatch(pattern, number):
            return case.format(*match.groups()), name.format(*match.groups())
    raise AssertionError(f"{number} has no place")


def counts(case: str) -> dict[str, int]:
    """What `chip predict` says of a case of the study, without the name of the class."""
    of = STUDY.cases[case]
    result = pushout.chip_predict(of.scenario, set=of.sets)
    return {each.name.partition(".")[2]: each.value for each in result.expected}


def named(name: str, found: Mapping[str, int]) -> str:
    """The name under which a count is found: of a class without headroom, or of a single line."""
    names = (name, name.removesuffix(".1"), name.partition(".")[0])
    return next(each for wanted in names for each in (wanted, wanted.replace("xoff", "drop")) if each in found)


CASES = sorted({place(number.id)[0] for number in STUDY.numbers})


OPEN = {"silicon.th5.ft2.trig_ingr_drp": 1}
"""Numbers that the study does not give either, and how many packets it has less."""


@pytest.mark.parametrize("case", CASES)
def test_study_101_has_the_numbers_of_chip_predict(case: str) -> None:
    found = counts(case)
    compared = 0
    for number in STUDY.numbers:
        at, name = place(number.id)
        if at != case:
            continue
        value: float = found[named(name, found)]
        if name == "headroom":
            value += 1  # the dropped packet counts as well
        if number.id.startswith("dt.share"):
            value /= 20_000
        value += OPEN.get(number.id, 0)
        assert abs(value - number.published) <= number.tolerance.of(number.published), (number.id, value)
        compared += 1
    assert compared > 0


def test_every_case_of_study_101_is_predicted() -> None:
    others = {"after.t0-standalone", *(case for case in STUDY.cases if case.startswith("other-alpha"))}
    assert {*CASES, *others} >= set(STUDY.cases)
    assert len(STUDY.numbers) >= 110


@pytest.mark.parametrize("case", STUDY.cases)
def test_study_101_holds_what_is_predicted(case: str) -> None:
    memory = STUDY.cases[case].job().run(None)["memories"][0]
    found = counts(case)
    held = [queue["occupancy_max"] - queue["headroom_max"] for queue in memory["queues"]]
    if case.startswith(("share", "together")):
        name = named("xoff.together", found) if "xoff.together" in found else named("drop.together", found)
        assert abs(min(held) - found[name]) <= 1, "lines that send at one instant: the order decides about a packet"
    else:
        assert held == [found[named(f"xoff.{line}", found)] for line in range(1, len(held) + 1)]


TOMAHAWK = ROOT / "scenarios" / "tomahawk.toml"

EXPECTED = {
    "lossy.fill": 8,
    "lossy.drop": 9_884,  # the acceptance test expects 9887, within the 2 to 4 packets that it allows
    "lossless.fill": 6,
    "lossless.xoff": 6_542,
    "lossless.headroom": 1_292,
    "lossless.loss": 7_834,
    "lossless.xoff.together": 2_620,
}
"""What acceptance tests of Tomahawk expect, and two closed forms."""


def values(*sets: str, profile: Any = TOMAHAWK, **options: int) -> dict[str, int]:
    """The counts of a profile by their names."""
    return {each.name: each.value for each in pushout.chip_predict(profile, set=sets, **options).expected}


def test_tomahawk_counts_what_its_acceptance_tests_expect() -> None:
    found = values()
    assert {name: found[name] for name in EXPECTED} == EXPECTED
    assert found["lossless.xon"] == 6_543 - 12, "xon are 2496 bytes, 12 cells"
    assert found["lossless.headroom_rest"] == 5_041 - 3 * 1_292, "the pool has a quarter of 20 164 cells"


def test_the_sender_may_resume_where_a_run_lets_it_resume() -> None:
    """With `xon_offset` the limit falls and rises with the queue: α = 1, so that a packet that leaves counts twice."""
    offset = 'queue.lossless.pause={ xoff = "268736 bytes", xon = "0 cells", xon_offset = "11 cells" }'
    assert values(offset)["lossless.xon"] == 1 + 6, "one of headroom, then 6542 - n <= 6 + 13071 - (6536 - n) - 11"
    later = values(offset.replace("11 cells", "31 cells"))
    assert later["lossless.xon"] == 1 + 16, "ten packets more for twenty cells more"


def test_many_packets_leave_before_the_sender_may_resume() -> None:
    """The rate of the port is a whole number of bits per second: its error must not add up over 340 000 packets."""
    sizes = ('memory.chip.size="720000 cells"', 'memory.chip.pool.lossless.size="720000 cells"')
    found = values(*sizes, "memory.chip.partitions=1", lines=1)
    assert found["lossless.xon"] == found["lossless.xoff"] + 1 - 12
    assert found["lossless.xon"] > 340_000


@pytest.mark.parametrize(("packet", "cells"), [(64, 1), (208, 1), (209, 2), (1500, 8)])
def test_packets_take_whole_cells(packet: int, cells: int) -> None:
    found = values(packet=packet)
    assert found["lossless.headroom"] == 1_292 // cells
    assert abs(found["lossy.drop"] * cells - (9_875.6 + 8)) <= cells
    assert found["lossy.fill"] == 8 // cells


def test_a_header_counts_in_the_cells_of_a_packet() -> None:
    assert values('memory.chip.header="16 bytes"', packet=193)["lossless.headroom"] == 646
    assert values('memory.chip.header="16 bytes"', packet=192)["lossless.headroom"] == 1_292


STEP = 'port.bottleneck.admission={ policy = "step", threshold = "1000 cells" }'


def test_marks_begin_above_the_threshold() -> None:
    found = values(STEP)
    assert found["lossy.mark"] == 1_001, "X > K, where X does not count the packet that arrives"
    assert found["lossy.mark_dequeue"] == 9_884 - 1_001
    thresholds = 'min_threshold = "500 cells", max_threshold = "900 cells"'
    found = values(f'port.bottleneck.admission={{ policy = "red", weight = 1.0, {thresholds}, action = "mark" }}')
    assert (found["lossy.mark"], found["lossy.mark_all"]) == (501, 901)
    assert "lossy.mark" not in values(STEP.replace('"1000 cells"', '"1000 cells", action = "drop"'))


def test_shares_of_the_memory_are_those_of_the_profile() -> None:
    cells = values('queue.lossy.limit="1451 cells"')
    assert cells["lossy.drop"] == 1_451 + 8
    assert values('queue.lossy.limit="2 %"') == cells, "2 % of 72 544 cells are 1450.88"


def test_a_policy_without_alpha_has_no_rounding() -> None:
    sets = ('memory.chip.admission={ policy = "complete-sharing" }', "memory.chip.partitions=1")
    both = (
        *sets,
        'queue.lossy={ pool = "lossy" }',
        'queue.lossless={ pool = "lossless", pause = { xoff = "100 cells", xon = "1 cell" } }',
    )
    result = pushout.chip_predict(TOMAHAWK, set=both)
    assert result["lossy.drop"] == 44_472
    assert {each.margin for each in result.expected if each.name in ("lossy.drop", "lossless.xoff")} == {0}


def test_a_class_with_a_pool_on_either_side_is_limited_by_the_smaller_one() -> None:
    opposite = 'queue.lossy.opposite={ pool = "lossless", limit = "500 cells" }'
    assert values(opposite)["lossy.drop"] == 500


def test_the_reason_names_the_limit_that_ends_a_queue_early() -> None:
    def why(change: str) -> str:
        (found,) = [
            each for each in pushout.chip_predict(TOMAHAWK, set=[change], lines=1).expected if each.name == "lossy.drop"
        ]
        return found.why

    assert "ends it earlier" not in why("queue.lossy.alpha=8.0")
    assert "the limit of the class (500 cells)" in why('queue.lossy.limit="500 cells"')
    assert "pool lossless on the other side" in why('queue.lossy.opposite={ pool = "lossless", limit = "500 cells" }')


def test_lines_fill_their_queues_in_turn() -> None:
    found = values(lines=6)
    assert [found[f"lossy.drop.{line}"] for line in range(2, 7)] == [1_105, 130, 22, 9, 8], (
        "8/9 of the 1234, 137, 15, 1 and 0 cells left"
    )
    with pytest.raises(QuestionError, match="lines must be from 1 to 64, not 65"):
        values(lines=65)
    with pytest.raises(QuestionError, match="packet must be from 29 to 65535, not 28"):
        values(packet=28)


@pytest.mark.parametrize("policy", ["occamy", "abm", "follow-lqd", "dt-epd"])
def test_policies_whose_thresholds_depend_on_more_are_refused(policy: str) -> None:
    with pytest.raises(QuestionError, match=f"must be one of complete-sharing, .*, not {policy}"):
        values(f'memory.chip.admission={{ policy = "{policy}" }}', profile="chip")
    with pytest.raises(QuestionError, match="pushout must be left out"):
        values('memory.chip.pushout={ policy = "longest-queue" }', profile="chip")


def test_a_static_threshold_is_that_of_the_profile() -> None:
    found = values('memory.chip.admission={ policy = "static-threshold", limit = "20 %" }', profile="chip", lines=6)
    assert [found[f"bulk.drop{line}"] for line in ("", ".2", ".5", ".6")] == [1_846, 1_846, 1_846, 0]


def test_what_a_profile_measures_does_not_matter() -> None:
    plain = values(profile="chip", lines=1)
    assert values('measure={ window = "1 ms", memories = ["chip"] }', profile="chip", lines=1) == plain


def test_a_class_without_shared_room_pauses_at_once() -> None:
    pause = 'pause = { xoff = "20 cells", xon = "0 cells" }'
    found = values(f'queue.lossless={{ pool = "lossless", limit = "0 cells", {pause} }}', lines=1)
    assert (found["lossless.xoff"], found["lossless.headroom"], found["lossless.loss"]) == (0, 20, 20)
    assert found["lossless.xon"] == 1
    nothing = values('queue.lossy={ pool = "lossy", limit = "0 cells" }', STEP, lines=1)
    assert nothing["lossy.drop"] == 0
    assert "lossy.mark" not in nothing


def test_a_memory_of_many_nodes_counts_where_most_queues_are() -> None:
    line = {"rate": "10 Gb/s", "delay": "1 us"}
    scenario = {
        "name": "fabric",
        "duration": "1 ms",
        "adaptation": {"kind": "packet"},
        "topology": {"template": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 4, "host": line, "fabric": line},
        "port": {"default": {"memory": "chip"}},
        "memory": {
            "chip": {
                "size": "10000 cells",
                "cell": "208 bytes",
                "admission": {"policy": "dynamic-threshold", "alpha": 1},
            }
        },
        "flows": {"transport": {"kind": "udp"}, "source": {"kind": "cbr", "rate": "1 Gb/s", "size": "500 bytes"}},
        "flow": [{"name": f"f{n}", "from": f"host{n}", "to": f"host{9 - n}"} for n in range(1, 9)],
    }
    found = values(profile=scenario, lines=2)
    assert found["all.drop"] == 5_000
    assert found["all.drop.2"] == 2_500


def test_a_profile_has_a_memory() -> None:
    with pytest.raises(QuestionError, match="must have a memory"):
        values(profile="lan")


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('queue.lossless.pause={ xoff = "auto" }', 'queue.lossless.pause.xoff must be a size, not "auto"'),
        ('queue.lossy.trim={ size = "64 bytes" }', "queue.lossy.trim must be left out"),
        ('queue.lossy.mark={ at = "dequeue" }', 'queue.lossy.mark.at must be "arrival"'),
    ],
)
def test_classes_whose_counts_depend_on_more_than_the_memory_are_refused(keys: str, why: str) -> None:
    with pytest.raises(QuestionError) as raised:
        values(keys)
    assert why in str(raised.value)


def test_a_class_with_credits_is_refused() -> None:
    credit = 'port.access.credit={ policy = "cbfc", credit_size = "208 bytes", update = "2080 bytes" }'
    with pytest.raises(QuestionError, match="credits"):
        values(credit, 'queue.lossless={ pool = "lossless" }', 'flows.queue="lossless"')


def test_the_command_prints_numbers_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    command("switch", "predict", str(TOMAHAWK), "--json", "--lines", "1")
    document = json.loads(capsys.readouterr().out)
    assert document["packet_bytes"] == 64
    by_name = {each["name"]: each for each in document["expected"]}
    drop = by_name["lossy.drop"]
    assert (drop["value"], drop["unit"], drop["cells"], drop["margin"]) == (9_884, "packets", 9_884, 1)
    assert f"8 · {grouped(11_110)} / (1 + 8) = 9875.6" in drop["why"]
    command("switch", "predict", str(TOMAHAWK), "--lines", "1")
    text = capsys.readouterr().out
    assert all(name in text for name in by_name)
    command("switch")
    assert "predict" in capsys.readouterr().out


def test_the_answers_are_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, counts = tmp_path / "a.html", tmp_path / "counts.csv"
    command("switch", "predict", str(TOMAHAWK), "--lines", "1", "--html", str(page))
    text = page.read_text(encoding="utf-8")
    assert "What acceptance tests of a switch count" in text
    assert grouped(9_884) in text
    counts.write_text("name,value\ndrop,9884\nfill,8\n", encoding="utf-8")
    command("switch", "explain", str(counts), "--pool", "11110", "--html", str(page))
    assert "Configurations that explain counts" in page.read_text(encoding="utf-8")
    capsys.readouterr()
    assert grouped(11_110) in pushout.chip_explain(counts, pool=11_110).html()
