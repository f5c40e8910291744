"""The functions of the Python interface. Each loads its slow modules itself.

Annotations stay texts, so that `help` shows the names of types and not what they stand for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pushout import _core
from pushout.answer import frame
from pushout.errors import Argument
from pushout.excerpt import quoted
from pushout.options import (
    PANELS,
    Compare,
    Explain,
    Folder,
    Headroom,
    Kept,
    Never,
    Plot,
    Predict,
    Ratio,
    Run,
    Size,
    Sweep,
    Trace,
    Why,
    Worst,
    takes,
)
from pushout.progress import shown
from pushout.reading import explain, policies, schema, validate
from pushout.replicate import replicated
from pushout.result import Result
from pushout.simulate import Job, Progress, check_reps, check_seed, listed
from pushout.source import Overrides, Source, load, overrides, utf_8

if TYPE_CHECKING:
    from pushout.counterfactual import WhyResult
    from pushout.literals import Panel
    from pushout.names.place import Places
    from pushout.options import PoliciesByPlace
    from pushout.picture import request as pictures
    from pushout.question.compare import CompareResult
    from pushout.question.session import Session
    from pushout.question.sized import SizeResult
    from pushout.question.sweep import SweepResult
    from pushout.switch.explain import ExplainResult
    from pushout.switch.headroom import HeadroomResult
    from pushout.switch.predict import ChipResult
    from pushout.tracing import TraceResult
    from pushout.worst_case.delay import DelayResult
    from pushout.worst_case.never import NeverResult
    from pushout.worst_case.ratio import WorstResult

__all__ = [
    "ChipResult",
    "CompareResult",
    "DelayResult",
    "ExplainResult",
    "HeadroomResult",
    "NeverResult",
    "Result",
    "SizeResult",
    "SweepResult",
    "TraceResult",
    "WhyResult",
    "WorstResult",
    "__version__",
    "chip_explain",
    "chip_predict",
    "compare",
    "explain",
    "headroom",
    "load",
    "longest_delay",
    "merge",
    "never",
    "plot",
    "policies",
    "run",
    "schema",
    "size",
    "sweep",
    "trace",
    "validate",
    "why",
    "worst",
]

__version__ = _core.VERSION

LATER = {
    "ChipResult": "switch.predict",
    "CompareResult": "question.compare",
    "DelayResult": "worst_case.delay",
    "ExplainResult": "switch.explain",
    "HeadroomResult": "switch.headroom",
    "NeverResult": "worst_case.never",
    "SizeResult": "question.sized",
    "SweepResult": "question.sweep",
    "TraceResult": "tracing",
    "WhyResult": "counterfactual",
    "WorstResult": "worst_case.ratio",
}
"""The modules of results, which are loaded when first needed."""

frame.later("pushout.display", "pushout.page")


def __getattr__(name: str) -> object:
    if name in LATER:
        return getattr(import_module(f"pushout.{LATER[name]}"), name)
    raise AttributeError(f"module 'pushout.api' has no attribute {name!r}")


@takes(Run)
def run(asked: Run) -> Result:
    """Simulate a scenario `reps` times with the seeds `seed`, `seed` + 1, … and measure.

    Parameters: `scenario` is a path, the name of a shipped scenario (`pushout list scenarios` has them), a text
    (TOML or JSON) or a mapping of its keys; `policies` gives ports, classes of ports or memories policies: a name
    (`{"bottleneck": "codel"}`), one in Python (`{"bottleneck": my_policy}`, see `pushout.policy`) or one of each kind;
    `set` overrides keys (`{"flows.transport.mss": 9140}`); `seed` defaults to the scenario's; `engine` is `fast` or
    `reference`, by default the scenario's; `audit` checks that every unit and every byte is accounted for; `jobs` is
    the number of threads (default: every core); `progress` is called with (done, total) at intervals: replications,
    where a running one counts by the fraction done, or the simulated seconds of a single run; without it a notebook
    shows a bar.

    The result keeps the complete document of every replication: 1.4 MB for a network of 220 flows and their 882 ports.
    For hundreds of replications use `sweep`, which keeps only the chosen figures.

        >>> pushout.run("lan", set={"duration": "1 s"})["summary.goodput_ratio"]
    """
    check_reps(asked.reps)
    check_seed(asked.seed)
    source, changes = load(asked.scenario), overrides(asked.set)
    job = Job(source, (*_everywhere(asked.policies, source, changes), *changes), asked.engine, asked.audit)
    with shown(asked.progress, "replications" if asked.reps > 1 else "") as told:
        return Result(*replicated(job, asked.seed, asked.reps, jobs=asked.jobs, progress=told), job)


@takes(Trace)
def trace(asked: Trace) -> TraceResult:
    """Run once and record every packet at these ports; where links carry cells the reference engine runs.

    Parameters: `ports` are names of ports, `*` for all, by default those with a limited buffer; for the others see
    `run`. The figures are the same as without a trace.

        >>> pushout.trace("lan", set={"duration": "0.5 s"}).to_polars()
    """
    from pushout.tracing import traced

    check_seed(asked.seed)
    source, changes = load(asked.scenario), overrides(asked.set)
    names = [asked.ports] if isinstance(asked.ports, str) else list(asked.ports)
    job = Job(source, (*_everywhere(asked.policies, source, changes), *changes), audit=asked.audit)
    return traced(job, names, asked.seed, asked.progress)


def _everywhere(policies: PoliciesByPlace | None, source: Source, sets: Sequence[str]) -> list[str]:
    """Write policies in Python as overrides of a scenario."""
    if not policies:
        return []
    from pushout.names.place import everywhere, named_policies
    from pushout.policy.program import overrides as programs

    if not isinstance(policies, Mapping):
        return programs(policies)  # which says what is allowed
    names = {place: each for place, each in policies.items() if isinstance(each, str)}
    others = programs({place: each for place, each in policies.items() if not isinstance(each, str)})
    made = everywhere(others, source, sets)
    return [*named_policies(names, source, sets), *(change for changes in made for change in changes)]


@takes(Plot)
def plot(asked: Plot) -> Any:
    """Draw one run or several on one figure: a matplotlib figure, whose `savefig` writes it.

    Parameters: `runs` are scenarios, which are run and measure what the figure needs, results of `run`, or folders that
    `pushout run --out` has written; `what` lists panels (queue, drops, sojourn, throughput, cwnd, state, occupancy,
    memory, fct, slowdown, goodput, topology) or figures that have one (`ports.bottleneck.lost`); `labels` are names for
    the legend; `at` lists places whose queues, losses and occupancies are drawn, as in `compare` (default: the busiest
    ports with a limited buffer; of a class of ports the busiest), and `ports` is another name of it; `flows` says which
    flows (default: the first); `title` replaces that of the scenario; `theme` is `paper` (7 inches wide) or `slides`
    (10); `width` is in inches (3.5 for one column). The others are those of `run`, for scenarios.

        >>> pushout.plot("lan", what="queue,drops", set={"duration": "2 s"}, width=3.5).savefig("queue.png")
    """
    from pushout.picture import request as pictures

    where = [*listed("at", asked.at), *listed("ports", asked.ports)] or pictures.entries(asked.what, "ports")
    of = listed("flows", asked.flows) or pictures.entries(asked.what, "flows")
    look = pictures.themed(asked.theme, asked.width)
    wanted = pictures.Request(pictures.panels(asked.what), where, of, look, asked.title)
    labels = listed("labels", asked.labels)
    for name, texts in (("title", [asked.title or ""]), ("labels", labels)):
        for text in texts:
            utf_8(text, Argument(name))
    runs = asked.runs
    given = list(runs) if isinstance(runs, Sequence) and not isinstance(runs, str) else [runs]
    if wanted.what == list(PANELS):
        wanted = wanted._replace(what=_fillable(given, wanted, asked.set))
    drawn = [_to_draw(each, wanted, asked) for each in given]
    return pictures.draw(pictures.labelled(drawn, given, labels), wanted)


def _fillable(given: Sequence[Any], wanted: pictures.Request, sets: Overrides) -> Sequence[Panel]:
    """Leave out of the default panels those that a scenario cannot fill."""
    from pushout.picture import request as pictures

    for each in given:
        if not isinstance(each, Result) and not pictures.is_finished(each):
            wanted = wanted._replace(what=wanted.fillable(_places(load(each), overrides(sets))))
    return wanted.what


def _places(source: Source, sets: Sequence[str]) -> Places:
    """Return the places of a scenario with overrides."""
    from pushout.names.place import Places

    return Places(explain(source, set=sets), source, tuple(sets))


def _to_draw(given: Any, wanted: pictures.Request, asked: Plot) -> pictures.Run:
    """A run to be drawn: a result, what a folder holds of one, or a scenario that is run now."""
    from pushout.picture import request as pictures

    if isinstance(given, Result):
        return wanted.run(given.replications)
    if pictures.is_finished(given):
        return wanted.run(pictures.documents(given))
    source = load(given)
    changes = overrides(asked.set)
    planned = wanted.recording(_places(source, changes))
    options = {name: getattr(asked, name) for name in ("seed", "reps", "engine", "jobs", "progress")}
    result = run(source, set=[*changes, *planned.sets], **options)
    return wanted.run(result.replications, planned)


@contextmanager
def _session(asked: Kept) -> Iterator[Session]:
    """Open a session, which shows its progress in a notebook."""
    from pushout.question.session import Session

    with shown(asked.progress) as told, Session.open(asked, told) as session:
        yield session


@takes(Compare)
def compare(asked: Compare) -> CompareResult:
    """Run the same traffic under several policies (common random numbers) and compare their figures.

    Parameters: `policies` are names, tables of parameters (mappings, objects of `pushout.schemes`, or TOML), or
    `as-is`; the first is the baseline of the comparison; `at` is the place that gets them: a port, a class of ports
    (`fabric`, `default`), a memory (`memory.chip`), a class of its queues (`memory.chip.queue.rdma`) or `all`; by
    default it is the one with limited room. Losses and occupancy are those of the place, added up over its ports; with
    several places (`["a", "b"]` or `"a,b"`) they are those of the first. `port` is another name of `at`; `reps` is the
    number of seeds; `figures` are paths of further figures to compare (`["classes.udp.goodput_bps"]`). For the other
    parameters see `run` and `sweep`.

        >>> pushout.compare("scenarios/lan.toml", ["tail-drop", "epd"], set={"duration": "2 s"}).plot()
    """
    from pushout.question.ask import compared

    question = compared(asked)
    with _session(asked) as session:
        return question(session)


@takes(Size)
def size(asked: Size) -> SizeResult:
    """Find the smallest value of a key that meets a goal, or the largest, or the best one.

    Parameters: `goal` is `goodput_ratio>=0.98`, `FIGURE<=NUMBER`, `max FIGURE` or `min FIGURE`, or a list of levels
    that must all hold; `over` is the key; `low` and `high` are the ends of the range, written as in the scenario
    (default: 1/32 and 4 times its value); `policies` searches for each of several; `least` and `most` bound the
    replications of a value; the search stops at the relative difference `resolution`; `search` is auto, bisect or
    optuna; with `largest` the answer is the largest value that meets the goals. For the other parameters see `compare`.

        >>> pushout.size("scenarios/lan.toml", "goodput_ratio>=0.9", "port.bottleneck.buffer").document["answers"]
    """
    from pushout.question.ask import sized

    question = sized(asked)
    with _session(asked) as session:
        return question(session)


@takes(Sweep)
def sweep(asked: Sweep) -> SweepResult:
    """Run every point of a design: grids, lists and random points over any key of a scenario, with replications.

    Parameters: `design` is a sweep file, or its keys as a mapping, in which overrides may be mappings as well
    (`{"port.bottleneck.admission": Epd()}`); `policies` gives ports an admission policy at every point, as in `run`;
    `columns` are figures besides those that the design names (`["loss", "ports.bottleneck.lost"]`); `out` is a folder,
    or `s3://bucket/folder`, for rows (Parquet) and manifest, by default none; `cache` is a folder for finished runs, by
    default in `out`; `jobs` is the number of threads (default: every core); `cluster` is the address of a Ray cluster;
    `shard=(1, 4)` runs the first of four parts, which `merge` puts together; `allow_files` are folders whose files a
    sweep file may name; `progress` is called with (done, total) at intervals. Runs that `cache` holds are not repeated.

        >>> result = pushout.sweep({"scenario": "lan.toml", "grid": {"port.bottleneck.buffer": ["1000 cells"]}})
        >>> result.to_polars()
    """
    from pushout.question import design, given, shard, sweep

    if not isinstance(asked.design, str | os.PathLike | Mapping):
        what = "the path of a sweep file or a mapping of its keys"
        raise TypeError(f"the design must be {what}, not {quoted(asked.design)}")
    if isinstance(asked.design, Mapping):
        plan = design.made(asked.design)
    else:
        plan = design.read(asked.design, asked.allow_files)
    if asked.policies:
        policies = _everywhere(asked.policies, sweep.source_of(plan), plan.common.sets)
        plan = given.with_policies(plan, policies)
    plan = given.with_columns(plan, asked.columns)
    part = None if asked.shard is None else shard.Shard.of(asked.shard)
    if part:
        shard.check_places(asked.out, asked.cache, part)
    sweep.look_over(plan)
    with _session(asked) as session:
        return sweep.sweep(plan, session, shard=part)


def merge(folders: Sequence[Folder], out: Folder, *, progress: Progress | None = None) -> SweepResult:
    """Put the parts of a sweep together that `sweep(…, shard=(1, 4), out=…)` and its like have written.

    Parameters: `folders` are those of all parts, in any order; `out` is the folder, or `s3://bucket/folder`, for rows
    and manifest of the whole sweep, which equal those of one process but for times; `progress` is called with
    (done, total).

        >>> pushout.merge(["part-1", "part-2"], "whole").means("goodput_ratio")
    """
    from pushout.question import merge

    with shown(progress) as told:
        return merge.merge(folders, out, told)


@takes(Headroom)
def headroom(asked: Headroom) -> HeadroomResult:
    """Compare the headroom that each line of a switch needs with what it is given.

    Parameters: `table` is a CSV file, tables of SONiC (`pg_profile_lookup.ini`, `config_db.json`), or its rows as
    mappings of columns; `mtu`, `smallest`, `other` and `cell` are values of these columns, in bytes, for rows without
    them. Without `given` a row has only the need, and no verdict.

        >>> row = {"rate": "100 Gb/s", "cable": "300 m", "mtu": 4096, "cell": 192, "given": "84 kB"}
        >>> pushout.headroom([row]).document["rows"][0]["verdict"]
    """
    from pushout.switch.headroom import headroom

    return headroom(asked)


@takes(Explain)
def chip_explain(asked: Explain) -> ExplainResult:
    """Find the configurations of a switch that explain what acceptance tests have counted.

    The simulator counts with each configuration, and the differences are its residuals.

    Parameters: `counts` is a CSV file with the columns `name` and `value`, optionally `packet` and `lines`, or its rows
    as mappings, or a mapping of names, as `chip_predict` calls them, to numbers of packets; `packet` the bytes of
    packets in rows without them; `cell` the bytes of a cell and `pool` the cells that a pool shares, if they are known;
    `tolerance` the packets by which counts may differ (default: the least that is enough).

        >>> found = pushout.chip_explain({"xoff": 120117, "xoff.2": 60096, "xoff.3": 30085})
        >>> found.document["classes"][0]["configurations"][0]["alpha"]
        1.0
    """
    from pushout.switch.explain import explain

    return explain(asked)


@takes(Predict)
def chip_predict(asked: Predict) -> ChipResult:
    """Predict what acceptance tests of a switch must count: packets until a drop, a pause, a loss and a mark.

    A bench in the simulator sends packets to ports that stand still, through senders that ignore pauses, and counts.

    Parameters: `profile` is a scenario with a memory, or a file with tables of SONiC (`buffers.json`), to which `qos`
    adds marks and `cell` the bytes of a cell; `packet` the bytes of the packets; `lines` the number of lines that fill
    their queues one after another (default: those of the profile); `set` is that of `run`.

        >>> pushout.chip_predict("tomahawk")["lossy.drop"]
        9884
    """
    from pushout.switch.predict import predict

    return predict(asked)


@takes(Why)
def why(asked: Why) -> WhyResult:
    """Find out which earlier decisions of a port would have saved a frame, and at what price.

    A decision is the arrival of a frame at the port, or at a port that shares its memory. The run is repeated once for
    each of the `last` decisions before the frame came, and for all while it waited; in it that frame alone is refused,
    before any policy sees it. A decision saves the frame if the frame then passes the port.

    Parameters: the frame is the `loss`-th that was lost at the place `at` after the warm-up (default: the first,
    anywhere), with `flow` of this flow, or number `frame`, from 1, on its circuit; `ill` is what happened to it:
    `lost`, `marked`, `trimmed`, or `late:5ms`, longer than this time in the port; `report` asks for this many
    decisions of the whole run instead, those whose refusal saves most frames; `policies` are run as well, at the place,
    as in `compare`; with `reaction="off"` senders do not react: the recorded arrivals are repeated, and the busy period
    bounds the search; `set` and `seed` are those of `run`; `progress` is called with (done, total) counterfactuals.

    Raises `ScenarioError` if no such frame exists; the message says how many there are. Draws belong to packets, so a
    refused packet changes the luck of no other. After the idea of PrintQueue (Y. Lei and others, SIGCOMM 2022), which
    measures culprits where this repeats the run.

        >>> pushout.why("two-routers", loss=3).document["best"]
    """
    from dataclasses import replace

    from pushout.counterfactual import why

    with shown(asked.progress, "counterfactuals") as told:
        return why(replace(asked, progress=told))


@takes(Ratio)
def worst(asked: Ratio) -> WorstResult:
    """Find the exact worst case of a policy of a shared memory, proved in both directions.

    Packets of one cell arrive in slots; `ports` ports share `memory` packets, and each sends one a slot. The answer is
    the largest ratio of what an optimum that knows the whole input sends to what the policy sends.

    Parameters: `policy` is the name of a policy of memories, its table, a table with `admission` and `pushout`, or a
    policy in Python (`"FILE.py"`, which is run, or what `pushout.policy.admission` has made of a function);
    `set` are parameters of the policy; `against` is `"optimum"` or another policy; `states` limits the search (ten
    million take a gigabyte), beyond which it raises `StatesError`; `reach` is a ratio, as in `"5/4"`, and makes `input`
    the shortest one with at least this ratio instead of three laps of the worst cycle. With `frames` cells a frame,
    the policy is that of one FIFO port with `memory` cells, which `circuits` circuits share; whole frames count. With
    `search` more states than the limit are no error: the answer is then a lower bound, and its `proved` is false.
    `objective` is `"throughput"` or `"losses"`, which the document repeats.

        >>> pushout.worst("longest-queue", ports=2, memory=8).ratio
        Fraction(14, 11)
    """
    from pushout.worst_case.ratio import worst

    return worst(asked)


@takes(Worst)
def longest_delay(asked: Worst) -> DelayResult:
    """Find the longest delay of a packet in slots, from its arrival to the end of its transmission, on any input.

    Parameters: those of `worst`. The input of the result attains the delay.

        >>> pushout.longest_delay("dynamic-threshold", memory=8, set={"alpha": 1}).slots
        4
    """
    from pushout.worst_case.delay import delay

    return delay(asked)


@takes(Never)
def never(asked: Never) -> NeverResult:
    """Prove that an event happens on no input, or find the shortest input on which it does.

    Parameters: `event` is `"loss"`, `"loss while room"` (a packet is refused or pushed out, although the memory is not
    full), `"starved"` (a packet is refused while the queue of its port is empty), or, with `frames`, `"broken frame"`
    (a cell is lost after the first cells of its frame were queued), or, with `pause`, `"lossless_drop"`: `ports`
    senders, each with a queue on the ingress side of the memory and an output of its own, are stopped when their queue
    takes its first packet of headroom. `pause` has `xoff` (the headroom of a queue), `response` (slots in which a
    stopped sender still sends), and perhaps `xon` (what a queue holds when its sender goes on, 0) and `headroom` (of
    all queues together). The others are those of `worst`.

        >>> pushout.never("longest-queue", "starved", memory=8).proved
        True
    """
    from pushout.worst_case.never import never

    return never(asked)
