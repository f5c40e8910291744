"""The figures of a place: what its ports lost, and what they, or its memories, held."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pushout.answer.columns import Columns
from pushout.document import REASONS, Document
from pushout.names.place import Place
from pushout.names.port import MEMORY_CELLS, figure_of, section
from pushout.quantity import seconds

SAMPLES = (8009, 4001, 2003, 1009, 401)
"""Numbers of samples of an occupancy over time in a run. Single samples would alias with the periods of a scenario, so
they are averaged for each drawn point; the numbers are prime for the same reason."""

MOST_VALUES = 500_000
"""Samples of all series of a run together: with many series each has fewer, so that the runs fit into memory."""

POINTS = 400
"""The points that are drawn at most of an occupancy over time."""

RARE = ("loss_ratio", "lossless_drop", "dropped")
"""Figures of a place that may be almost 0."""

Values = Sequence[float | None]


@dataclass(frozen=True)
class Books:
    """The figures of a place in the rows of runs."""

    place: Place
    lossless: frozenset[str] = frozenset()
    """The classes of traffic that pause their senders instead of losing packets."""

    @staticmethod
    def of(place: Place, explained: Document) -> "Books":
        """Keep the books of a place of an explained scenario."""
        queues = explained.get("queue") or {}
        return Books(place, frozenset(name for name, keys in queues.items() if keys.get("pause")))

    def watch(self, explained: Document) -> list[str]:
        """Make overrides that record the occupancy over time, besides what the scenario measures."""
        key, names = self._recorded()
        wanted = dict.fromkeys([*explained.get("measure", {}).get(key, []), *names])
        measured = seconds(explained["duration"]) - seconds(explained["warmup"])
        step = max(round(measured / self._samples(explained) * 1e9), 1)
        return [f"measure.{key}={json.dumps(list(wanted))}", f"sample={step} ns"]

    def _recorded(self) -> tuple[str, list[str]]:
        """Return the key of `measure` that records occupancies over time, and whose."""
        if not self.place.measure:
            return "occupancy", []
        if self.place.memories:
            return "memories", list(dict.fromkeys(memory.section for memory in self.place.memories))
        return "occupancy", [port.name for port in self.place.ports]

    def _samples(self, explained: Document) -> int:
        """Choose the number of samples; of a memory a run records every queue and its threshold."""
        ports = len(self.place.ports)
        series = 2 * ports * max(1, len(explained.get("queue") or ())) if self.place.memories else ports
        return next((count for count in SAMPLES if count * series <= MOST_VALUES), SAMPLES[-1])

    def paths(self) -> list[str]:
        """List the paths of the figures that a run must measure."""
        series = self._series()
        clock = [f"{series[0]}.{key}" for key in ("start_s", "step_s")] if series else []
        curves = [f"{path}.values" for path in series]
        return [
            *self._counts(),
            *self._losses(),
            *self._held("mean"),
            *self._held("max"),
            *self._dropped(),
            *curves,
            *clock,
        ]

    def figures(self, rows: Columns, measured_s: float) -> dict[str, Values]:
        """Return the figures of the place in each run."""
        found: dict[str, Values] = {}
        if not self.place.queue:
            found["loss_ratio"] = self._loss_ratio(rows)
        if self.place.measure:
            found["occupancy_mean"] = self._mean(rows)
        if self.place.memories and len(held := self._held("max")) == 1:  # the largest of several is not that of all
            found["occupancy_max"] = [largest for (largest,) in _runs(rows, held)]
        if dropped := self._dropped():
            found["dropped" if self.place.queue else "lossless_drop"] = [sum(run) for run in _runs(rows, dropped)]
        if leaving := self._leaving():
            left = zip(*(map(sum, self._of_ports(rows, name)) for name in leaving), strict=True)
            # Little's law, transmission included, for all that was in the buffers: units, or octets where these count
            pairs = zip(found["occupancy_mean"], map(sum, left), strict=True)
            found["delay_s"] = [None if mean is None or not all_ else mean * measured_s / all_ for mean, all_ in pairs]
        return found

    def occupancy(self, rows: Columns) -> list[list[float]]:
        """Return the occupancy of the whole place over time in each run; without samples if it has no measure."""
        columns = [rows[f"{path}.values"] for path in self._series()]
        if not columns:
            return [[]] * rows.rows
        return [sum(series[1:], start=series[0]).tolist() for series in zip(*columns, strict=True)]

    def clock(self, rows: Columns) -> tuple[float, float]:
        """Return the time of the first sample, and that between two."""
        series = self._series()
        return (float(rows[f"{series[0]}.start_s"][0]), float(rows[f"{series[0]}.step_s"][0])) if series else (0.0, 0.0)

    def _counts(self) -> list[str]:
        """List the paths of the counts of ports."""
        is_whole = not self.place.queue
        return [
            path for name in (*self._leaving(), *(("units_in",) if is_whole else ())) for path in self._by_port(name)
        ]

    def _losses(self) -> list[str]:
        """List the paths of the losses of ports, by reason."""
        if self.place.queue:
            return []
        if len(self.place.ports) == 1:
            return self._by_port("lost.*")
        return [path for reason in REASONS for path in self._by_port(f"lost.{reason}")]

    def _by_port(self, name: str) -> list[str]:
        """Return the path of a figure of the port, or of all ports if there are several."""
        ports = self.place.ports
        return [figure_of(ports[0], name) if len(ports) == 1 else f"ports.*.{name}"]

    def _of_ports(self, rows: Columns, name: str) -> list[list[float]]:
        """Return a figure of each port of the place in each run."""
        (path,) = self._by_port(name)
        if len(self.place.ports) == 1:
            return [[value] for value in rows.plain(path)]
        return [[values[port.number] for port in self.place.ports] for values in rows.plain(path)]

    def _loss_ratio(self, rows: Columns) -> Values:
        """Return the share of the units that its ports lost."""
        if len(self.place.ports) == 1:
            lost = [sum(by_reason) for by_reason in rows.plain(self._losses()[0])]
        else:
            by_reason = [map(sum, self._of_ports(rows, f"lost.{reason}")) for reason in REASONS]
            lost = [sum(run) for run in zip(*by_reason, strict=True)]
        units = map(sum, self._of_ports(rows, "units_in"))
        return [some / all_ if all_ else None for some, all_ in zip(lost, units, strict=True)]

    def _mean(self, rows: Columns) -> Values:
        """Return the mean occupancy of the whole place."""
        if self.place.memories:
            return [sum(run) for run in _runs(rows, self._held("mean"))]
        return [None if None in run else sum(run) for run in self._of_ports(rows, "occupancy_mean")]

    def _held(self, statistic: str) -> list[str]:
        """List the paths of a statistic of the occupancy: mean or max."""
        name = f"occupancy_{statistic}"
        if not self.place.measure:
            return []
        if self.place.queue:
            return [f"{path}.{name}" for path in self._queues(self.place.queue)]
        if self.place.memories:
            return [f"{path}.{name}" for path in self._stores()]
        return self._by_port(name) if statistic == "mean" else []

    def _dropped(self) -> list[str]:
        """List the paths of the packets that queues dropped: those of the place, or those that should drop nothing."""
        classes = [self.place.queue] if self.place.queue else sorted(self.lossless)
        return [f"{path}.dropped" for name in classes for path in self._queues(name)]

    def _series(self) -> list[str]:
        """List the paths of the occupancies over time that add up to that of the place."""
        if not self.place.measure:
            return []
        if self.place.queue:
            return [f"{path}.occupancy" for path in self._queues(self.place.queue)]
        if self.place.memories:
            return [f"{path}.occupancy" for path in self._stores()]
        return [figure_of(port, "occupancy") for port in self.place.ports]

    def _stores(self) -> list[str]:
        """List the paths of the memories."""
        return [section("memories", memory.name) for memory in self.place.memories]

    def _queues(self, group: str) -> list[str]:
        """List the paths of the queues of a class."""
        pairs = zip(self._stores(), self.place.memories, strict=True)
        return [
            section(f"{path}.queues", each.name)
            for path, memory in pairs
            for each in memory.queues
            if each.group == group
        ]

    def _leaving(self) -> tuple[str, ...]:
        """List the figures of a port that count what left its buffer, sent or not, in the measure of its occupancy."""
        measure = self.place.measure
        if measure in ("", MEMORY_CELLS):
            return ()
        what = "octets" if measure == "bytes" else "units"
        return f"{what}_out", f"{what}_given_up"


def _runs(rows: Columns, paths: Sequence[str]) -> list[tuple[float, ...]]:
    """Return the figures of each run."""
    return list(zip(*map(rows.plain, paths), strict=True))
