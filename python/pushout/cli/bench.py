"""The command `pushout bench`."""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from pushout.cli.options import FAILURE, FOLDER, JSON, console
from pushout.cli.streams import echo_json
from pushout.excerpt import place
from pushout.records import recorded


def _of_list(kind: str, known: Callable[[], Sequence[str]]) -> Callable[..., tuple[str, ...] | None]:
    """Parse a list `a,b,c` of known names."""

    def read(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
        from pushout import _core

        if value is None:
            return None
        names = tuple(value.split(",")) if value else ()
        for name in names:
            if name not in known():
                raise click.BadParameter(_core.unknown(kind, name, known()))
        return names

    return read


def _workload_ids() -> list[str]:
    from pushout.bench.workloads import WORKLOADS

    return list(WORKLOADS)


def _peer_names() -> list[str]:
    from pushout.bench.peers import PEERS

    return list(PEERS)


@click.command()
@click.option(
    "--reps", type=click.IntRange(1), default=5, show_default=True, metavar="N", help="Runs of each workload."
)
@click.option(
    "--workloads",
    callback=_of_list("workload", _workload_ids),
    metavar="A,B,…",
    help="Only these workloads (default: all but those that take minutes, W5 and W6-8192).",
)
@click.option(
    "--peers",
    callback=_of_list("peer", _peer_names),
    metavar="A,B,…",
    help="Only these peers; '' for none (default: all).",
)
@click.option(
    "--out",
    type=FOLDER,
    default=Path("reports/bench"),
    show_default=True,
    metavar="DIR",
    help="Folder for bench.json, the table bench.md and the figure bench.svg.",
)
@JSON
def bench(
    reps: int, workloads: tuple[str, ...] | None, peers: tuple[str, ...] | None, out: Path, as_json: bool
) -> None:
    """Measure the speed of Pushout and of the installed peers.

    Only the event loop is timed; workloads and simulators alternate. Keep the machine otherwise idle.
    """
    from pushout.bench import measure, plot, present
    from pushout.bench.peers import OURS
    from pushout.bench.workloads import WORKLOADS
    from pushout.cache import write
    from pushout.progress import Progress

    out.mkdir(parents=True, exist_ok=True)
    if workloads is None:
        chosen = [workload for workload in WORKLOADS.values() if not workload.is_long]
    else:
        chosen = [WORKLOADS[name] for name in workloads]
    with Progress("runs") as progress:
        document = measure.bench(
            chosen,
            reps=reps,
            peers=_peer_names() if peers is None else peers,
            folder=out,
            progress=progress,
        )
    write(out / "bench.json", recorded(document))
    write(out / "bench.md", present.markdown(document) + "\n")
    write(out / "bench.svg", plot.figure(document))
    if as_json:
        echo_json(document)
    else:
        from pushout.show.bench import measurement

        measurement(document, console())
        click.echo(f"Written to {place(str(out))}: bench.json, bench.md, bench.svg")
    if any(failure["contender"] == OURS for failure in document["failures"]):
        raise click.exceptions.Exit(FAILURE)
