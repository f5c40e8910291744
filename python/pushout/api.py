"""The functions of the Python interface.

Annotations stay texts, so that `help` shows the names of types and not what they stand for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pushout import _core, display, page  # noqa: F401  (they register how results are shown)
from pushout.counterfactual import LAST, Reaction, WhyResult
from pushout.counterfactual import why as ask_why
from pushout.errors import Argument
from pushout.excerpt import quoted
from pushout.literals import SEARCHES, Engine, Panel, Search, ThemeName
from pushout.names.place import Places, everywhere
from pushout.options import takes
from pushout.picture import asked as pictures
from pushout.picture.asked import DEFAULT
from pushout.policy.program import PoliciesByPort
from pushout.policy.program import overrides as programs
from pushout.progress import shown
from pushout.question import LEAST, MOST, REPS, RESOLUTION, ask
from pushout.question import design as designs
from pushout.question import merge as parts
from pushout.question import sweep as sweeps
from pushout.question.ask import Named, Policies
from pushout.question.compare import CompareResult
from pushout.question.given import with_columns, with_policies
from pushout.question.session import Folder, Session
from pushout.question.shard import Shard, check_places
from pushout.question.size import SizeResult
from pushout.question.sweep import SweepResult
from pushout.reading import explain, policies, schema, validate
from pushout.replicate import replicated
from pushout.result import Result
from pushout.simulate import Job, Progress, check_reps, check_seed, listed
from pushout.source import Overrides, ScenarioLike, Source, load, overrides, utf_8
from pushout.switch import counts as chip_counts
from pushout.switch import explain as explaining
from pushout.switch import headroom as headrooms
from pushout.switch import predict as chips
from pushout.switch import table as tables
from pushout.switch.explain import ExplainResult
from pushout.switch.headroom import HeadroomResult
from pushout.switch.predict import ChipResult
from pushout.tracing import TraceResult, traced
from pushout.worst_case import delay as delays
from pushout.worst_case import never as nevers
from pushout.worst_case import ratio as worsts
from pushout.worst_case.delay import DelayResult
from pushout.worst_case.never import NeverResult
from pushout.worst_case.options import About, Never, Ratio
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


def run(
    scenario: ScenarioLike,
    *,
    policies: PoliciesByPort | None = None,
    set: Overrides = (),  # noqa: A002  (the name of the option)
    seed: int | None = None,
    reps: int = 1,
    engine: Engine | None = None,
    audit: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Simulate a scenario `reps` times with the seeds `seed`, `seed` + 1, … and measure.

    Parameters: `scenario` is a path, the name of a shipped scenario (`pushout list scenarios` has them), a text
    (TOML or JSON) or a mapping of its keys; `policies` gives ports, classes of ports or memories policies in Python,
    one or one of each kind (`{"bottleneck": my_policy}`, see `pushout.policy`); `set` overrides keys
    (`{"flows.transport.mss": 9140}`); `seed` defaults to the scenario's; `engine` is `fast` or `reference`, by default
    the scenario's; `audit` checks that every unit and every byte is accounted for; `jobs` is the number of threads
    (default: every core); `progress` is called with (done, total) at intervals: replications, where a running one
    counts by the fraction done, or the simulated seconds of a single run; without it a notebook shows a bar.

    The result keeps the complete document of every replication: 1.4 MB for a network of 220 flows and their 882 ports.
    For hundreds of replications use `sweep`, which keeps only the chosen figures.

        >>> pushout.run("lan", set={"duration": "1 s"})["summary.goodput_ratio"]
    """
    check_reps(reps)
    check_seed(seed)
    source, changes = load(scenario), overrides(set)
    job = Job(source, (*_everywhere(policies, source, changes), *changes), engine, audit)
    with shown(progress, "replications" if reps > 1 else "") as told:
        return Result(*replicated(job, seed, reps, jobs=jobs, progress=told))


def trace(
    scenario: ScenarioLike,
    *,
    ports: str | Sequence[str] = (),
    policies: PoliciesByPort | None = None,
    set: Overrides = (),  # noqa: A002  (the name of the option)
    seed: int | None = None,
    audit: bool = False,
    progress: Progress | None = None,
) -> TraceResult:
    """Run once and record every packet at these ports; where links carry cells the reference engine runs.

    Parameters: `ports` are names of ports, `*` for all, by default those with a limited buffer; for the others see
    `run`. The figures are the same as without a trace.

        >>> pushout.trace("lan", set={"duration": "0.5 s"}).to_polars()
    """
    check_seed(seed)
    source, changes = load(scenario), overrides(set)
    names = [ports] if isinstance(ports, str) else list(ports)
    job = Job(source, (*_everywhere(policies, source, changes), *changes), audit=audit)
    return traced(job, names, seed, progress)


def _everywhere(policies: PoliciesByPort | None, source: Source, sets: Sequence[str]) -> list[str]:
    """Write policies in Python as overrides of a scenario."""
    return [change for changes in everywhere(programs(policies or {}), source, sets) for change in changes]


def plot(
    runs: ScenarioLike | Result | Sequence[ScenarioLike | Result],
    *,
    what: str | Sequence[str] = DEFAULT,
    labels: str | Sequence[str] = (),
    at: str | Sequence[str] = (),
    ports: str | Sequence[str] = (),
    flows: str | Sequence[str] = (),
    title: str | None = None,
    theme: ThemeName = "paper",
    width: float | None = None,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    reps: int = 1,
    engine: Engine | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """Draw one run or several on one figure: a matplotlib figure, whose `savefig` writes it.

    Parameters: `runs` are scenarios, which are run and measure what the figure needs, results of `run`, or folders that
    `pushout run --out` has written; `what` lists panels (queue, drops, delay, throughput, cwnd, state, occupancy,
    memory, fct, slowdown, goodput, topology) or figures that have one (`ports.bottleneck.lost`); `labels` are names for
    the legend; `at` lists places whose queues, losses and occupancies are drawn, as in `compare` (default: the busiest
    ports with a limited buffer; of a class of ports the busiest), and `ports` is another name of it; `flows` says which
    flows (default: the first); `title` replaces that of the scenario; `theme` is `paper` (7 inches wide) or `slides`
    (10); `width` is in inches (3.5 for one column). The others are those of `run`, for scenarios.

        >>> pushout.plot("lan", what="queue,drops", set={"duration": "2 s"}, width=3.5).savefig("queue.png")
    """
    where = [*listed("at", at), *listed("ports", ports)] or pictures.entries(what, "ports")
    of = listed("flows", flows) or pictures.entries(what, "flows")
    asked = pictures.Asked(pictures.panels(what), where, of, pictures.themed(theme, width), title)
    for name, texts in (("title", [title or ""]), ("labels", asked_labels := listed("labels", labels))):
        for text in texts:
            utf_8(text, Argument(name))
    given = list(runs) if isinstance(runs, Sequence) and not isinstance(runs, str) else [runs]
    options: dict[str, Any] = {"seed": seed, "reps": reps, "engine": engine, "jobs": jobs, "progress": progress}
    if asked.what == list(DEFAULT):
        asked = asked._replace(what=_fillable(given, asked, set))
    drawn = [_to_draw(each, asked, set, options) for each in given]
    return pictures.draw(pictures.labelled(drawn, given, asked_labels), asked)


def _fillable(given: Sequence[Any], asked: pictures.Asked, set: Overrides) -> Sequence[Panel]:  # noqa: A002
    """Leave out of the default panels those that a scenario cannot fill."""
    for each in given:
        if not isinstance(each, Result) and not pictures.is_finished(each):
            asked = asked._replace(what=asked.fillable(_places(load(each), overrides(set))))
    return asked.what


def _places(source: Source, sets: Sequence[str]) -> Places:
    """Return the places of a scenario with overrides."""
    return Places(explain(source, set=sets), source, tuple(sets))


def _to_draw(given: Any, asked: pictures.Asked, set: Overrides, options: Mapping[str, Any]) -> pictures.Run:  # noqa: A002
    """A run to be drawn: a result, what a folder holds of one, or a scenario that is run now."""
    if isinstance(given, Result):
        return asked.run(given.replications)
    if pictures.is_finished(given):
        return asked.run(pictures.documents(given))
    source = load(given)
    changes = overrides(set)
    planned = asked.recording(_places(source, changes))
    result = run(source, set=[*changes, *planned.sets], **options)
    return asked.run(result.replications, planned)


def compare(
    scenario: ScenarioLike,
    policies: Policies,
    *,
    at: Named = None,
    port: Named = None,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    reps: int = REPS,
    engine: Engine | None = None,
    figures: str | Sequence[str] = (),
    out: Folder | None = None,
    cache: Folder | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> CompareResult:
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
    asked = ask.comparison(
        scenario, policies, at=at, port=port, set=set, seed=seed, reps=reps, engine=engine, figures=figures
    )
    with shown(progress) as told, Session.open(out, cache, jobs, cluster, told) as session:
        return asked(session)


def size(
    scenario: ScenarioLike,
    goal: str | Sequence[str],
    over: str,
    *,
    low: str | float | None = None,
    high: str | float | None = None,
    policies: Policies = (),
    at: Named = None,
    port: Named = None,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    least: int = LEAST,
    most: int = MOST,
    resolution: float = RESOLUTION,
    search: Search = SEARCHES[0],
    largest: bool = False,
    engine: Engine | None = None,
    out: Folder | None = None,
    cache: Folder | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> SizeResult:
    """Find the smallest value of a key that meets a goal, or the largest, or the best one.

    Parameters: `goal` is `goodput_ratio>=0.98`, `FIGURE<=NUMBER`, `max FIGURE` or `min FIGURE`, or a list of levels
    that must all hold; `over` is the key; `low` and `high` are the ends of the range, written as in the scenario
    (default: 1/32 and 4 times its value); `policies` searches for each of several; `least` and `most` bound the
    replications of a value; the search stops at the relative difference `resolution`; `search` is auto, bisect or
    optuna; with `largest` the answer is the largest value that meets the goals. For the other parameters see `compare`.

        >>> pushout.size("scenarios/lan.toml", "goodput_ratio>=0.9", "port.bottleneck.buffer").document["answers"]
    """
    asked = ask.sizing(
        scenario,
        goal,
        over,
        low=low,
        high=high,
        policies=policies,
        at=at,
        port=port,
        set=set,
        seed=seed,
        least=least,
        most=most,
        resolution=resolution,
        search=search,
        largest=largest,
        engine=engine,
    )
    with shown(progress) as told, Session.open(out, cache, jobs, cluster, told) as session:
        return asked(session)


def sweep(
    design: str | os.PathLike[str] | Mapping[str, Any],
    *,
    policies: PoliciesByPort | None = None,
    columns: str | Sequence[str] = (),
    out: Folder | None = None,
    cache: Folder | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    shard: tuple[int, int] | str | None = None,
    allow_files: Sequence[Folder] = (),
    progress: Progress | None = None,
) -> SweepResult:
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
    if not isinstance(design, str | os.PathLike | Mapping):
        raise TypeError(f"the design must be the path of a sweep file or a mapping of its keys, not {quoted(design)}")
    plan = designs.made(design) if isinstance(design, Mapping) else designs.read(design, allow_files)
    if policies:
        plan = with_policies(plan, _everywhere(policies, sweeps.source_of(plan), plan.common.sets))
    plan = with_columns(plan, columns)
    part = None if shard is None else Shard.of(shard)
    if part:
        check_places(out, cache, part)
    sweeps.look_over(plan)
    with shown(progress) as told, Session.open(out, cache, jobs, cluster, told) as session:
        return sweeps.sweep(plan, session, shard=part)


def merge(folders: Sequence[Folder], out: Folder, *, progress: Progress | None = None) -> SweepResult:
    """Put the parts of a sweep together that `sweep(…, shard=(1, 4), out=…)` and its like have written.

    Parameters: `folders` are those of all parts, in any order; `out` is the folder, or `s3://bucket/folder`, for rows
    and manifest of the whole sweep, which equal those of one process but for times; `progress` is called with
    (done, total).

        >>> pushout.merge(["part-1", "part-2"], "whole").means("goodput_ratio")
    """
    with shown(progress) as told:
        return parts.merge(folders, out, told)


def headroom(
    table: str | os.PathLike[str] | Iterable[Mapping[str, object]],
    *,
    mtu: int | None = None,
    smallest: int | None = None,
    other: int | None = None,
    cell: int | None = None,
) -> HeadroomResult:
    """Compare the headroom that each line of a switch needs with what it is given.

    Parameters: `table` is a CSV file, a table of SONiC (`pg_profile_lookup.ini`), or its rows as mappings of columns;
    `mtu`, `smallest`, `other` and `cell` are values of these columns, in bytes, for rows without them.

        >>> row = {"rate": "100 Gb/s", "cable": "300 m", "mtu": 4096, "cell": 192, "given": "84 kB"}
        >>> pushout.headroom([row]).document["rows"][0]["verdict"]
    """
    given = {"mtu": mtu, "smallest": smallest, "other": other, "cell": cell}
    lines = tables.read(table, given) if isinstance(table, str | os.PathLike) else tables.made(table, given)
    return headrooms.headroom(lines)


def chip_explain(
    counts: str | os.PathLike[str] | Mapping[str, int] | Iterable[Mapping[str, object]],
    *,
    packet: int = chips.PACKET,
    cell: int | None = None,
    pool: int | None = None,
    tolerance: int | None = None,
) -> ExplainResult:
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
    rows = (
        chip_counts.read(counts, packet) if isinstance(counts, str | os.PathLike) else chip_counts.made(counts, packet)
    )
    return explaining.explain(rows, cell=cell, pool=pool, tolerance=tolerance)


def chip_predict(
    profile: ScenarioLike,
    *,
    packet: int = chips.PACKET,
    lines: int | None = None,
    qos: str | os.PathLike[str] | None = None,
    cell: int | None = None,
    set: Overrides = (),  # noqa: A002
) -> ChipResult:
    """Predict what acceptance tests of a switch must count: packets until a drop, a pause, a loss and a mark.

    A bench in the simulator sends packets to ports that stand still, through senders that ignore pauses, and counts.

    Parameters: `profile` is a scenario with a memory, or a file with tables of SONiC (`buffers.json`), to which `qos`
    adds marks and `cell` the bytes of a cell; `packet` the bytes of the packets; `lines` the number of lines that fill
    their queues one after another (default: those of the profile); `set` is that of `run`.

        >>> pushout.chip_predict("tomahawk")["lossy.drop"]
        9884
    """
    read = chips.profile(profile, qos=qos, cell=cell)
    return chips.predict(read, overrides(set), packet=packet, lines=lines)


def why(
    scenario: ScenarioLike,
    *,
    at: Named = None,
    loss: int | None = None,
    flow: str | None = None,
    frame: int | None = None,
    ill: str = "lost",
    report: int | None = None,
    policies: Policies = (),
    reaction: Reaction = "on",
    last: int = LAST,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    progress: Progress | None = None,
) -> WhyResult:
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
    with shown(progress, "counterfactuals") as told:
        return ask_why(
            scenario,
            at=at,
            loss=loss,
            flow=flow,
            frame=frame,
            ill=ill,
            report=report,
            policies=policies,
            reaction=reaction,
            last=last,
            set=set,
            seed=seed,
            progress=told,
        )


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
    return worsts.worst(asked)


@takes(About)
def longest_delay(asked: About) -> DelayResult:
    """Find the longest delay of a packet in slots, from its arrival to the end of its transmission, on any input.

    Parameters: those of `worst`. The input of the result attains the delay.

        >>> pushout.longest_delay("dynamic-threshold", memory=8, set={"alpha": 1}).slots
        4
    """
    return delays.delay(asked)


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
    return nevers.never(asked)
