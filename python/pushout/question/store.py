"""What has been run, so that it need not be run again: one file, safe against being killed at any moment."""

import errno
import hashlib
import json
import sqlite3
import struct
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

RUNS = "runs.sqlite"
"""The file in the folder of a cache."""

AT_ONCE = 500
"""Points to ask for in one query; SQLite takes no more than 999 parameters everywhere."""


TABLE = (
    "CREATE TABLE IF NOT EXISTS run (point BLOB, seed INTEGER, figures BLOB, wall_s REAL, digest BLOB, "
    "PRIMARY KEY (point, seed)) WITHOUT ROWID"
)


class Run(NamedTuple):
    """One replication: its seed, what it measured, and how long its event loop took in seconds."""

    seed: int
    figures: Figures
    wall_s: float


class Store:
    """A folder with the figures of runs, addressed by what they are the figures of.

    The key of a run is the scenario as it was asked for, its seed and a fingerprint of the simulator: a change of any
    of them finds nothing. The file is a SQLite database with a write-ahead log; a process that dies leaves it whole.
    Every run has a digest: one that a disk has changed since counts as absent.
    """

    def __init__(self, folder: Path | None) -> None:
        """Without a folder what is run is known only as long as this lives."""
        self.path = ":memory:" if folder is None else str(folder / RUNS)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        with self._errors():
            self._db = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
            self._db.text_factory = bytes
            self._write_ahead()
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(TABLE)
            self._drop_older()

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

    def _drop_older(self) -> None:
        """Replace the table of a version that kept runs without digest."""
        if self._has_digests():
            return
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            if not self._has_digests():  # another process may have been first
                self._db.execute("DROP TABLE run")
                self._db.execute(TABLE)

    def _has_digests(self) -> bool:
        return any(name == b"digest" for _, name, *_ in self._db.execute("PRAGMA table_info(run)"))

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
            query = f"SELECT * FROM run WHERE point IN ({', '.join('?' * len(some))})"  # noqa: S608
            with self._errors():
                for row in self._db.execute(query, some):
                    if (run := _undamaged(*row)) and row[0] in found:
                        found[row[0]][run.seed] = run
        return found

    def put(self, runs: Iterable[tuple[bytes, int, str, float]]) -> None:
        """Keep runs, all of them or none: point, seed, figures as JSON, time."""
        rows = [(point, _signed(seed), figures.encode(), wall_s) for point, seed, figures, wall_s in runs]
        with self._errors(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            digested = ((*row, _digest(*row)) for row in rows)
            self._db.executemany("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?)", digested)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """A full disk or a damaged file is an error of the operating system like any other."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(errno.EIO, f"{error}; runs that were kept before are safe", self.path) from None
        except sqlite3.DatabaseError as error:
            raise OSError(errno.EIO, f"{error}: move it away, or keep runs in another folder", self.path) from None


def _digest(point: bytes, seed: int, figures: bytes, wall_s: float) -> bytes:
    """What all parts of a row agree with."""
    return hashlib.sha256(point + struct.pack(">qd", seed, wall_s) + figures).digest()[:16]


def _undamaged(point: Any, seed: Any, figures: Any, wall_s: Any, digest: Any) -> Run | None:
    """The run in a row; none if anything in it, kinds of values included, is not as it was written."""
    try:
        if _digest(point, seed, figures, wall_s) != digest:
            return None
        return Run(seed % 2**64, json.loads(figures), wall_s)
    except (TypeError, ValueError, struct.error):
        return None


def _signed(seed: int) -> int:
    """SQLite's integers are signed."""
    return seed - 2**64 if seed >= 2**63 else seed
