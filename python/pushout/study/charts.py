"""The plots of a study: `[[plot]]` of its `study.toml`, in four kinds.

    title, source, note                     on all; `note` is the caption
    kind = "numbers"   axis, numbers        numbers (a pattern of ids), measured against printed
    kind = "curve"     x.values, x.scale    a point per value, which replaces `{}` in `measure`
    kind = "series"    x.start, x.step      `measure` gives a list, over time or over bins
    kind = "bars"      x.categories         `measure` gives a list with an entry per category

The last three have `x.label`, `y.label`, `y.scale` ("linear" or "log"), `[[plot.line]]` with label, measure and printed
(`{ x = y }`, for bars a list; `derived` in its place for points that a formula gives and that are printed nowhere), and
`[[plot.level]]` with label and value: horizontal lines. A line that is `like` another, given by its label, has its
colour; if both are in one plot it is dashed. A plot with `one_run = true` shows only the first replication.

A plot with `each.NAME` is drawn once for each name, which replaces `{each}` everywhere, with the keys given there
besides the common ones.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain, count
from typing import Any

from pushout.study.expression import Expression
from pushout.study.toml_entry import keys, made

UPRIGHT = 45
"""Largest number of letters below upright bars: the length of the longest name of a category for each of them."""

STYLES = 8
"""Largest number of lines with distinct colours in a study."""


@dataclass(frozen=True)
class Dots:
    """Numbers drawn measured against printed; `axis` is the label with the unit."""

    title: str
    axis: str
    numbers: tuple[str, ...]
    source: str = ""
    note: str = ""


@dataclass(frozen=True)
class Line:
    """One curve: a scalar measure per x, or one measure that gives a list; and the printed points, or derived ones.

    Its `style` is the index of its colour and marker; `dashed` distinguishes it from another line of that colour.
    `reps` is the number of replications it shows, if not all.
    """

    label: str
    measures: tuple[Expression, ...]
    printed: tuple[tuple[float, float], ...]
    style: int
    dashed: bool
    reps: int | None = None
    origin: str = "printed"


@dataclass(frozen=True)
class Level:
    """A value of the paper, drawn as a horizontal line."""

    label: str
    value: float


@dataclass(frozen=True)
class Chart:
    """Curves over one axis: `x` holds the positions of the points, or their `start` and `step` if lists are drawn."""

    kind: str
    title: str
    source: str
    note: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    categories: tuple[str, ...]
    scale: str
    lines: tuple[Line, ...]
    levels: tuple[Level, ...]
    y_scale: str = "linear"

    @property
    def lying(self) -> bool:
        """True if bars lie, so that long names of categories stand beside them."""
        return self.kind == "bars" and len(self.categories) * max(map(len, self.categories)) > UPRIGHT

    def places(self, count: int) -> tuple[float, ...]:
        """Return the positions of a line with this many points."""
        if self.kind == "series":
            start, step = self.x
            return tuple(start + step * index for index in range(count))
        if count != len(self.x):
            raise ValueError(
                f"the plot {self.title!r} must have a value for each of its {len(self.x)} positions, not {count}"
            )
        return self.x


def read(
    entries: Iterable[dict[str, Any]], numbers: Collection[str], figures: Collection[str], cases: Collection[str]
) -> tuple[Dots | Chart, ...]:
    """Read every `[[plot]]` of a study; lines of one name have the same style in all of them."""
    known: dict[str, int] = {}
    plots: list[Dots | Chart] = []
    for entry in (plot for several in entries for plot in _each(several)):
        kind = entry.pop("kind", "numbers")
        if kind == "numbers":
            plots.append(_dots(entry, numbers))
        elif kind in ("curve", "series", "bars"):
            styles = _styles(entry["line"], known)
            known.update(styles)
            plots.append(_chart(kind, entry, styles, lambda text: Expression(text, figures, cases)))
        else:
            raise TypeError(f"kind of the plot {entry['title']!r} must be numbers, curve, series or bars, not {kind!r}")
    return tuple(plots)


def _each(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Expand one entry into its plots."""
    for name, own in keys("each", entry.pop("each", {"": {}})).items():
        joined = {
            key: {**entry.get(key, {}), **value} if isinstance(value, dict) else value
            for key, value in keys(f"each.{name}", own).items()
        }
        yield {key: _named(value, name) for key, value in {**entry, **joined}.items()}


def _named(value: Any, name: str) -> Any:
    """Copy a value with the name in place of `{each}`, at any depth."""
    match value:
        case str():
            return value.replace("{each}", name)
        case list():
            return [_named(entry, name) for entry in value]
        case dict():
            return {key: _named(entry, name) for key, entry in value.items()}
    return value


def _styles(lines: Sequence[Mapping[str, Any]], known: Mapping[str, int]) -> dict[str, int]:
    """Give each line its earlier style, unless another line of the plot has it.

    The others take a style that is new in the study, or if there is none, one that is free in this plot.
    """
    chosen: dict[str, int] = {}
    labels = [line["label"] for line in lines if "like" not in line]
    for label in labels:
        if label in known and known[label] not in chosen.values():
            chosen[label] = known[label]
    new = [style for style in range(STYLES) if style not in known.values()]
    free = (style for style in chain(new, count()) if style not in chosen.values())
    for label in labels:
        if label not in chosen:
            chosen[label] = next(free)
    return chosen | {line["label"]: _of({**known, **chosen}, line["like"]) for line in lines if "like" in line}


def _of(styles: Mapping[str, int], label: str) -> int:
    if label not in styles:
        raise TypeError(f"like must be the label of another line, not {label!r}")
    return styles[label]


def _dots(entry: dict[str, Any], numbers: Collection[str]) -> Dots:
    chosen = tuple(number for number in numbers if fnmatchcase(number, entry["numbers"]))
    if not chosen:
        raise TypeError(f"numbers of the plot {entry['title']!r} must match a number, not {entry['numbers']!r}")
    return made(Dots, {**entry, "numbers": chosen})


def _chart(kind: str, entry: dict[str, Any], styles: Mapping[str, int], read: Callable[[str], Expression]) -> Chart:
    x, y = dict(entry.pop("x")), dict(entry.pop("y"))
    labels = {"x_label": x.pop("label"), "y_label": y.pop("label")}
    scale, y_scale = x.pop("scale", "linear"), y.pop("scale", "linear")
    if y_scale not in ("linear", "log"):
        raise TypeError(f"y.scale of the plot {entry['title']!r} must be linear or log, not {y_scale!r}")
    names, places = _places(kind, x)
    here = [line["label"] for line in entry["line"]]
    reps = 1 if entry.pop("one_run", False) else None
    lines = tuple(replace(_line(kind, line, styles, here, names, read), reps=reps) for line in entry.pop("line"))
    levels = tuple(made(Level, level) for level in entry.pop("level", ()))
    if x or y:
        unknown = ", ".join([*x, *y])
        raise TypeError(f"unknown key of an axis of {entry['title']!r}: {unknown} (allowed: label, scale, places of x)")
    rest = {
        "source": "",
        "note": "",
        **entry,
        **labels,
        "y_scale": y_scale,
        "categories": names if kind == "bars" else (),
    }
    return made(Chart, {"kind": kind, "x": places, "scale": scale, "lines": lines, "levels": levels, **rest})


def _places(kind: str, x: dict[str, Any]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    if kind == "series":
        return (), (float(x.pop("start", 0)), float(x.pop("step")))
    if kind == "bars":
        names = tuple(x.pop("categories"))
        return names, tuple(map(float, range(len(names))))
    values = x.pop("values")
    return tuple(map(str, values)), tuple(map(float, values))


def _line(
    kind: str,
    line: dict[str, Any],
    styles: Mapping[str, int],
    here: Sequence[str],
    names: tuple[str, ...],
    read: Callable[[str], Expression],
) -> Line:
    label, measure = line.pop("label"), line.pop("measure")
    origin = "derived" if "derived" in line else "printed"
    printed = line.pop(origin, {})
    dashed = line.pop("like", None) in here
    if line:
        raise TypeError(f"unknown key of the line {label!r}: {', '.join(line)}")
    points = enumerate(printed) if kind == "bars" else ((float(x), y) for x, y in printed.items())
    texts = [measure.replace("{}", name) for name in names] if kind == "curve" else [measure]
    places = tuple((float(x), float(y)) for x, y in points)
    return Line(label, tuple(map(read, texts)), places, styles[label], dashed, origin=origin)
