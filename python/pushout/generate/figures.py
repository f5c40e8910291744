"""Write the page with the names of all figures."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pushout.names.computed import COMPUTED
from pushout.names.figures import SHORT, general, named, rows

PAGE = Path("docs/figures.md")

HEAD = """# Figures

Every number of the [report](result.md) has one name in all questions: in `size --goal`, `sweep --columns` and `figures`
of a sweep file, `compare --figures`, and where a panel draws it in `plot --what`. `pushout list figures delay` lists
those with this word in name or meaning.

* A name is the path in the report, such as `ports.bottleneck.occupancy_mean`. `NAME` stands for a port, a flow, a
  memory, a class or a queue, `REASON` for a reason of losses, `SIZE` for `short`, `medium` or `long` transfers. A name
  with a point in it has quotes: `ports."access1.back".units_in`.
* `summary.` may be left out, and so may the unit at the end: `goodput` is `goodput_bps`, `transfer_time_p99` is
  `transfer_time_p99_s`. The level of a goal may have a unit: `transfer_time_p99<=4 ms`.
* The short names below stand for longer ones.
* Some figures are computed from others of the report, whose JSON does not have them.
* A figure may need a measurement that the scenario does not ask for, as percentiles of the delay need
  `measure.delivery`. `size` and `compare` add it to their runs and say so; a sweep refuses the figure and names the
  key.
* A figure that only ports have is that of the port in question: with `--over port.bottleneck.buffer`, `sojourn_p99`
  is `ports.bottleneck.sojourn_p99_s`.

"""

TITLES: Mapping[str, str] = {
    "summary": "all flows together",
    "flows": "a flow",
    "ports": "a port",
    "memories": "a memory",
    "queues": "a queue of a memory",
    "circuits": "a circuit",
    "engine": "the engine",
}
"""The parts with single figures, and their headings."""


def page() -> str:
    """Return the page."""
    return HEAD + "\n".join((*_computed(), *_short(), *_all()))


def _computed() -> Iterator[str]:
    """Yield the table of computed figures."""
    yield "## Computed figures\n"
    yield "| name | unit | meaning |\n|---|---|---|"
    for path, each in COMPUTED.items():
        yield f"| `{_name(path)}` | {each.unit} | {each.meaning} |"
    yield (
        "\nAll of them leave out the warm-up, as every figure does. `loss_ratio` counts what TCP sends again as sent "
        "once more, and acknowledgements as units.\n"
    )


def _name(path: str) -> str:
    """Write a path as a question takes it."""
    return path.removeprefix("summary.").replace("*", "NAME", 1)


def _short() -> Iterator[str]:
    """Yield the table of short names."""
    yield "## Short names\n"
    yield "| of | short | name |\n|---|---|---|"
    for kind, names in SHORT.items():
        known = {each.path.rpartition("NAME.")[2] for each in named("memories" if kind == "queues" else kind)}
        lines = (f"| {TITLES[kind]} | `{short}` | `{name}` |" for short, name in names.items() if name in known)
        yield from dict.fromkeys(map(general, lines))
    yield ""


def _all() -> Iterator[str]:
    """Yield the tables of all single figures."""
    for part in ("summary", "flows", "ports", "memories", "circuits", "engine"):
        yield f"## {TITLES[part].capitalize()}\n"
        yield "| name | meaning |\n|---|---|"
        yield from (f"| `{each.name}` | {each.meaning} |" for each in rows([part]))
        yield ""
