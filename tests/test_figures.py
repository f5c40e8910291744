"""Names of figures, and figures that are computed from others."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import ROOT, command
from pushout import _core
from pushout.document import REASONS
from pushout.errors import QuestionError, ScenarioError
from pushout.names import computed
from pushout.names.computed import COMPUTED, Scenes, in_memories, is_at_host, is_computed, sources, sources_of, value
from pushout.names.figures import PARTS, SHORT, is_known, named, near, path_of, paths_of
from pushout.question import ask
from pushout.question.executor import Variations, check
from pushout.simulate import Job
from pushout.source import load

LAN, CHIP = ROOT / "scenarios" / "lan.toml", ROOT / "scenarios" / "chip.toml"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("goodput_ratio", "summary.goodput_ratio"),
        ("summary.goodput_ratio", "summary.goodput_ratio"),
        ("goodput", "summary.goodput_bps"),
        ("transfer_time_p99", "summary.transfer_time_p99_s"),
        ("transfers", "summary.transfers"),
        ("loss", "summary.loss_ratio"),
        ("summary.loss", "summary.loss_ratio"),
        ("marks", "summary.marks"),
        ("delay_p99", "summary.delivery_time_p99_s"),
        ("delay_p99_s", "summary.delivery_time_p99_s"),
        ("slowdown_p99", "summary.fct.slowdown.all.p99"),
        ("slowdown_short_mean", "summary.fct.slowdown.short.mean"),
        ("query_time_p95", "summary.query.p95"),
        ("classes.udp.goodput", "summary.classes.udp.goodput_bps"),
        ("flows.a.delay_mean", "flows.a.delivery_time_mean_s"),
        ("flows.*.goodput", "flows.*.goodput_bps"),
        ("ports.out.lost", "ports.out.lost.total"),
        ("ports.out.lost.early", "ports.out.lost.early"),
        ('ports."access1.back".lost', 'ports."access1.back".lost.total'),
        ("ports.out.marks", "ports.out.marked.total"),
        ("ports.out.paused", "ports.out.paused_s"),
        ("memories.chip.lossless_drop", "memories.chip.lossless_drop"),
        ("memories.chip.queues.a/b.lost", "memories.chip.queues.a/b.dropped"),
        ("transfers.*.time", "transfers.*.time_s"),
        ("duration_s", "duration_s"),
        ("nonsense", "summary.nonsense"),
    ],
)
def test_a_name_leads_to_the_path_of_the_report(name: str, path: str) -> None:
    assert path_of(name) == path
    assert path_of(path) == path, "a path is its own name"


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("packet_loss", ["loss", "packets_lost"]),
        ("drops", ["loss"]),
        ("goodput_rato", ["goodput_ratio", "goodput_drift"]),
        ("fairness_j", ["fairness_jain"]),
        ("p99", ["delay_p99", "transfer_time_p99_s", "slowdown_p99"]),
        ("latency", ["delay_p99", "ports.NAME.sojourn_p99_s"]),
        ("latency_p95", ["delay_p95", "ports.NAME.sojourn_p95_s"]),
        ("fct_p99", ["transfer_time_p99_s", "slowdown_p99"]),
        ("sojourn_p999", ["ports.NAME.sojourn_p999_s"]),
        ("queueing_delay", ["ports.NAME.sojourn_mean_s", "ports.NAME.sojourn_p99_s"]),
        ("jitter", ["flows.NAME.delay_variation_p99_s", "flows.NAME.delivery_time_sd_s"]),
        ("flows.a.latency", ["flows.a.delay_p99", "flows.a.delay_mean"]),
        ("ports.out.lsot", ["ports.out.lost"]),
        ('ports."a.back".lsot', ['ports."a.back".lost']),
        ("port.out.lost", ["ports.out.lost"]),
        ("memory.chip.lossless_drop", ["memories.chip.lossless_drop"]),
        ("clases.udp.goodput_bps", ["classes.udp.goodput_bps"]),
        ("nonsense", []),
        ("goodput_ratio", []),
        ("delay_p99", []),
        ("ports.x.lost.rain", []),
    ],
)
def test_a_name_that_no_report_has_suggests_those_like_it(name: str, suggested: list[str]) -> None:
    assert near(path_of(name)) == suggested
    assert all(is_known(path_of(each)) for each in suggested)


def test_every_short_name_and_every_listed_figure_leads_to_a_figure_of_the_schema() -> None:
    for part in PARTS:
        for figure in named(part):
            assert is_known(path_of(figure.path)), figure
            assert figure.meaning, figure
    for kind, names in SHORT.items():
        before = {"summary": "", "queues": "memories.x.queues.y."}.get(kind, f"{kind}.x.")
        known = {name: meant for name, meant in names.items() if is_known(path_of(f"{before}{meant}"))}
        assert known, kind
        for name, meant in known.items():
            assert path_of(f"{before}{name}") == path_of(f"{before}{meant}")


def test_the_reasons_of_losses_are_those_of_the_report() -> None:
    """Totals over all ports are sums over these reasons."""
    schema = json.loads(_core.result_schema())
    ports = schema["properties"]["ports"]["items"]["properties"]
    assert ports["lost"]["$ref"] == ports["marked"]["$ref"] == "#/$defs/lost"
    assert tuple(schema["$defs"]["lost"]["properties"]) == REASONS


def measured(scenario: str | Path, sets: Sequence[str], paths: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compute figures of a run as questions do; also return its document."""
    source = load(scenario)
    points, _ = check(Variations(source, [list(sets)], None), sources_of(paths), 1)
    pool = _core.Pool(1)
    pool.submit(points, [(0, 0, 1)], sources_of(paths))
    ((_, text, _),) = pool.wait(60.0, 0.0)
    found, job = json.loads(text), Job(source, tuple(sets))
    return {path: value(path, found, Scenes(source, None).of(sets)) for path in paths}, job.run(1)


def total(entries: Sequence[dict[str, Any]], key: str) -> float:
    return sum(sum(entry.get(key, {}).values()) for entry in entries)


@pytest.mark.parametrize("scenario", ["lan", "incast", "w1-packet"])
def test_losses_and_marks_are_those_of_all_ports(scenario: str) -> None:
    paths = [path_of(name) for name in ("loss", "lost", "marks", "ports.bottleneck.lost", "ports.bottleneck.loss")]
    found, document = measured(scenario, ["duration=0.3 s", "warmup=0 s"], paths)
    ports = {port["name"]: port for port in document["ports"]}
    lost = total(document["ports"], "lost")
    assert lost > 0 or total(document["ports"], "marked") > 0
    at_hosts = [port for name, port in ports.items() if re.fullmatch(r"access\d+|egress\d+\.back", name)]
    assert at_hosts, sorted(ports)
    assert found["summary.lost"] == lost
    assert found["summary.marks"] == total(document["ports"], "marked")
    sent = sum(port["units_in"] for port in at_hosts)
    assert found["summary.loss_ratio"] == lost / sent
    own = ports["bottleneck"]
    assert found["ports.bottleneck.lost.total"] == sum(own["lost"].values())
    assert found["ports.bottleneck.loss_ratio"] == sum(own["lost"].values()) / own["units_in"]


def test_lossless_drops_are_those_that_ports_count() -> None:
    """A headroom that is too small for the line makes a class that pauses lose packets."""
    paths = ["memories.chip/1.lossless_drop", "memories.chip/1.lost"]
    found, document = measured(ROOT / "scenarios" / "tomahawk.toml", TIGHT, paths)
    counted = sum(port.get("lossless_drop", 0) for port in document["ports"])
    assert counted > 0
    assert found["memories.chip/1.lossless_drop"] == counted
    assert found["memories.chip/1.lost"] == sum(q["dropped"] for each in document["memories"] for q in each["queues"])


TIGHT = [
    "duration=2 ms",
    'queue.lossless.pause={ xoff = "10 kB", xon = "2496 bytes" }',
    "memory.chip.pool.lossless.headroom=0 cells",
]


def test_the_ports_of_hosts_are_in_the_order_of_the_report() -> None:
    for scenario in ("lan", "chip", "multi-hop", "two-routers", "gpj"):
        job = Job(load(scenario), ("duration=1 ms", "warmup=0 s"))
        explained = json.loads(job.explain())
        hosts = {node["name"] for node in explained["node"] if node["kind"] == "host"}
        ends = {link["name"]: link["from"] for link in explained["link"]}
        ports = [port["name"] for port in job.run(None)["ports"]]
        marked = dict(zip(ports, is_at_host(explained), strict=True))
        assert {name: marked[name] for name in ends} == {name: end in hosts for name, end in ends.items()}


def test_points_with_equal_networks_are_explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[tuple[str, ...]] = []
    explain = Job.explain
    monkeypatch.setattr(Job, "explain", lambda job: [explained.append(job.sets), explain(job)][1])
    scenes = Scenes(load("lan"), None)
    buffers = [scenes.of([f"port.bottleneck.buffer={cells} cells"]).is_at_host for cells in (100, 200)]
    fewer = scenes.of(["topology.sources=2"]).is_at_host
    assert [len(ports) for ports in (*buffers, fewer)] == [42, 42, 10]
    assert explained == [("port.bottleneck.buffer=100 cells",), ("topology.sources=2",)]
    scenes.store_network(["topology.sources=3"], json.loads(explain(Job(load("lan"), ("topology.sources=3",)))))
    assert len(scenes.of(["topology.sources=3", "seed=5"]).is_at_host) == 14
    assert len(explained) == 2


def test_a_memory_with_one_entry_goes_by_its_own_name() -> None:
    assert in_memories("memories.chip.lost", ["chip/1"]) == "memories.chip/1.lost"
    assert in_memories('memories.chip.queues."a.b/c".lost', ["chip@left"]) == 'memories.chip@left.queues."a.b/c".lost'
    for names in (["chip"], ["chip/1", "chip/2"], ["chips/1"], []):
        assert in_memories("memories.chip.lost", names) == "memories.chip.lost"
    assert in_memories("ports.chip.lost", ["chip/1"]) == "ports.chip.lost"


def test_a_goal_and_a_comparison_find_the_partition_of_a_memory() -> None:
    over: Any = {"low": "10 kB", "high": "1 MB"}
    asked = ask.sizing("tomahawk", "min memories.chip.lossless_drop", "queue.lossless.pause.xoff", **over)
    assert asked.question.paths == ["memories.chip/1.lossless_drop"]
    with pytest.raises(pushout.QuestionError, match=r"no figure memories\.chp\.lost.*did you mean"):
        ask.sizing("tomahawk", "memories.chp.lost<=0", "queue.lossless.pause.xoff", **over)


def test_what_is_computed_needs_only_what_is_measured() -> None:
    for path in COMPUTED:
        name = path.replace("*", "x")
        assert is_computed(name)
        assert not any(map(is_computed, sources(name)))
    assert sources("summary.goodput_ratio") == ("summary.goodput_ratio",)
    assert sources('ports."a.back".lost.total') == ('ports."a.back".lost.*',)


def test_names_may_be_one_text_with_commas() -> None:
    assert paths_of(" loss, goodput") == paths_of(["loss", "goodput"]) == ("summary.loss_ratio", "summary.goodput_bps")


def test_a_figure_that_another_scenario_has_says_what_it_takes() -> None:
    with pytest.raises(ScenarioError, match=r"is there only with `measure\.delivery` in the scenario"):
        check(Variations(load("lan"), [[]], None), [path_of("delay_p99")], 1)


def test_a_sweep_has_columns_for_figures_of_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = tmp_path / "sweep.toml"
    grid = "[grid]\n'port.bottleneck.buffer' = ['500 cells', '8000 cells']\ntopology.sources = [4, 10]\n"
    design.write_text(f"scenario = '{LAN}'\nreps = 1\nset = ['duration=0.1 s']\n{grid}", encoding="utf-8")
    columns = ["loss", "ports.bottleneck.lost", "lost"]
    found = pushout.sweep(design, columns=columns, allow_files=[LAN.parent])
    assert list(found.columns["lost"]) == list(found.columns["ports.bottleneck.lost.total"])
    losses = [mean["mean"] for mean in found.means("loss_ratio") if mean]
    assert losses[1] > losses[3] >= 0 and losses[1] > losses[0], "more sources and less buffer lose more"
    command(
        "sweep",
        str(design),
        "--columns",
        ",".join(columns),
        "--out",
        str(tmp_path / "out"),
        "--allow-files",
        str(LAN.parent),
    )
    assert "ports.bottleneck.lost.total" in capsys.readouterr().out
    with pytest.raises(
        ScenarioError, match=r"columns: no figure summary\.packet_loss: did you mean loss or packets_lost\?"
    ):
        pushout.sweep(design, columns="packet_loss", allow_files=[LAN.parent])


def test_a_comparison_has_the_losses_of_the_network_beside_those_of_the_port() -> None:
    short: Any = {"set": {"duration": "0.1 s"}, "reps": 2}
    found = pushout.compare(LAN, ["tail-drop", "epd"], figures="loss,ports.bottleneck.lost", **short)
    figures = found.document["policies"][0]["figures"]
    assert figures["summary.loss_ratio"]["mean"] < figures["loss_ratio"]["mean"]
    assert figures["ports.bottleneck.lost.total"]["mean"] > 0


class Queues:
    """A memory with a queue of a class that pauses, and two of one that does not."""

    def is_lossless(self, memory: str) -> list[bool]:
        assert memory == "chip"
        return [True, False, False]


@pytest.mark.parametrize(
    ("path", "measured", "value"),
    [
        (
            "flows.f.delay_variation_p99_s",
            {"flows.f.delivery_time_p99_s": 0.5, "flows.f.delivery_time_min_s": 0.2},
            0.3,
        ),
        (
            "flows.f.delay_variation_p50_s",
            {"flows.f.delivery_time_p50_s": None, "flows.f.delivery_time_min_s": 0.2},
            None,
        ),
        ("memories.chip.lossless_drop", {"memories.chip.queues.*.dropped": [3, 5, 7]}, 3),
        ("memories.chip.lossy_drop", {"memories.chip.queues.*.dropped": [3, 5, 7]}, 12),
        ("memories.chip.lost", {"memories.chip.queues.*.dropped": [3, 5, 7]}, 15),
        ("memories.chip.marks", {"memories.chip.queues.*.marked": [1, None, 2]}, 3),
        ("ports.p.lost.total", {"ports.p.lost.*": [4, None, 1]}, 5),
        ("ports.p.marked.total", {"ports.p.marked.*": [4, None, 1]}, 5),
        ("ports.p.loss_ratio", {"ports.p.lost.*": [4, None, 1], "ports.p.units_in": 50}, 0.1),
        ("ports.p.loss_ratio", {"ports.p.lost.*": [4, None, 1], "ports.p.units_in": 0}, None),
    ],
)
def test_a_computed_figure_has_its_value(path: str, measured: dict[str, Any], value: float | None) -> None:
    assert set(computed.sources(path)) == set(measured)
    found = computed.value(path, measured, Queues())  # type: ignore[arg-type]
    assert found == (None if value is None else pytest.approx(value))


def test_every_computed_figure_of_an_entry_has_a_value_above() -> None:
    tried = {"delay_variation", "lossless_drop", "lossy_drop", "lost", "marks", "total", "loss_ratio"}
    names = {path.rsplit(".", 1)[1] for path in computed.COMPUTED if "*" in path}
    assert {name.rsplit("_p", 1)[0].removesuffix("_max_s") for name in names} == tried


def test_a_figure_of_all_entries_that_is_computed_is_refused() -> None:
    for path in (path for path in computed.COMPUTED if "*" in path):
        with pytest.raises(QuestionError, match="must name a single entry, as in"):
            computed.sources(path)
