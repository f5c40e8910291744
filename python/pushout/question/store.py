"""What has been run, so that it need not be run again: one file, safe against being killed at any moment."""

import errno
import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pushout.cache import build

Figures = dict[str, Any]
"""Figures by their paths: a number, a list of numbers, or `None` where there was nothing to measure."""


WAIT_S = 60
"""How long to wait for others who write to the same file."""

AT_ONCE = 500
"""Points to ask for in one query; SQLite takes no more than 999 parameters everywhere."""


class Run(NamedTuple):
    """One replication: its seed, what it measured, and how long its event loop took in seconds."""

    seed: int
    figures: Figures
    wall_s: float


class Store:
    """A folder with the figures of runs, addressed by what they are the figures of.

    The key of a run is the scenario as it was asked for, its seed and a fingerprint of the simulator: a change of any
    of them finds nothing. The file is a SQLite database with a write-ahead log; a process that dies leaves it whole.
    """

    def __init__(self, folder: Path | None) -> None:
        """Without a folder what is run is known only as long as this lives."""
        self.path = ":memory:" if folder is None else str(folder / "runs.sqlite")
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        with self._errors():
            self._db = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
            self._write_ahead()
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS run "
                "(point BLOB, seed INTEGER, figures TEXT, wall_s REAL, PRIMARY KEY (point, seed)) WITHOUT ROWID"
            )

    def _write_ahead(self) -> None:
        """Ask for a write-ahead log; for this alone SQLite does not wait for others who open the file as well."""
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def key(self, identity: str) -> bytes:
        """The key of a point, given what identifies it apart from the simulator and the seed."""
        return hashlib.sha256(f"{build()} {identity}".encode()).digest()[:20]

    def find(self, points: Sequence[bytes]) -> dict[bytes, dict[int, Run]]:
        """The runs that are kept of these points, by their seeds."""
        found: dict[bytes, dict[int, Run]] = {point: {} for point in points}
        distinct = list(found)
        for first in range(0, len(distinct), AT_ONCE):
            some = distinct[first : first + AT_ONCE]
            query = f"SELECT point, seed, figures, wall_s FROM run WHERE point IN ({', '.join('?' * len(some))})"  # noqa: S608
            with self._errors():
                for point, seed, figures, wall_s in self._db.execute(query, some):
                    found[point][seed % 2**64] = Run(seed % 2**64, json.loads(figures), wall_s)
        return found

    def put(self, runs: Iterable[tuple[bytes, int, str, float]]) -> None:
        """Keep runs, all of them or none: point, seed, figures as JSON, time."""
        rows = [(point, _signed(seed), figures, wall_s) for point, seed, figures, wall_s in runs]
        with self._errors(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?)", rows)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """A full disk or a damaged file is an error of the operating system like any other."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(errno.EIO, f"{error}; runs that were kept before are safe", self.path) from None
        except (sqlite3.DatabaseError, json.JSONDecodeError) as error:
            raise OSError(errno.EIO, f"{error}: move it away, or keep runs in another folder", self.path) from None


def _signed(seed: int) -> int:
    """SQLite's integers are signed."""
    return seed - 2**64 if seed >= 2**63 else seed
