"""Congestion controls in Python: they give what those of the simulator give, and what they cannot do is refused."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import ROOT, command
from pushout import policy
from pushout.cli import main
from pushout.errors import PolicyError, QuestionError, ScenarioError
from pushout.policy import conformance, published
from pushout.policy.attributes import CONTROLS, OF_CONNECTIONS
from pushout.source import toml

SHORT = {"duration": "2 s", "warmup": "0 s"}
MARKING = {
    **SHORT,
    "flows.transport.ecn": True,
    "port.bottleneck.admission": {"policy": "step", "threshold": "40 kB"},
}


@policy.congestion(params={"add": 1.0, "keep": policy.number(0.5, low=0, high=1)})
def aimd(x: Any, s: Any) -> None:
    """Open the window by `add` segments in a round trip."""
    s.window += x.mss if s.window <= s.threshold else int(x.add * x.mss * x.acked / s.window * x.keep)


def written(folder: Path, body: str, loss: str = "pass", state: str = "'n': 0, 'f': 0.0") -> str:
    """Write a control with these lines."""
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    text = f"from pushout import policy\n\ndef lost(x, s):\n    {loss}\n\n"
    text += f"@policy.congestion(on_loss=lost, state={{{state}}})\ndef mine(x, s):\n{indented}\n"
    file = folder / "mine.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("sack", [False, True])
@pytest.mark.parametrize("scenario", ["w1-packet", "w1-cell"])
def test_reno_in_python_gives_the_bytes_of_new_reno(scenario: str, sack: bool, engine: Any) -> None:
    keys = {**SHORT, "flows.transport.sack": sack}
    native = pushout.run(scenario, set={**keys, "flows.transport.congestion": "new-reno"}, engine=engine).document
    mine = pushout.run(scenario, set=keys, policies={"flows": published.reno}, engine=engine).document
    for part in ("summary", "flows", "ports"):
        assert mine[part] == native[part]
    assert native["summary"]["retransmission_ratio"] > 0


def test_dctcp_in_python_gives_the_bytes_of_dctcp() -> None:
    native = pushout.run("w1-packet", set={**MARKING, "flows.transport.congestion": "dctcp"}).document
    mine = pushout.run("w1-packet", set=MARKING, policies={"flows": published.dctcp}).document
    for part in ("summary", "flows", "ports"):
        assert mine[part] == native[part]
    assert sum(flow["mark_reactions"] for flow in native["flows"]) > 100


def test_a_control_in_python_takes_at_most_four_times_that_of_the_simulator() -> None:
    def seconds(**options: Any) -> float:
        begin = time.process_time()
        pushout.run("w1-packet", **options)
        return time.process_time() - begin

    keys = {"duration": "30 s"}
    native = min(seconds(set={**keys, "flows.transport.congestion": "reno"}) for _ in range(3))
    mine = min(seconds(set=keys, policies={"flows": published.reno}) for _ in range(3))
    assert mine <= 4 * native, f"{mine / native:.2f} times"


def test_it_stands_in_runs_comparisons_sizes_and_sweeps(tmp_path: Path) -> None:
    compared = pushout.compare("w1-packet", ["reno", aimd, aimd(add=4.0)], set=SHORT, reps=2).document
    labels = [each["label"] for each in compared["policies"]]
    assert labels == ["reno", "aimd, add 1.0, keep 0.5", "aimd, add 4.0, keep 0.5"]
    sized = pushout.size(
        "w1-packet", "goodput_ratio >= 0.5", over="port.bottleneck.buffer", policies=["reno", aimd], set=SHORT,
        least=2, most=2, resolution=1,
    ).document  # fmt: skip
    assert [each["label"] for each in sized["answers"]] == ["reno", "aimd, add 1.0, keep 0.5"]
    plan = {
        "scenario": "w1-packet",
        "set": SHORT,
        "grid": {"flows.transport.congestion": ["cubic", aimd]},
        "reps": 1,
        "figures": ["goodput_ratio"],
    }
    assert len(pushout.sweep(plan).columns["goodput_ratio"]) == 2
    varied = {**plan, "grid": {"flows.transport.congestion.params.add": [1.0, 8.0]}}
    found = pushout.sweep(varied, policies={"flows": aimd}).columns["goodput_ratio"]
    assert len(set(found)) == 2


def test_a_scenario_file_has_it_as_a_table(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = (ROOT / "scenarios/w1-packet.toml").read_text(encoding="utf-8")
    table = f'transport = {{ congestion = {toml(published.reno)}, kind = "tcp",'
    file.write_text(text.replace('transport = { kind = "tcp",', table), encoding="utf-8")
    mine = pushout.run(str(file), set=SHORT).document
    expected = pushout.run("w1-packet", set=SHORT, policies={"flows": published.reno}).document
    assert mine["summary"] == expected["summary"]
    assert pushout.explain(str(file))["flow"][0]["transport"]["congestion"]["name"] == "reno"
    command("explain", str(file))


@pytest.mark.parametrize("name", ["reno", "dctcp", "scalable", "westwood", "vegas"])
def test_published_controls_conform(name: str) -> None:
    program = getattr(published, name)
    if name == "dctcp":
        assert program["echo_each"] is True
    else:
        assert list(conformance.faults(program)) == []


def test_papers_controls_do_what_the_papers_say() -> None:
    def run(program: Any) -> Any:
        return pushout.run("w1-packet", set={"duration": "20 s"}, policies={"flows": program})

    reno, vegas, scalable = run(published.reno), run(published.vegas), run(published.scalable)
    waits = "ports.bottleneck.occupancy_mean"
    assert vegas[waits] < 0.6 * reno[waits], "Vegas keeps a few segments of each flow in the queue"
    assert vegas["summary.retransmission_ratio"] <= reno["summary.retransmission_ratio"]
    assert scalable[waits] > reno[waits], "a reduction by an eighth leaves the queue longer"
    assert run(published.westwood)["summary.goodput_ratio"] > 0.95


def test_a_paced_control_paces() -> None:
    @policy.congestion
    def paced(x: Any, s: Any) -> None:
        s.window += x.mss if s.window <= s.threshold else x.mss * x.mss // s.window
        s.pacing = 2_000_000

    keys = {**SHORT, "duration": "5 s", "flows.transport.window": "1 MB"}
    result = pushout.run("w1-packet", set=keys, policies={"flows": paced})
    rates = [flow["goodput_bps"] for flow in result.document["flows"]]
    assert max(rates) <= 2_000_000 and max(rates) > 1_000_000


REFUSED = {
    "s.window = x.total": "8:16: unknown attribute total",
    "s.window = x.cwnd + 1": "8:16: cwnd is state of the control: write s.window",
    "s.window = 1.5 * s.window": "8:5: this must be int, not float",
    "s.cwnd = 1": "8:5: unknown state cwnd",
    "s.window = x.by_mark": "8:16: by_mark is the cause of a loss: write it in the function on_loss",
    "s.f = x.draw()": "8:11: a congestion control has no random numbers",
    "return 3": "8:5: this function decides nothing: return must have no value",
    "for i in range(3):\n    s.n += 1": "8:5: a loop cannot be translated",
    "s.n = x.longest()": "this cannot be called",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_it_cannot_say_is_refused_with_its_place(body: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError) as caught:
        policy.read(written(tmp_path, body))
    assert f"mine.py:{REFUSED[body]}" in str(caught.value) or REFUSED[body] in str(caught.value)
    assert "\n" not in str(caught.value)


LOSSES = {
    "s.threshold = 1": "on_loss assigns s.window",
    "s.n = x.acked": "acked belongs to an acknowledgement: store it in on_ack, as in s.acked = x.acked",
}


@pytest.mark.parametrize("loss", LOSSES)
def test_what_on_loss_cannot_say_is_refused(loss: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=re.escape(LOSSES[loss])):
        policy.read(written(tmp_path, "pass", loss=loss))


def test_what_cannot_be_computed_ends_the_run_with_flow_time_and_line(tmp_path: Path) -> None:
    mine = policy.read(written(tmp_path, "s.n = 1 // x.lost"))
    for engine in ("fast", "reference"):
        with pytest.raises(ScenarioError, match=r"^flow \S+ at \S+ s: mine\.py:8: a divisor must not be 0"):
            pushout.run("w1-packet", set=SHORT, policies={"flows": mine}, engine=engine)


def test_it_belongs_to_flows(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match=r"bottleneck must be flows, or flow\.NAME for the flows of a section"):
        pushout.run("w1-packet", set=SHORT, policies={"bottleneck": aimd})
    with pytest.raises(PolicyError, match="state window must not be declared"):
        policy.read(written(tmp_path, "pass", state="'window': 1"))
    with pytest.raises(ScenarioError, match='must be "auto" or true'):
        pushout.run(
            "w1-packet",
            set={**SHORT, "flows.transport.pacing": False},
            policies={"flows": policy.read(written(tmp_path, "s.pacing = 5"))},
        )


def test_its_state_is_shown_over_time() -> None:
    flow = pushout.explain("w1-packet")["flow"][0]["name"]
    keys = {**SHORT, "measure.state": [flow]}
    report = pushout.run("w1-packet", set=keys, policies={"flows": published.vegas}).replications[0]
    figures = next(each for each in report["flows"] if each["name"] == flow)["state"]["figures"]
    assert [each["name"] for each in figures] == ["waits"]


def test_the_attributes_are_those_of_the_simulator() -> None:
    (entry,) = (each for each in pushout.policies() if (each["kind"], each["name"]) == ("congestion", "program"))
    names = set(re.findall(r"`x\.(\w+)`", entry["header"]))
    assert names == set(OF_CONNECTIONS)
    assert set(re.findall(r"`state\.(\w+)`", entry["header"])) == set(CONTROLS)


def test_the_command_line_takes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "s.window += x.mss")
    sets = [f"--set={key}={value}" for key, value in SHORT.items()]
    command("run", "w1-packet", "--policy", f"flows={file}", *sets)
    command("compare", "w1-packet", "--policies", f"cubic,{file}", "--reps", "2", *sets)
    assert "mine" in capsys.readouterr().out
    command("explain", "--check", file)
    assert "both engines agree" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["run", "w1-packet", "--policy", f"bottleneck={file}"])
    assert "must be flows" in capsys.readouterr().err
