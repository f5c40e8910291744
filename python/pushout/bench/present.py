"""Present a measurement as rows and notes, and in Markdown for the documentation."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pushout.bench.peers import OURS

HEADINGS = (
    "workload",
    "simulator",
    "median, s",
    "min – max, s",
    "n",
    "simulated s per s",
    "ns per hop",
    "memory, MB",
    "goodput, Mb/s",
    "ours is faster by",
)
FIGURE = "![Cost of a unit on a line, for each simulator](performance.svg)"
SPACE = "\N{NO-BREAK SPACE}"


class Row(NamedTuple):
    """One line of the table."""

    workload: str
    who: str
    entry: dict[str, Any]
    ratio: float | None

    def cells(self) -> Iterator[str]:
        """Write the columns; numbers have no line breaks."""
        wall = self.entry["wall_s"]
        yield self.workload
        yield self.who
        yield significant(wall["median"])
        yield f"{significant(wall['min'])}{SPACE}–{SPACE}{significant(wall['max'])}"
        yield str(wall["n"])
        yield significant(self.entry["sim_s_per_s"])
        yield significant(self.hop_ns)
        yield significant(self.entry["rss_bytes"], 1e-6)
        yield significant(self.entry["goodput_bps"], 1e-6, 4)
        yield "" if self.ratio is None else f"{significant(self.ratio)}{SPACE}×"

    @property
    def hop_ns(self) -> float | None:
        """Compute the cost of a unit on a line, in the units of the workload."""
        cost: float | None = self.entry["ns_per_cell_hop"] or self.entry["ns_per_packet_hop"]
        return cost


def significant(value: float | None, scale: float = 1.0, digits: int = 3) -> str:
    """Write a number with `digits` significant digits, large ones in full; a dash for None."""
    if value is None:
        return "–"
    text = f"{value * scale:.{digits}g}"
    return f"{float(text):,.0f}".replace(",", SPACE) if "e" in text else text


def rows(document: dict[str, Any]) -> list[Row]:
    """Make rows of our results and the peers', workload by workload."""
    ratios = {(one["workload"], one["against"], one["variant"]): one["ratio"] for one in document["ratios"]}
    lines = [Row(entry["id"], OURS, entry, None) for entry in document["workloads"]]
    for entry in document["peers"]:
        ratio = ratios.get((entry["id"], entry["peer"], entry["variant"]))
        lines.append(Row(entry["id"], f"{entry['peer']} {entry['variant']}", entry, ratio))
    order = list(dict.fromkeys(line.workload for line in lines))
    return sorted(lines, key=lambda line: order.index(line.workload))


def notes(document: dict[str, Any]) -> Iterator[str]:
    """Write the notes below the table: the machine, memory per flow, missing peers and failures."""
    about = document["machine"]
    memory = f", {about['ram_bytes'] / 2**30:.0f} GiB" if about["ram_bytes"] else ""
    commit = f", commit {about['commit']}" if about["commit"] else ""
    load = f"; load average at the start {about['load']:.2f}" if about["load"] is not None else ""
    yield f"{about['cpu']}, {about['cores']} cores{memory}, {about['system']}."
    yield f"Version {about['version']}{commit}{load}."
    for entry in document["workloads"]:
        if entry["id"].startswith("W4") and entry["bytes_per_flow"]:
            yield f"{entry['id']}: {entry['bytes_per_flow'] / 1e3:.3g} kB per flow at the peak, report included."
    for one in document.get("programs", ()):  # earlier documents have none
        yield f"{one['workload']} takes {significant(one['ratio'])} times as long as {one['native']}."
    for absent in document["missing"]:
        yield f"{absent['peer']} did not take part: {absent['why']} ({absent['install']})."
    for failure in document["failures"]:
        yield f"{failure['workload']} on {failure['contender']} {failure['why']}."


def markdown(document: dict[str, Any]) -> str:
    """Write the table and the notes for the documentation."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|---|" + "--:|" * (len(HEADINGS) - 2)]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows(document)]
    return "\n".join([*lines, "", *(f"* {note}" for note in notes(document))])


def table_of_features(document: dict[str, Any]) -> str:
    """Write the costs of features beside tail drop, with their aims, in Markdown."""
    heads = ("group", "feature", "workload", "ns per hop", "×", "aim", "fast ÷ reference")
    lines = ["| " + " | ".join(heads) + " |", "|---|---|---|" + "--:|" * (len(heads) - 3)]
    lines += ["| " + " | ".join(_cells_of_feature(row)) + " |" for row in document["features"]]
    return "\n".join([*lines, "", _origin(document["machine"], _turns(document))])


def _cells_of_feature(row: dict[str, Any]) -> Iterator[str]:
    yield row["group"]
    yield row["feature"]
    yield row["workload"]
    yield from (significant(row[key]) for key in ("hop_ns", "ratio"))
    ratio = f"≤{SPACE}{significant(row['aim'])}{SPACE}×" if row["aim"] else ""
    yield f"≤{SPACE}{significant(row['aim_ns'])}{SPACE}ns" if row["aim_ns"] else ratio
    yield significant(row["engines"], 1.0, 2)


def slower(document: dict[str, Any]) -> str:
    """List the cases that take longer on the fast engine than on the reference engine, the slowest first."""
    known = sorted((row for row in document["engines"] if row["ratio"] is not None), key=lambda row: -row["ratio"])
    found = [f"{row['case']}: {row['ratio']:.2f}" for row in known if row["ratio"] > 1]
    largest = f"; the largest ratio is {known[0]['ratio']:.2f} ({known[0]['case']})" if known else ""
    return "\n".join([*found, f"{len(found)} of {len(known)} cases take longer on fast than on reference{largest}"])


def table_of_trees(document: dict[str, Any]) -> str:
    """Write the times of fat-trees here and in htsim in Markdown."""
    heads = ("hosts", "ours, s", "ns per hop", "htsim, s", "ns per hop", "memory, MB", "ours is faster by")
    lines = ["| " + " | ".join(heads) + " |", "|" + "--:|" * len(heads)]
    for case in document["cases"]:
        ours, theirs = case["pushout"], case["htsim"]
        figures = (ours["cpu_s"], ours["hop_ns"], theirs["cpu_s"], theirs["hop_ns"], theirs["rss_bytes"] / 1e6)
        ratio = f"{significant(case['ratio'])}{SPACE}×"
        lines.append(f"| {case['hosts']} | {' | '.join(map(significant, figures))} | {ratio} |")
    about = document["machine"]
    return "\n".join([*lines, "", _origin(about, f"csg-htsim {document['commit'][:8]}; {_turns(document)}")])


def table_of_cells(document: dict[str, Any]) -> str:
    """Write the times of single cells here and in YATS in Markdown."""
    heads = ("workload", "ours, s", "ns per cell sent", "YATS, s", "ns per cell sent", "ours is faster by")
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    for case in document["cases"]:
        ours, theirs = case["pushout"], case["yats"]
        figures = (ours["cpu_s"], ours["cell_ns"], theirs["cpu_s"], theirs["cell_ns"])
        ratio = f"{significant(case['ratio'])}{SPACE}×"
        lines.append(f"| {case['name']} | {' | '.join(map(significant, figures))} | {ratio} |")
    about = document["machine"]
    return "\n".join([*lines, "", _origin(about, f"luayats {document['commit'][:8]}; {_turns(document)}")])


def _origin(about: dict[str, Any], more: str) -> str:
    commit = f", commit {about['commit']}" if about["commit"] else ""
    load = f"; load average at the start {about['load']:.2f}" if about["load"] is not None else ""
    return f"* Version {about['version']}{commit}{load}; {more}."


def _turns(document: dict[str, Any]) -> str:
    return f"least processor time of {document['reps']} turns"


class Part(NamedTuple):
    """A part of docs/performance.md: its name in the marks around it, the file of its figures, and its text."""

    name: str
    file: Path
    text: Callable[[dict[str, Any]], str]


FILLED = (
    Part("measured", Path("docs/performance.json"), lambda document: f"{markdown(document)}\n\n{FIGURE}"),
    Part("htsim", Path("benchmarks/htsim/fat_tree.json"), table_of_trees),
    Part("yats", Path("benchmarks/yats/mux.json"), table_of_cells),
    Part("features", Path("docs/features.json"), table_of_features),
)
"""The parts that follow from measurements."""


def fill(page: str, part: Part, document: dict[str, Any]) -> str:
    """Replace a part of the page between its marks."""
    begin, end = (f"<!-- {part.name}: {mark} -->" for mark in ("begin", "end"))
    pattern = re.compile(re.escape(begin) + ".*" + re.escape(end), re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"the page must contain the marks {begin} and {end}")
    return pattern.sub(lambda _: f"{begin}\n{part.text(document)}\n{end}", page)
