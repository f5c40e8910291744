"""Pictures of runs: `pushout plot`, `run --plot`, `pushout.plot`."""

import io
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import pushout
from conftest import command
from pushout.answer import drawing
from pushout.cli import main
from pushout.errors import QuestionError, ScenarioError
from pushout.literals import PANELS
from pushout.picture import figure
from pushout.picture.recording import entries, panels, recording
from pushout.picture.series import Run, counts, curve, slowdowns
from pushout.picture.topology import network, traffic
from pushout.style import THEMES
from pushout.svg import compact

SHORT = {"duration": "0.5 s", "port.bottleneck.buffer": "1000 cells"}
FILES = {**SHORT, "flows.source.size": "50 kB"}
OWN = [panel for panel in PANELS if panel not in ("memory", "slowdown", "pauses", "state")]
"""Panels of a scenario whose ports have buffers of their own, where nothing pauses, whose sources draw no transfers,
and whose policies keep nothing.
"""


def words(drawn: Any) -> set[str]:
    """All that is written in a drawing."""
    return set(re.findall(r"<text[^>]*>([^<]*)</text>", figure.written(drawn, "svg").decode()))


def boxes(drawn: Any) -> tuple[list[Any], list[Any]]:
    """Return the places of axes and legends on the page."""
    drawn.draw_without_rendering()
    axes = [each.get_window_extent() for each in drawn.axes]
    return axes, [each.get_legend().get_window_extent() for each in drawn.axes if each.get_legend()]


@pytest.fixture(scope="module")
def everything() -> Any:
    return pushout.plot("lan", what=OWN, set=FILES)


def test_every_panel_says_in_words_what_it_shows_and_in_what_unit(everything: Any) -> None:
    assert {
        "queue (cells)",
        "time (s)",
        "lost cells",
        "in 10 ms",
        "early discard",
        "in-order data (Mb/s)",
        "all 10 flows",
        "congestion window",
        "of 4 of 10 flows (kB)",
        "flow1",
        "occupancy (cells)",
        "share of time",
        "fraction of transfers",
        "transfer time (s)",
        "goodput (Mb/s)",
        "buffer",
        "min–max",
    } <= words(everything) | {word.replace("ms)", "s)") for word in words(everything)}
    assert not any("_" in word for word in words(everything)), "no key stands for a word"


def test_the_title_is_that_of_the_scenario_unless_another_is_wanted(everything: Any) -> None:
    assert "Ten TCP sources share one bottleneck (study 000, local network)" in words(everything)
    assert "Mine" in words(pushout.plot("lan", what="goodput", set=SHORT, title="Mine"))
    assert pushout.plot("lan", what="goodput", set=SHORT, title="")._suptitle is None


@pytest.mark.parametrize("width", [3.5, 7.0, 10.0])
def test_no_legend_covers_a_panel_or_another_legend(width: float) -> None:
    drawn = pushout.plot("lan", what=OWN, set=FILES, width=width, reps=2)
    axes, legends = boxes(drawn)
    for index, legend in enumerate(legends):
        assert not any(legend.overlaps(each) for each in [*axes, *legends[:index]])
        assert legend.x0 >= 0 and legend.x1 <= drawn.bbox.x1, "nothing is cut off"


def test_every_panel_begins_at_zero_and_at_the_start_of_the_measured_time() -> None:
    drawn = pushout.plot("lan", what="queue,drops,throughput,cwnd", set={**SHORT, "warmup": "0.1 s"})
    for axes in drawn.axes:
        assert axes.get_ylim()[0] == 0
        assert axes.get_xlim() == (0.1, 0.5)


def test_the_losses_of_a_picture_are_those_of_the_run() -> None:
    planned = recording(pushout.explain("lan", set=SHORT), panels("drops"), (), ())
    result = pushout.run("lan", set=[*(f"{key}={value}" for key, value in SHORT.items()), *planned.sets])
    found = counts(Run("lan", result.replications), "bottleneck", "losses", 50)
    assert sum(found.units["early"]) == result["ports.bottleneck.lost.early"] > 0
    assert found.width == pytest.approx(0.01)


MARKING = {
    **SHORT,
    "port.bottleneck.admission": {"policy": "step", "threshold": "50 cells", "action": "mark"},
    "flows.transport.ecn": True,
}


def test_the_marks_of_a_picture_are_those_of_the_run() -> None:
    planned = recording(pushout.explain("lan", set=MARKING), panels("ports.bottleneck.marks"), (), ())
    result = pushout.run(pushout.Scenario("lan").with_(MARKING), set=planned.sets)
    found = counts(Run("lan", result.replications), "bottleneck", "marks", 50)
    assert sum(found.units["early"]) == result["ports.bottleneck.marked.early"] > 0
    assert {"marked cells", "early mark"} <= words(result.plot("marks"))
    none = pushout.plot("lan", what="marks", set=SHORT)
    assert "nothing was marked" in words(none)


PAUSING = """
name = "pausing"
duration = "53 ms"
sample = "500 us"
adaptation = { kind = "packet" }
port.default = { memory = "chip" }
node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
link = [
    { name = "in", from = "a", to = "r", rate = "8 Mb/s", delay = "500 us" },
    { name = "out", from = "r", to = "b", rate = "800 kb/s", delay = "0 s" },
]
memory.chip = { size = "20 cells", cell = "1000 bytes", pool = { lossless = { side = "ingress" } } }
queue.rdma = { limit = "3 cells", pause = { xoff = "5 cells", xon = "1 cell" } }
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { kind = "udp" }
source = { kind = "cbr", rate = "7 Mb/s", size = "972 bytes" }
"""


def test_pauses_are_drawn_as_the_share_of_time_in_which_a_port_must_not_send(tmp_path: Path) -> None:
    scenario = tmp_path / "pausing.toml"
    scenario.write_text(PAUSING)
    drawn = pushout.plot(scenario, what="pauses")
    (axes,) = drawn.axes
    (line,) = axes.lines
    share = pushout.run(scenario)["ports.in.paused_s"] / 0.053
    assert line.get_ydata().mean() / 100 == pytest.approx(share, rel=0.02)
    assert share > 0.5
    assert "time paused (%)" in words(drawn)
    assert panels("ports.in.paused_s") == ["pauses"]
    with pytest.raises(QuestionError, match="has no class that pauses"):
        pushout.plot("lan", what="pauses", set=SHORT)


def test_the_queue_of_a_picture_has_the_mean_of_the_run() -> None:
    drawn = pushout.plot("lan", what="queue", set=SHORT)
    (line, *_) = [line for line in drawn.axes[0].lines if line.get_label() == "queue of bottleneck"]
    mean = pushout.run("lan", set=SHORT)["ports.bottleneck.occupancy_mean"]
    assert line.get_ydata().mean() == pytest.approx(mean, rel=0.03)


def test_recording_changes_nothing_else_that_a_run_measures() -> None:
    planned = recording(pushout.explain("lan", set=SHORT), OWN, (), ())
    plain = pushout.run("lan", set=SHORT)
    recorded = pushout.run("lan", set=[*(f"{key}={value}" for key, value in SHORT.items()), *planned.sets])
    assert recorded["summary.goodput_bps"] == plain["summary.goodput_bps"]
    assert recorded["ports.bottleneck.lost"] == plain["ports.bottleneck.lost"]
    assert recorded["ports.bottleneck.occupancy_mean"] == plain["ports.bottleneck.occupancy_mean"]


def test_what_a_scenario_measures_already_it_goes_on_measuring() -> None:
    sets = {"duration": "1 s", "sample": "1 ms", "measure": {"window": "10 ms", "cwnd": ["flow9"]}}
    planned = recording(pushout.explain("lan", set=sets), panels("queue,throughput,cwnd"), (), ["flow2"])
    assert planned.sets == ['measure.occupancy=["bottleneck"]', 'measure.cwnd=["flow9", "flow2"]']
    assert planned.flows == ["flow2"]


def test_several_runs_share_a_panel_and_have_losses_of_their_own() -> None:
    tail_drop = pushout.run("lan", set={**SHORT, "measure.losses": ["bottleneck"], "sample": "1 ms"})
    drawn = pushout.plot(["lan", "lan"], what="queue,drops", labels="EPD,again", set=SHORT)
    assert len(drawn.axes) == 3
    assert {"EPD", "again"} <= words(drawn)
    assert drawn.axes[1].get_ylim() == drawn.axes[2].get_ylim(), "losses can be compared"
    assert len(pushout.plot([tail_drop, tail_drop], what="drops").axes) == 2


def test_more_intervals_than_can_be_distinguished_are_bars() -> None:
    two = pushout.plot("lan", what="cwnd", flows=["flow1", "flow2"], set=SHORT, reps=2).axes[0]
    three = pushout.plot("lan", what="cwnd", flows=["flow1", "flow2", "flow3"], set=SHORT, reps=2).axes[0]
    assert {type(each).__name__ for each in two.collections} == {"FillBetweenPolyCollection"}
    assert {type(each).__name__ for each in three.collections} == {"LineCollection"}


def test_a_result_draws_what_it_has_measured_and_says_how_to_measure_more() -> None:
    result = pushout.run("lan", set={**FILES, "measure.transfers": True})
    assert len(result.plot().axes) == 2
    assert "fraction of transfers" in words(result.plot("fct"))
    remedy = """lan has no queue over time: .* run it again with --set 'measure.occupancy=["bottleneck"]'"""
    with pytest.raises(QuestionError, match=re.escape(remedy).replace(r"\.\*", ".*")):
        result.plot("queue")


def test_the_remedy_of_a_missing_series_works() -> None:
    for what, key, value in [
        ("queue", "measure.occupancy", ["bottleneck"]),
        ("drops", "measure.losses", ["bottleneck"]),
        ("cwnd", "measure.cwnd", ["flow1"]),
        ("throughput", "measure.window", "100 ms"),
        ("fct", "measure.transfers", True),
    ]:
        with pytest.raises(QuestionError, match=re.escape(key)):
            pushout.run("lan", set=FILES).plot(what)
        assert pushout.run("lan", set={**FILES, key: value, "sample": "10 ms"}).plot(what).axes


def test_a_memory_is_drawn_with_its_fullest_queues_and_what_they_may_hold() -> None:
    axes = pushout.plot("tomahawk", what="memory", set={"duration": "1 ms"}).axes[0]
    solid = [line for line in axes.lines if line.get_linestyle() == "-"]
    dotted = [line for line in axes.lines if line.get_linestyle() == ":" and len(line.get_xdata())]
    assert {line.get_label() for line in solid} <= {f"access{n}/lossless" for n in range(5, 9)} | {"bottleneck/lossy"}
    assert len(solid) == len(dotted) == 3
    assert all((line.get_ydata() <= 72544 / 4).all() for line in dotted), "no threshold is drawn above the partition"
    assert axes.collections, "what all queues hold together"
    whole = pushout.run("tomahawk", set={"duration": "1 ms"})
    with pytest.raises(QuestionError, match=re.escape("""--set 'measure.memories=["chip/1"]'""")):
        whole.plot("memory")


def test_no_threshold_is_drawn_above_the_room_of_its_pool() -> None:
    """With α = 8 a queue may hold eight times what is free: more than there is, were its pool not the limit."""
    sets = {"duration": "1 ms", "queue.lossy.alpha": 8.0}
    axes = pushout.plot("tomahawk", what="memory", set=sets).axes[0]
    (memory, *_) = pushout.run("tomahawk", set=sets).document["memories"]
    most = max(pool["shared"] for pool in memory["pools"])
    highest = max(
        line.get_ydata().max() for line in axes.lines if line.get_linestyle() == ":" and len(line.get_xdata())
    )
    assert highest <= most < memory["cells"]
    assert axes.get_ylim()[1] < 1.1 * most, "the axis ends there as well"


def test_the_delay_of_a_queue_is_the_time_in_which_its_line_sends_it() -> None:
    """A cell of 53 octets takes 8 * 53 / 149.76 µs."""
    drawn = pushout.plot("lan", what="queue,sojourn", set=SHORT)
    queue, delay = (next(line for line in axes.lines if "bottleneck" in line.get_label()) for axes in drawn.axes)
    assert delay.get_ydata() == pytest.approx(queue.get_ydata() * 8 * 53 / 149.76e6)
    assert max(delay.get_ydata()) > 1e-3
    assert drawn.axes[1].get_ylabel() == "sojourn time (ms)"


def test_a_delay_needs_the_rate_of_the_line() -> None:
    result = pushout.run("lan", set={**SHORT, "measure.occupancy": ["bottleneck"]})
    with pytest.raises(pushout.QuestionError, match="draw the scenario itself"):
        result.plot("sojourn")
    scenario = pushout.Scenario("home-uplink").with_(duration="2 s", warmup="0 s")
    (axes,) = scenario.plot(what="sojourn").axes
    assert axes.get_ylabel().startswith("sojourn time\nof full packets (")
    (axes,) = pushout.plot("lan", what="sojourn", set={"duration": "0.1 s"}).axes
    assert axes.get_ylabel().startswith("sojourn time (")


def test_of_a_fabric_the_fullest_memories_are_drawn() -> None:
    sets = {"port.default": {"memory": "chip"}, "memory.chip": {"size": "100 kB"}}
    topology = {"template": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 2, "host": LINE, "fabric": LINE}
    scenario = {"name": "fabric", "adaptation": {"kind": "packet"}, "topology": topology, "flows": GREEDY}
    drawn = pushout.plot({**scenario, "duration": "1 ms"}, what="memory", set=sets)
    assert len(drawn.axes) == 2


LINE = {"rate": "1 Gb/s", "delay": "1 us"}
GREEDY = {"source": {"kind": "greedy"}, "transport": {"kind": "tcp"}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"what": "queues"}, 'unknown panel "queues"; did you mean "queue"?'),
        ({"what": ""}, "what must name a panel; allowed: queue, drops"),
        ({"width": 1}, "width must be from 2.5 to 40 inches, not 1"),
        ({"theme": "poster"}, 'unknown theme "poster"'),
        ({"ports": "botleneck"}, 'unknown place "botleneck"; did you mean "bottleneck"?'),
        ({"flows": "flow11"}, 'unknown flow "flow11"'),
        ({"labels": "a,b"}, "labels must name each of the 1 runs, not 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_runs(arguments: Any, message: str) -> None:
    with pytest.raises(QuestionError, match=re.escape(message)):
        pushout.plot("lan", **{"set": SHORT, **arguments})


def test_panels_that_a_scenario_cannot_fill_are_refused_with_those_that_it_can() -> None:
    with pytest.raises(QuestionError, match=r"no port with a limited buffer, so there is no queue .* throughput"):
        pushout.plot("mux-poisson", what="queue,throughput")
    with pytest.raises(QuestionError, match="no memory that ports share, so there is no memory to draw"):
        pushout.plot("lan", what="memory,queue")
    with pytest.raises(QuestionError, match="no TCP flow, so there is no cwnd"):
        pushout.plot("mux-poisson", what="cwnd,goodput")


def test_the_same_picture_gives_the_same_octets(everything: Any) -> None:
    for kind in ("svg", "png", "pdf"):
        assert figure.written(everything, kind) == figure.written(everything, kind)


def test_themes_have_a_width_and_letters_that_fit_it(everything: Any) -> None:
    assert everything.get_figwidth() == THEMES["paper"].width_in == 7
    slides = pushout.plot("lan", what="goodput", set=SHORT, theme="slides")
    assert slides.get_figwidth() == 10
    assert slides.axes[0].yaxis.label.get_fontsize() > everything.axes[0].yaxis.label.get_fontsize()


def output_of(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(args)
    return int(ended.value.code or 0), capsys.readouterr().err


SETS = ("--set", "duration=0.2 s", "--set", "port.bottleneck.buffer=1000 cells")


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_command_writes_the_file_that_is_named(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / f"below/queue.{ending}"
    status, said = output_of(capsys, "plot", "lan", "--what", "queue", "--out", str(place), *SETS)
    assert (status, said) == (0, f"figure: {place}\n")
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert place.read_bytes().startswith(begins[ending])


def test_a_drawing_has_a_component_a_line_and_says_what_matplotlib_says() -> None:
    with drawing.paper_of(THEMES["paper"], 1) as (drawn, (axes,)):
        axes.plot([k / 7 for k in range(100)], [k * k for k in range(100)], label="x²  and more")
        axes.legend()
    data = io.BytesIO()
    drawn.savefig(data, format="svg")
    plain, kept = data.getvalue().decode(), compact(data.getvalue().decode())
    assert kept.count("\n") < plain.count("\n") / 4 and compact(kept) == kept
    before, after = (list(ElementTree.fromstring(text).iter()) for text in (plain, kept))  # noqa: S314
    for old, new in zip(before, after, strict=True):
        data_of = [each.attrib.pop("d", "").split() for each in (old, new)]
        assert (old.tag, old.attrib, (old.text or "").strip()) == (new.tag, new.attrib, (new.text or "").strip())
        for one, other in zip(*data_of, strict=True):
            assert one == other or abs(float(one) - float(other)) <= 0.005 + 1e-9


def test_a_picture_of_no_known_format_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    status, said = output_of(capsys, "plot", "lan", "--out", "queue.gif")
    assert status == 2
    assert "the file must end in .png, .svg or .pdf, not 'queue.gif'" in said
    status, said = output_of(capsys, "plot", "lan", "--out", "s3://KEY:SECRET@")
    assert status == 2
    assert "not 's3://***@'" in said


def test_finished_runs_are_drawn_from_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, policy in (("few", "epd"), ("many", "tail-drop")):
        admission = f'port.bottleneck.admission={{policy="{policy}"}}'
        run = ("run", "lan", *SETS, "--set", admission, "--out", name, "--reps", "2", "--plot", f"{name}.svg")
        assert output_of(capsys, *run)[0] == 0
        assert (tmp_path / f"{name}.svg").is_file()
    assert output_of(capsys, "plot", "few", "many", "--out", "both.svg") == (0, "figure: both.svg\n")
    text = (tmp_path / "both.svg").read_text(encoding="utf-8")
    assert ">few<" in text and ">many<" in text and ">95 % interval<" in text
    assert output_of(capsys, "plot", "few/replication-1.json", "--out", "one.svg")[0] == 0
    status, said = output_of(capsys, "plot", "few/result.json")
    assert status == 3
    assert "few/result.json has the means of several replications: name the folder" in said


def test_a_legend_of_many_entries_is_read_row_by_row() -> None:
    with drawing.paper_of(THEMES["paper"]._replace(width_in=3.5), 1) as (_, (axes,)):
        for number in range(12):
            axes.plot([0, 1], label=f"port number {number}")
        drawing.above(axes, THEMES["paper"]._replace(width_in=3.5))
    assert axes.get_legend()._ncols == 2


FABRIC = {
    "name": "fabric",
    "duration": "20 ms",
    "topology": {
        "template": "leaf-spine",
        "leaves": 2,
        "spines": 2,
        "hosts": 2,
        "links": 2,
        "host": {"rate": "1 Gb/s", "delay": "5 us"},
        "fabric": {"rate": "1 Gb/s", "delay": "5 us"},
    },
    "adaptation": {"kind": "packet"},
    "port": {"default": {"buffer": "10 packets"}},
    "flows": {
        "source": {"kind": "arrivals", "sizes": "50 kB", "load": "80 %", "to": "other-leaf"},
        "transport": {"kind": "tcp"},
    },
}


def test_a_topology_has_hosts_below_leaves_and_these_below_spines() -> None:
    found = network(pushout.explain(FABRIC))
    assert found.tiers == [["host1", "host2", "host3", "host4"], ["leaf1", "leaf2"], ["spine1", "spine2"]]
    assert [way.number for way in found.ways if way.ends == ("leaf1", "spine2")] == [0, 1]
    assert {way.name for way in found.ways} == {port["name"] for port in pushout.run(FABRIC)["ports"]}


def test_the_load_and_losses_of_a_topology_are_those_of_the_report() -> None:
    found, run = network(pushout.explain(FABRIC)), pushout.run(FABRIC)
    carried = traffic(found, [run.document])
    for port in run["ports"]:
        load = port["octets_out"] * 8 / 0.02 / 1e9
        assert carried[port["name"]].load == pytest.approx(load)
        assert carried[port["name"]].loss * port["units_in"] == pytest.approx(sum(port["lost"].values()))
    assert max(each.loss for each in carried.values()) > 0


@pytest.mark.parametrize("width", [3.5, 7.0])
def test_a_topology_writes_names_and_losses_within_the_figure(width: float) -> None:
    drawn = pushout.plot(FABRIC, what="topology", width=width)
    assert {"host1", "leaf2", "spine1", "load of the line"} <= words(drawn)
    assert any(word.endswith(" %") for word in words(drawn))
    drawn.draw_without_rendering()
    page = drawn.bbox
    for text in drawn.axes[0].texts:
        box = text.get_window_extent()
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1


def test_a_finished_run_has_no_topology(tmp_path: Path) -> None:
    command("run", "lan", "--set", "duration=0.1 s", "--out", str(tmp_path / "run"))
    with pytest.raises(QuestionError, match="does not say how nodes are linked: draw the scenario itself"):
        pushout.plot(tmp_path / "run", what="topology")


BURSTS = {
    "name": "bursts",
    "duration": "1 s",
    "adaptation": {"kind": "packet"},
    "topology": {
        "template": "dumbbell",
        "sources": 4,
        **{link: {"rate": "10 Gb/s", "delay": "5 us"} for link in ("access", "bottleneck", "egress")},
    },
    "port": {"bottleneck": {"buffer": "100 kB"}},
    "flows": {
        "source": {
            "kind": "on-off",
            "peak": "10 Gb/s",
            "size": "1472 bytes",
            "on": "100 us",
            "off": "24.9 ms",
            "distribution": "periodic",
            "phase": "aligned",
        },
        "transport": {"kind": "udp"},
    },
}
"""Forty bursts that fill a buffer, which its line sends in 80 us: a ten-thousandth of the run."""


def sampled(duration: str) -> list[str]:
    """Give the overrides with which a picture of the queue has the bursts measured."""
    explained = pushout.explain({**BURSTS, "duration": duration})
    return recording(explained, panels("queue"), (), ()).sets


def test_a_picture_shows_every_burst_that_fills_the_buffer() -> None:
    sets = sampled("1 s")
    assert sets == ['measure.occupancy=["bottleneck"]', 'sample="20000000 ps"']
    (document,) = pushout.run(BURSTS, set=sets).replications
    run = Run("bursts", [document])
    shown = curve(run, "ports", "bottleneck", ("occupancy", "values"), 400)
    assert shown.band
    peaks = [max(shown.band[1][start : start + 10]) for start in range(0, 400, 10)]
    assert min(peaks) >= 0.75 * 100_000, (
        "50 000 samples: in the 20 us between two the line sends a quarter of the buffer"
    )


def test_a_short_run_has_a_sample_for_every_twentieth_of_the_buffer() -> None:
    assert 'sample="4000000 ps"' in sampled("100 ms")


DRAWN = """name = "fabric"
duration = "10 ms"
adaptation = { kind = "packet" }
topology.template = "leaf-spine"
topology.leaves = 2
topology.spines = 1
topology.hosts = 4
topology.host = { rate = "10 Gb/s", delay = "1 us" }
topology.fabric = { rate = "10 Gb/s", delay = "1 us" }
memory.chip = { size = "400 kB", cell = "200 bytes" }
port.default = { memory = "chip" }
[flows]
source = { kind = "arrivals", sizes = "websearch", load = "50 %" }
transport = { kind = "tcp", profile = "datacenter" }
"""


def test_a_fabric_with_drawn_transfers_is_drawn_by_its_memories_and_its_transfers() -> None:
    drawn = pushout.plot(DRAWN)
    assert {"memory (cells)", "that take longer", "slowdown", "median", "99th percentile"} <= words(drawn)
    with pytest.raises(QuestionError, match=r"no goodput to draw: choose what memory,fct,slowdown$"):
        pushout.plot(DRAWN, what="goodput")


def test_the_slowdown_is_shown_by_size_in_groups_of_transfers_and_of_chosen_flows_only() -> None:
    transfers = [
        {"name": f"{flow}.{number}", "octets": size, "time_s": 1e-3 * number, "slowdown": slowdown}
        for number in range(10)
        for flow, size, slowdown in [("a", 1000 + number, float(number)), ("b", 5000 + number, 50.0 + number)]
    ]
    documents = [{"transfers": [*transfers, {"name": "a.11", "octets": 9, "time_s": None, "slowdown": None}]}]
    found = slowdowns(Run("run", documents))
    assert found.octets.tolist() == [1002, 1007, 5002, 5007]
    assert found.median.tolist() == [2, 7, 52, 57]
    assert found.p99.tolist() == [4, 9, 54, 59]
    assert slowdowns(Run("run", documents, flows=["b"])).p99.tolist() == [54, 59]
    alike = [{"transfers": [{**each, "octets": 1000} for each in transfers]}]
    assert slowdowns(Run("run", alike)).octets.tolist() == [1000], "transfers of one size are one group"


@pytest.mark.parametrize(
    ("name", "panel"),
    [
        ("loss", "drops"),
        ("ports.bottleneck.lost", "drops"),
        ("ports.bottleneck.marks", "marks"),
        ("marks", "marks"),
        ("ports.bottleneck.sojourn_p99", "sojourn"),
        ("sojourn", "sojourn"),
        ("delay", "sojourn"),
        ("sojourn_p99", "sojourn"),
        ("queueing_delay", "sojourn"),
        ("ports.bottleneck.occupancy_max", "queue"),
        ("goodput_bps", "throughput"),
        ("goodput", "goodput"),
        ("flows.flow1.cwnd", "cwnd"),
        ("transfer_time_p99", "fct"),
        ("memories.chip.occupancy_mean", "memory"),
        ("queue", "queue"),
    ],
)
def test_a_figure_stands_for_the_panel_that_draws_it(name: str, panel: str) -> None:
    assert panels(name) == [panel]
    assert panels([name, panel, name]) == [panel]


def test_the_port_and_the_flow_of_a_figure_are_drawn() -> None:
    drawn = pushout.plot("lan", what="ports.bottleneck.occupancy_mean,flows.flow2.cwnd", set=SHORT)
    assert len(drawn.axes) == 2
    assert entries(["ports.a.lost", 'ports."b.back".lost', "flows.c.cwnd", "queue", "loss"], "ports") == ["a", "b.back"]
    with pytest.raises(pushout.QuestionError, match='unknown place "botleneck"'):
        pushout.plot("lan", what="ports.botleneck.lost", set=SHORT)


def test_a_figure_without_a_panel_says_which_panels_there_are() -> None:
    why = r"what delay_p99: no panel draws this figure, .*panels: queue, drops"
    with pytest.raises(pushout.QuestionError, match=why):
        panels("delay_p99")
    with pytest.raises(pushout.QuestionError, match='unknown panel "dely"'):
        panels("dely")


def test_the_state_of_policies_is_drawn_for_each_figure_and_named_where_a_program_traces_it(tmp_path: Path) -> None:
    file = tmp_path / "smooth.py"
    file.write_text(
        "from pushout import policy\n\n"
        "@policy.admission(state={'average': 0.0, 'least': 0}, trace={'average', 'least'})\n"
        "def smooth(x, s):\n"
        "    s.average = 0.9 * s.average + 0.1 * x.total\n    s.least = -x.total\n    return False\n",
        encoding="utf-8",
    )
    own = pushout.policy.overrides({"bottleneck": pushout.policy.read(str(file))})
    short = {"duration": "0.3 s", "warmup": "0 s", "flows.start_spread": "1 ms"}
    figure = pushout.plot("lan", what="queue,state", set=[*own, *(f"{key}={value}" for key, value in short.items())])
    _, average, least = figure.axes
    assert (average.get_ylabel(), least.get_ylabel()) == ("average", "least")
    drawn, queue = average.lines[0].get_ydata(), figure.axes[0].lines[0].get_ydata()
    assert 0 < max(drawn) < max(queue)
    assert least.get_ylim()[0] < 0 == average.get_ylim()[0], "only what is negative is drawn below zero"
    red = pushout.plot("lan", what="state", set={**short, "port.bottleneck.admission": {"policy": "red"}})
    assert [axes.get_ylabel() for axes in red.axes] == ["average"], "max_p stays what it is"


def test_a_port_without_state_has_no_panel_of_it() -> None:
    with pytest.raises(ScenarioError, match="keeps no state that can be read"):
        pushout.plot("lan", what="state", set={"duration": "0.1 s"})


def test_where_ports_share_a_memory_it_is_drawn_instead_of_their_queues() -> None:
    drawn = pushout.plot("chip", set={"duration": "20 ms", "warmup": "0 s"})
    assert [axes.get_ylabel() for axes in drawn.axes] == ["memory (cells)", "in-order data (Gb/s)"]


def numbers(axis: Any) -> list[str]:
    """The numbers beside an axis within its view."""
    low, high = axis.get_view_interval()
    shown = [tick.label1.get_text() for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in shown if text]


def test_a_logarithmic_axis_has_several_numbers() -> None:
    line = pushout.Link("10 Gb/s", "1 us")
    rack = pushout.Scenario.leaf_spine(leaves=2, spines=2, hosts=4, host=line, fabric=line)
    figure = rack.plot(what="fct,slowdown")
    figure.draw_without_rendering()
    assert [axes.get_xscale() for axes in figure.axes] == ["log", "log"]
    assert all(len(numbers(axes.xaxis)) >= 3 for axes in figure.axes)
    median, slowest = figure.axes[1].lines[:2]
    assert median.get_marker() != slowest.get_marker()
    assert median.get_color() != slowest.get_color()


def test_panels_have_letters_where_there_are_several() -> None:
    letters = [[text.get_text() for text in axes.texts] for axes in pushout.plot("lan", set=SHORT).axes]
    assert letters == [["a"], ["b"], ["c"]]
    (axes,) = pushout.plot("lan", what="queue", set=SHORT).axes
    assert not axes.texts


def test_ports_that_count_in_different_units_have_a_panel_each() -> None:
    """200 packets and 200 kB are no heights of one axis; a run keeps its colour."""
    packets = pushout.Scenario("home-uplink")
    runs = [packets, packets.with_({"port.bottleneck.buffer": "200 kB"})]
    drawn = pushout.plot(runs, what="queue,occupancy", set={"duration": "1 s", "warmup": "0 s"}, labels=["A", "B"])
    assert [axes.get_ylabel() for axes in drawn.axes[:2]] == ["queue (packets)", "queue (kB)"]
    assert [axes.get_xlabel() for axes in drawn.axes[2:]] == ["occupancy (packets)", "occupancy (kB)"]
    colours = [line.get_color() for axes in drawn.axes for line in axes.get_lines() if line.get_label() in ("A", "B")]
    assert colours[:2] == colours[2:]
    assert colours[0] != colours[1]


def test_throughputs_stand_beside_the_rate_of_the_line() -> None:
    def rates(scenario: str, **overrides: str) -> list[tuple[str, float]]:
        axes = pushout.plot(scenario, what="throughput", set={"duration": "6 s", **overrides}).axes[0]
        return [(line.get_label(), line.get_ydata()[0]) for line in axes.lines if "rate" in str(line.get_label())]

    assert rates("home-uplink") == [("rate of bottleneck", pytest.approx(10e6))], "that of its shaper"
    assert rates("cellular", warmup="0 s") == [("mean rate of radio", pytest.approx(16.4e6, rel=0.1))]


def test_the_delay_of_a_line_that_changes_is_not_drawn_from_its_queue() -> None:
    with pytest.raises(QuestionError, match="and whose line keeps its rate, so there is no sojourn to draw"):
        pushout.plot("cellular", what="queue,sojourn", set={"duration": "11 s"})


TRACING = (
    "from pushout import policy\n\n\n"
    "@policy.congestion(state={'grown': 0.0, 'same': 1.0}, trace={'grown', 'same'})\n"
    "def tracing(x, s):\n    s.window += x.mss\n    s.grown = s.window\n"
)


def test_the_state_of_a_control_is_drawn_where_no_port_keeps_any(tmp_path: Path) -> None:
    (tmp_path / "tracing.py").write_text(TRACING, encoding="utf-8")
    own = pushout.policy.overrides({"flows": pushout.policy.read(str(tmp_path / "tracing.py"))})
    given = {"set": ["duration=0.3 s", "warmup=0.1 s", *own]}
    figure = pushout.plot("w1-packet", what="state", **given)
    (axes,) = figure.axes
    assert axes.get_ylabel() == "grown"
    assert axes.get_legend().get_title().get_text() == "constant: 1 other figure, not drawn"
    assert [line.get_label() for line in axes.lines if line.get_label()[0] != "_"] == [f"flow{n}" for n in range(1, 5)]
    named = pushout.plot("w1-packet", what="state,cwnd", flows="flow7", **given)
    assert [axes.get_ylabel() for axes in named.axes] == ["grown", "congestion window\nof 1 of 10 flows (kB)"]


def test_figures_of_state_have_their_units() -> None:
    short = {"duration": "0.3 s", "warmup": "0.1 s", "flows.transport.congestion": "bbr"}
    figure = pushout.plot("w1-packet", what="state", flows="flow1", set=short)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert any(label.startswith("pacing rate (") and label.endswith("b/s)") for label in labels)
    assert "max_bw_bps" not in labels


def test_a_png_keeps_the_colour_of_a_line_that_is_hardly_seen() -> None:
    from PIL import Image

    drawn = pushout.plot("home-uplink", what="queue,sojourn,throughput,cwnd,occupancy", width=3.5)
    colours = {line.get_color() for axes in drawn.axes for line in axes.lines}
    image = Image.open(io.BytesIO(figure.written(drawn, "png"))).convert("RGB")
    found = {"#{:02x}{:02x}{:02x}".format(*colour) for _, colour in image.getcolors() or []}
    assert colours <= found
    assert "#ffffff" in found


def luminance(colour: str) -> float:
    """Relative luminance, by WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_a_full_line_of_a_topology_is_seen_on_a_white_page_and_on_a_dark_one() -> None:
    from matplotlib.colors import to_hex

    from pushout.picture.topology import _colours

    full = luminance(to_hex(_colours()(1.0)))
    for ground in ("#ffffff", "#15181c"):
        low, high = sorted((full, luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 3, ground


def test_the_goodput_of_runs_with_other_flows_stands_at_their_names() -> None:
    short = {"duration": "6 s"}
    drawn = pushout.plot(["home-uplink", "two-routers"], what="goodput", set=short)
    (axes,) = drawn.axes
    names = [tick.get_text() for tick in axes.get_xticklabels()]
    assert names == ["flow1", "flow2", "call", "files"]
    places = {round(container.lines[0].get_xdata()[0] + 0.001) for container in axes.containers[3:]}
    assert places == {3, 4}, "the flows of the second run"
    assert axes.get_xlim() == (0.5, 4.5)


def test_numbers_of_a_narrow_logarithmic_axis_do_not_touch() -> None:
    line = pushout.Link("10 Gb/s", "1 us")
    rack = pushout.Scenario.leaf_spine(leaves=2, spines=2, hosts=4, host=line, fabric=line)
    drawn = rack.plot(what="fct", width=3.5)
    drawn.draw_without_rendering()
    (axes,) = drawn.axes
    shown = [tick.label1 for tick in axes.xaxis.get_major_ticks() if tick.label1.get_text()]
    low, high = axes.get_xlim()
    boxes = [each.get_window_extent() for each in shown if low <= each.get_position()[0] <= high]
    assert len(boxes) >= 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
