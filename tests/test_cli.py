import errno
import inspect
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import pushout
from conftest import ROOT, FakeCore, command
from pushout.cli import options, questions
from pushout.question import ask
from pushout.show import result
from pushout.show.result import cell, decimals
from pushout.simulate import Job
from pushout.source import load
from pushout.study import model
from pushout.study.previous_report import sealed
from test_study import TOML, toy

PUSHOUT = [sys.executable, "-c", "from pushout.cli import main; main()"]


def test_help_costs_less_than_a_fifth_of_a_second() -> None:
    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*PUSHOUT, "--help"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Processor time: the machine that tests may have other work.
    assert min(once() for _ in range(5)) < 0.2


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys, contextlib\nfrom pushout.cli import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        "print([name for name in ('matplotlib', 'numpy', 'jinja2', 'rich', 'pushout._core') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.endswith("[]\n")


def test_json_is_one_document_and_nothing_else(
    core: FakeCore, scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command("run", scenario, "--reps", "2", "--seed", "3", "--json")
    out, err = capsys.readouterr()
    assert json.loads(out)["seeds"] == [3, 4]
    assert err == ""


def test_of_coded_flows_a_person_sees_what_was_recovered_and_what_was_not(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = str(ROOT / "scenarios" / "gpj.toml")
    command("run", scenario, "--set", 'port.trunk.buffer="3000 cells"')
    out, _ = capsys.readouterr()
    for words in ("recovered", "packet throughput (after decoding)", "packets lost", "blocks with a lost packet"):
        assert words in out
    assert "retr." not in out, "nothing is sent again"
    udp = 'flow=[{name="flow1", source={kind="cbr", rate="2 Mb/s"}, transport={kind="udp"}}]'
    command("run", scenario, "--set", udp, "--set", 'topology.access.rate="93 Mb/s"')
    out, _ = capsys.readouterr()
    assert "recovered" in out and "retr." in out


def test_a_person_sees_flows_ports_losses_and_the_summary(
    core: FakeCore, scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command("run", scenario, "--seed", "3")
    out, err = capsys.readouterr()
    for words in (
        "seed 3",
        "s1",
        "bottleneck",
        "overflow",
        "87",
        "42 000",
        "12.500",
        "goodput ÷ ideal",
        "0.9703",
    ):
        assert words in out
    assert err == ""
    assert "±" not in out
    command("run", scenario, "--reps", "3")
    assert "Means over 3 replications ± half of the 95 % interval." in capsys.readouterr().out


def test_the_command_run_checks_its_scenario_once(core: FakeCore, scenario: str) -> None:
    command("run", scenario)
    command("run", scenario, "--reps", "3")
    assert len(core.checked) == 2


def test_a_run_that_reports_only_what_is_shown_looks_the_same() -> None:
    sets = ("duration=100 ms", "warmup=0 s", "topology.sources=60", "flows.class='web'")
    job = Job(load(str(ROOT / "scenarios" / "w3-100.toml")), sets)

    def shown(**options: Any) -> list[str]:
        console = Console(file=StringIO(), width=120)
        result.result(job.run(1, **options), console)
        assert isinstance(console.file, StringIO)
        return console.file.getvalue().splitlines()[1:]  # the first line has the time that the run took

    assert shown(flows=result.MANY) == shown()
    brief = job.run(1, flows=result.MANY)
    assert (len(brief["flows"]), brief["omitted"]["flows"], brief["circuits"]) == (40, 20, [])
    assert len(brief["ports"]) + brief["omitted"]["ports"] == len(job.run(1)["ports"])


def test_a_queue_is_shown_with_its_measure(capsys: pytest.CaptureFixture[str]) -> None:
    for name, unit in [("w1-cell", "cells"), ("w1-packet", "bytes")]:
        command("run", str(ROOT / "scenarios" / f"{name}.toml"), "--set", "duration=50 ms")
        out, _ = capsys.readouterr()
        head = next(line for line in out.splitlines() if line.lstrip().startswith("port"))
        assert head.split()[-2:] == [unit, unit]


def test_results_are_written_where_they_are_wanted(core: FakeCore, scenario: str, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    command("run", scenario, "--reps", "2", "--out", str(out))
    assert sorted(file.name for file in out.iterdir()) == [
        "SHA256SUMS",
        "replication-7.json",
        "replication-8.json",
        "result.json",
    ]
    assert json.loads((out / "result.json").read_text(encoding="utf-8"))["seeds"] == [7, 8]


def test_replications_of_an_earlier_run_are_removed_and_nothing_else(
    core: FakeCore, scenario: str, tmp_path: Path
) -> None:
    for name in ("replication-mine.json", "replication-8.txt"):
        (tmp_path / name).write_text("kept", encoding="utf-8")
    command("run", scenario, "--reps", "3", "--out", str(tmp_path))
    command("run", scenario, "--seed", "8", "--out", str(tmp_path))
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {
        "SHA256SUMS",
        "lan.toml",
        "result.json",
        "replication-8.json",
        "replication-mine.json",
        "replication-8.txt",
    }


def test_where_files_are_sent_their_times_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    command("run", "incast", "--set", "duration=50 ms")
    printed = capsys.readouterr().out
    assert printed.index("transfer time, mean, ms") < printed.index("goodput ÷ ideal")
    run = pushout.run("incast", set={"duration": "50 ms"})
    assert re.match(r"<Result incast: seed 1, transfer_time_mean_s 0\.\d+, transfer_time_p99_s 0\.\d+, fair", repr(run))


def test_a_mean_is_shown_with_its_number_of_runs_if_some_have_no_figure() -> None:
    form = decimals(1)
    assert cell({"mean": 2.0, "ci95": [1.0, 3.0], "n": 3}, form, 3) == "2.0 ± 1.0"
    assert cell({"mean": 2.0, "ci95": [1.0, 3.0], "n": 2}, form, 3) == "2.0 ± 1.0 (2 of 3 runs)"
    assert cell({"mean": 2.0, "ci95": None, "n": 1}, form, 3) == "2.0 (1 of 3 runs)"
    assert cell(2, form) == "2.0"


@pytest.mark.parametrize(
    ("half", "digits", "told"),
    [
        (0.06, 1, "2.0 ± 0.1"),
        (0.04, 1, "2.0 ± <0.1"),
        (0.4, 0, "2 ± <1"),
        (0.0, 1, "2.0 ± 0.0"),
        (1e-15, 1, "2.0 ± 0.0"),
    ],
)
def test_an_interval_that_is_rounded_to_nothing_is_not_shown_as_none(half: float, digits: int, told: str) -> None:
    assert cell({"mean": 2.0, "ci95": [2 - half, 2 + half], "n": 3}, decimals(digits), 3) == told


def test_a_place_that_cannot_be_written_is_one_line(
    core: FakeCore, scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command("run", scenario, "--out", f"{scenario}/below", code=1)
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert core.runs == [], "it is found out before the run"


def test_a_result_that_cannot_be_written_is_shown_all_the_same(
    core: FakeCore, scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "result.json").mkdir()
    command("run", scenario, "--out", str(tmp_path), "--json", code=1)
    out, err = capsys.readouterr()
    assert json.loads(out)["scenario"] == "lan"
    assert err == f"{tmp_path}/result.json: Is a directory\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["run"],
        ["run", "x", "--reps", "0"],
        ["run", "x", "--seed", "-1"],
        ["run", "x", "--set", "mss"],
        ["run", "x", "--set", "=1"],
        ["explain", "--check"],
        ["list", "schemes", "edp"],
        ["reproduce", "7"],
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    command(*arguments, code=2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Error: " in err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--trace", "pcapng", "--out", "x", "--reps", "3"], "one replication: leave out --reps 3"),
        (["--trace-ports", "bottleneck"], "give both, or leave both out"),
        (["--out", ""], "'--out': the value must not be empty: name a folder, or . for the current one"),
        (["--reps", "2.5"], "the value must be an integer, not '2.5'"),
        (["--engine", "Fast"], "'Fast' is not one of 'fast', 'reference'"),
    ],
)
def test_wrong_usage_says_what_is_wrong(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    command("run", "x", *arguments, code=2)
    assert why in capsys.readouterr().err


def test_the_kind_of_a_trace_is_checked_first(capsys: pytest.CaptureFixture[str]) -> None:
    command("run", "nowhere.toml", "--trace", "pcap", "--reps", "3", code=3)
    assert capsys.readouterr().err == (
        '--trace: unknown kind of trace "pcap"; did you mean "pcapng"? (allowed: pcapng, parquet, qlog)\n'
    )


def test_a_trace_has_a_folder_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command("run", "lan", "--set", "duration=1 ms", "--set", "name=short", "--trace", "pcapng", "--json")
    assert (tmp_path / "results" / "short-trace" / "trace.pcapng").is_file()
    assert "trace: results/short-trace/trace.pcapng" in capsys.readouterr().err


def test_every_verb_that_runs_takes_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("run", "reproduce", "compare", "sweep", "size"):
        command(verb, "--help")
        assert "--jobs N" in capsys.readouterr().out
    arguments = ["run", "lan", "--set", "duration=1 ms", "--reps", "3", "--json"]
    printed = []
    for jobs in ("1", "3"):
        command(*arguments, "--jobs", jobs)
        document = json.loads(capsys.readouterr().out)
        printed.append({**document, "engine": None})
    assert printed[0] == printed[1]


def test_the_catalogue_can_be_asked_for_a_kind(capsys: pytest.CaptureFixture[str]) -> None:
    command("list", "schemes", "--kind", "scheduler", "--json")
    listed = json.loads(capsys.readouterr().out)
    assert {entry["kind"] for entry in listed} == {"scheduler"}
    assert "round-robin" in {entry["name"] for entry in listed}
    command("list", "schemes", "--kind", "shedule", code=2)
    assert 'unknown kind "shedule"; did you mean "schedul' in capsys.readouterr().err
    command("list", "schemes", "--kind", "scheduler", "epd", code=2)
    assert 'unknown name "epd"' in capsys.readouterr().err


def test_a_pipe_has_the_width_that_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, width in (("70", 70), ("", 200), ("wide", 200), ("0", 200)):
        monkeypatch.setenv("COLUMNS", columns)
        assert options.console().width == width
    monkeypatch.delenv("COLUMNS")
    assert options.console().width == 200


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--out", ""], "'--out': the value must not be empty"),
        (["--cache", ""], "'--cache': the value must not be empty"),
        (["--cluster", ""], "'--cluster': the value must not be empty: name ray://HOST:PORT, HOST:PORT, auto or local"),
        (["--jobs", "2", "--cluster", "local"], "leave out one"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_all_questions(
    options: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lan = str(ROOT / "scenarios" / "lan.toml")
    for arguments in (
        ["compare", lan, "--policies", "epd,ppd"],
        ["size", lan, "--goal", "goodput_ratio>=0.5", "--over", "port.bottleneck.buffer"],
        ["sweep", str(ROOT / "scenarios" / "sweep-small.toml")],
    ):
        command(*arguments, *options, code=2)
        assert why in capsys.readouterr().err


OTHER_NAME = "port"
"""An argument that is another name of `at`, as `--port` is of `--at`."""


@pytest.mark.parametrize(("verb", "read"), [("compare", ask.comparison), ("size", ask.sizing)])
def test_a_question_has_the_same_options_in_python_and_on_the_command_line(
    verb: str, read: Callable[..., object]
) -> None:
    in_python = inspect.signature(getattr(pushout, verb)).parameters
    assert {name: in_python.get(name) for name in inspect.signature(read).parameters} == inspect.signature(
        read
    ).parameters
    typed = {each.name: each.default for each in getattr(questions, verb).params}
    only_typed = {"sets", "policy", "allow_files", "memory", "html", "as_json"}
    assert typed.keys() - only_typed == in_python.keys() - {"set", "progress", OTHER_NAME}
    for name in ("reps", "least", "most", "resolution", "search"):
        assert name not in typed or typed[name] == in_python[name].default, name


def test_a_key_of_the_scenario_that_is_taken_for_an_option_leads_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    told = "It is a key of the scenario: --set 'duration=…' changes it."
    command("run", "lan", "--duration", "1s", code=2)
    assert told in capsys.readouterr().err
    for wrong in (["run", "lan", "--length", "1s"], ["list", "schemes", "--duration", "1s"]):
        command(*wrong, code=2)
        assert told not in capsys.readouterr().err


def test_quotes_that_were_forgotten_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    command("run", "x", "--set", "duration=0.2", "s", code=2)
    assert "contains a space, as in --set 'duration=1 s'" in capsys.readouterr().err
    command("run", str(ROOT / "scenarios" / "lan.toml"), "--set", "port.bottleneck.admission={policy=epd}", code=3)
    assert "texts inside have quotes" in capsys.readouterr().err
    command("run", "x", "y", code=2)
    assert "--set" not in capsys.readouterr().err


def test_a_bad_scenario_exits_with_3_and_one_message(
    core: FakeCore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("bufer = 1\n", encoding="utf-8")
    for verb in (["run"], ["explain"], ["explain", "--check"]):
        for path, message in [
            (wrong, "did you mean"),
            (tmp_path, "is a directory"),
            (tmp_path / "no", "no such file"),
        ]:
            command(*verb, str(path), code=3)
            out, err = capsys.readouterr()
            assert out == ""
            assert message in err
            assert len(err.splitlines()) == 1


def test_explain_says_why_a_scenario_runs_on_the_reference_engine(capsys: pytest.CaptureFixture[str]) -> None:
    for scenario, note in [
        (
            "multi-hop-fcvc",
            "note: the reference engine runs it, not fast: "
            "with credits a port depends on its neighbours at every unit\n",
        ),
        ("multi-hop", ""),
    ]:
        command("explain", str(ROOT / "scenarios" / f"{scenario}.toml"), "--json")
        assert capsys.readouterr().err == note


def test_explain_says_what_the_classes_of_a_shared_memory_may_hold(capsys: pytest.CaptureFixture[str]) -> None:
    memory = 'memory.chip={size="900 cells", admission={policy="dynamic-threshold", alpha=0.5}}'
    lan = str(ROOT / "scenarios" / "lan.toml")
    command("explain", lan, "--json", "--set", 'port.bottleneck={memory="chip"}', "--set", memory)
    notes = capsys.readouterr().err.splitlines()
    assert notes[-1] == (
        'note: memory "chip", pool "all", class "all": reserved 0 cells, then shared up to a threshold of 450 cells '
        "with the 900 shared cells empty, 225 half full, 0 full (a queue alone holds at most 300); headroom 0 cells"
    )


def test_a_memory_is_merged_over_replications(capsys: pytest.CaptureFixture[str]) -> None:
    lan = str(ROOT / "scenarios" / "lan.toml")
    sets = ["duration=50 ms", 'port.bottleneck={memory="chip"}', 'memory.chip={size="900 cells"}']
    command("run", lan, "--reps", "2", "--json", *(part for key in sets for part in ("--set", key)))
    memory = json.loads(capsys.readouterr().out)["memories"][0]
    assert (memory["cells"], memory["pools"][0]["shared"], memory["queues"][0]["name"]) == (900, 900, "bottleneck/all")
    assert memory["occupancy_mean"]["n"] == 2


def test_a_sweep_is_distinguished_from_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = str(ROOT / "scenarios" / "sweep-small.toml")
    for arguments in (
        ["run", sweep],
        ["run", sweep, "--trace", "pcapng", "--out", str(tmp_path)],
        ["explain", sweep],
        ["compare", sweep, "--policies", "epd,ppd"],
        ["size", sweep, "--goal", "goodput_ratio>=0.5", "--over", "port.bottleneck.buffer"],
    ):
        command(*arguments, code=3)
        assert (
            capsys.readouterr().err == f"{sweep}: the file must be a scenario, not a sweep: run it with pushout sweep\n"
        )


def test_a_result_is_distinguished_from_a_scenario_and_from_a_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lan = [str(ROOT / "scenarios" / "lan.toml"), "--set", "duration=5 ms"]
    command("run", *lan, "--out", str(tmp_path))
    command("compare", *lan, "--policies", "epd,ppd", "--reps", "2", "--out", str(tmp_path))
    capsys.readouterr()
    for file in ("result.json", "compare.json", "manifest.json"):
        result = str(tmp_path / file)
        for verb in (["run"], ["explain"], ["explain", "--check"]):
            command(*verb, result, code=3)
            message = f"{result}: the file must be a scenario, not a result: use the scenario that it names\n"
            assert capsys.readouterr().err == message
        command("sweep", result, code=3)
        assert capsys.readouterr().err.startswith(f"{result}: the file must be a sweep, not a result: ")


def test_validate_judges_every_scenario(core: FakeCore, scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    command("explain", "--check", scenario)
    assert capsys.readouterr().out == f"{scenario}: valid\n"
    command("explain", "--check", scenario, "nowhere.toml", "--json", code=3)
    first, second = json.loads(capsys.readouterr().out)
    assert first == {"scenario": scenario, "valid": True, "error": None, "warnings": []}
    refused = {"scenario": "nowhere.toml", "valid": False, "error": "nowhere.toml: no such file", "warnings": []}
    assert second == refused


def test_scenario_and_sweep_may_come_from_the_standard_input() -> None:
    lan = (ROOT / "scenarios" / "lan.toml").read_text(encoding="utf-8")
    sweep = f"scenario = '{ROOT / 'scenarios' / 'lan.toml'}'\nreps = 0\n"
    for verb, text, code, told in [
        ("explain --check", lan, 0, "-: valid\n"),
        ("sweep", sweep, 3, "<stdin>:2:8: reps must be at least 1, not 0\n"),
    ]:
        done = subprocess.run([*PUSHOUT, *verb.split(), "-"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert (done.stdout + done.stderr).startswith(told)


def test_reproduce_writes_a_report_and_its_json(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    toy(tmp_path)
    monkeypatch.setattr(model.available, "__defaults__", (tmp_path,))
    monkeypatch.setattr(model.load, "__defaults__", (tmp_path,))
    out = tmp_path / "reports"
    command("reproduce", "to", "--reps", "3", "--out", str(out), "--json")
    printed = json.loads(capsys.readouterr().out)
    assert sealed(printed) == json.loads((out / "reproduce.json").read_text(encoding="utf-8"))
    assert printed["score"]["numbers"] == 3
    assert "Does it work?" in (out / "index.html").read_text(encoding="utf-8")
    command("reproduce", "--reps", "3", "--out", str(out), "--strict", code=4)
    shown = capsys.readouterr().out
    assert "1 of 3 numbers within their tolerance" in shown
    assert "differs" in shown
    assert "UBR, MSS 9140: goodput" in shown
    assert "UBR, MSS 1460: goodput" not in shown
    assert "Report: " in shown
    command("reproduce", "--reps", "3", "--out", str(out), "--details")
    assert "UBR, MSS 1460: goodput" in capsys.readouterr().out
    toy(tmp_path, TOML.replace("1.2", "0.985").replace("5400", "5508"))
    command("reproduce", "--reps", "3", "--out", str(out), "--strict")


def test_a_report_about_one_study_keeps_the_others(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    toy(tmp_path)
    zoo = tmp_path / "zoo" / "study.toml"
    shutil.copytree(tmp_path / "toy", zoo.parent)
    zoo.write_text(TOML.replace('id = "toy"', 'id = "zoo"'), encoding="utf-8")
    monkeypatch.setattr(model.available, "__defaults__", (tmp_path,))
    monkeypatch.setattr(model.load, "__defaults__", (tmp_path,))
    out = tmp_path / "reports"

    def reported() -> list[str]:
        document = json.loads((out / "reproduce.json").read_text(encoding="utf-8"))
        studies = [study["id"] for study in document["studies"]]
        page = (out / "index.html").read_text(encoding="utf-8")
        assert all(f'id="{study}"' in page for study in studies)
        return studies

    command("reproduce", "zoo", "--reps", "3", "--out", str(out))
    assert reported() == ["zoo"]
    command("reproduce", "toy", "--reps", "2", "--out", str(out))
    assert reported() == ["toy", "zoo"]
    assert "which also contains the earlier results of zoo" in capsys.readouterr().out.replace("\n", " ")
    command("reproduce", "toy", "--reps", "2", "--out", str(out), "--json")
    assert [study["id"] for study in json.loads(capsys.readouterr().out)["studies"]] == ["toy"]
    zoo.write_text(zoo.read_text(encoding="utf-8").replace('"mss=1460"', '"mss=1461"'), encoding="utf-8")
    command("reproduce", "toy", "--reps", "2", "--out", str(out))
    assert reported() == ["toy"]
    assert capsys.readouterr().err.splitlines()[-1] == (
        "removed from the report, because their results are of another version: zoo"
    )


def test_a_folder_is_called_what_it_is_called(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(tmp_path / "of [bold]me:b:")
    sets = ["--set", "duration=5 ms", "--reps", "2"]
    command("compare", str(ROOT / "scenarios" / "lan.toml"), "--policies", "epd,ppd", *sets, "--out", place)
    assert f"Rows, figure and document: {place}\n" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "write_bytes", refused)
    monkeypatch.setattr(Path, "unlink", refused)
    command("run", str(ROOT / "scenarios" / "lan.toml"), "--out", str(tmp_path), code=1)
    assert capsys.readouterr().err == f"{tmp_path}: Read-only file system\n"


def test_what_is_misspelt_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, verb in [("Run", "run"), ("explan", "explain"), ("LIST", "list")]:
        command(wrong, code=2)
        assert f'unknown command "{wrong}"; did you mean "{verb}"?' in capsys.readouterr().err
    command("list", "schemes", "edp", code=2)
    assert 'did you mean "epd"?' in capsys.readouterr().err
    command("compare", str(ROOT / "scenarios" / "lan.toml"), "--policies", "edp", code=3)
    assert 'did you mean "epd"?' in capsys.readouterr().err


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    ("replaced", "options"), [("simulate.Job.run", []), ("_core.Trace", ["--trace", "pcapng", "--out", "traced"])]
)
def test_an_interrupt_is_one_line_and_the_code_of_its_signal(
    replaced: str, options: list[str], sent: signal.Signals, code: int, tmp_path: Path
) -> None:
    script = (
        "import threading\nfrom pushout import _core, cli, simulate\n"
        "def forever(*_, **__):  # the simulator does not look for signals, so the main thread must not be in it\n"
        "    print(threading.current_thread() is threading.main_thread(), flush=True)\n    threading.Event().wait()\n"
        f"{replaced} = forever\ncli.main()"
    )
    shutil.copy(ROOT / "scenarios" / "lan.toml", tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", script, "run", str(tmp_path / "lan.toml"), *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "False\n"
    process.send_signal(sent)
    _, err = process.communicate(timeout=10)
    assert process.returncode == code
    assert err == "interrupted: nothing was saved\n"


def test_an_interrupt_while_the_command_is_loaded_is_no_traceback() -> None:
    script = (
        "import sys\nclass Interrupted:\n    def find_spec(self, name, *_):\n        if name == 'click':\n"
        "            raise KeyboardInterrupt\nsys.meta_path.insert(0, Interrupted())\n"
        "from pushout.__main__ import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted: nothing was saved\n")


def test_a_reader_who_has_seen_enough_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            [*PUSHOUT, "list", "--schema"], stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_an_encoding_without_some_signs_gets_others(encoding: str) -> None:
    scenario = str(ROOT / "scenarios" / "lan.toml")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}

    def printed(*arguments: str) -> str:
        done = subprocess.run([*PUSHOUT, *arguments], env=environment, capture_output=True, check=True)
        assert all(line.startswith(b"warning: ") for line in done.stderr.splitlines())
        return done.stdout.decode("utf-8" if encoding == "ascii" else encoding)

    assert ("±" if encoding != "ascii" else "+/-") in printed("run", scenario, "--set", "duration=20 ms", "--reps", "2")
    assert f"{'α' if encoding == 'utf-8' else 'alpha'} times" in printed("list", "schemes", "dynamic-threshold")
    title = "größer → 5"
    assert json.loads(printed("explain", scenario, "--json", "--set", f"title={title}"))["title"] == title


def test_a_full_output_is_named() -> None:
    lan = str(ROOT / "scenarios" / "lan.toml")
    for arguments in (["explain", lan], ["run", lan, "--set", "duration=1 ms"], ["explain", "--check", lan]):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run([*PUSHOUT, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, "the standard output: No space left on device\n")


COMPARE = ("compare", "lan", "--policies", "epd,ppd")


@pytest.mark.parametrize(
    "words",
    [
        (*COMPARE, "--at", ","),
        (*COMPARE, "--at", "bottleneck,"),
        (*COMPARE, "--figures", "loss,,goodput"),
        ("compare", "lan", "--policies", "epd,,ppd"),
        ("why", "lan", "--policies", "red,"),
        ("why", "lan", "--at", ",bottleneck"),
        ("plot", "lan", "--out", "x.svg", "--at", ","),
        ("plot", "lan", "--out", "x.svg", "--what", "queue,,drops"),
        ("plot", "lan", "--out", "x.svg", "--labels", "a,"),
        ("run", "lan", "--trace", "pcapng", "--trace-ports", "bottleneck,,access1"),
        ("run", "lan", "--policy", ",=policy.py"),
        ("sweep", "sweep.toml", "--columns", "loss,"),
    ],
)
def test_an_empty_name_in_a_list_is_a_mistake_of_its_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.toml").write_text('scenario = "lan.toml"\n', encoding="utf-8")
    (tmp_path / "lan.toml").write_text(load("lan").text, encoding="utf-8")
    (tmp_path / "policy.py").write_text(
        "from pushout import policy\n\n@policy.admission\ndef mine(x):\n    return True\n", encoding="utf-8"
    )
    command(*words, code=3)
    option = next(word for word in reversed(words) if word.startswith("--"))
    assert f"{option} must have a name on each side of a comma" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("why", "lan", "--at", "x"), '--at: unknown place "x"'),
        (("compare", "lan", "--policies", "x,epd"), '--policies: unknown policy of a port "x"'),
        (("plot", "lan", "--what", "zzz", "--out", "x.svg"), "--what: unknown panel"),
        (("why", "lan", "--flow", "x"), '--flow: unknown flow "x"'),
        (("worst", "longest-queue", "--ports", "2", "--memory", "4", "--objective", "x"), "--objective: unknown"),
    ],
)
def test_a_message_about_a_wrong_name_begins_with_its_option(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    command(*words, code=3)
    assert capsys.readouterr().err.startswith(message)
