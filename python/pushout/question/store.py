"""The store of finished runs: one file, which survives a kill at any moment."""

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

from pushout import kept
from pushout.cache import build

Figures = dict[str, Any]
"""Figures by path: a number, a list of numbers, or `None` if there was nothing to measure."""


WAIT_S = 60
"""Seconds to wait for other processes that write to the file."""

RUNS = "runs.sqlite"
"""The file in a cache folder."""

AT_ONCE = 500
"""Points in one query; some builds of SQLite allow at most 999 parameters."""


TABLE = (
    "CREATE TABLE IF NOT EXISTS run (point BLOB, seed INTEGER, figures BLOB, wall_s REAL, digest BLOB, "
    "PRIMARY KEY (point, seed)) WITHOUT ROWID"
)


class Run(NamedTuple):
    """One replication: its seed, its figures, and the time of its event loop in seconds."""

    seed: int
    figures: Figures
    wall_s: float


class Store:
    """A folder with the figures of finished runs.

    The key of a run is the scenario as given, its seed and a fingerprint of the simulator: after a change of any of
    them the run is not found. The file is a SQLite database with a write-ahead log; a process that dies leaves it
    consistent. Every run has a digest: a run that the disk has corrupted counts as absent.
    """

    def __init__(self, folder: Path | None) -> None:
        """Open the store; without a folder it lives in memory."""
        self.path = ":memory:" if folder is None else str(folder / RUNS)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for ending in ("", "-wal", "-shm", "-journal"):  # SQLite follows links
                kept.check(folder / f"{RUNS}{ending}", in_place=True)
        with self._errors():
            self._db = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
            self._db.text_factory = bytes
            self._write_ahead()
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(TABLE)
            self._drop_older()

    def _write_ahead(self) -> None:
        """Request a write-ahead log; retry, because SQLite does not wait for other processes here."""
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
        """Replace the table of a version that stored runs without digest."""
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
        """Close the file."""
        self._db.close()

    def key(self, identity: str) -> bytes:
        """Hash a point's identity, apart from the seed, with the simulator."""
        return hashlib.sha256(f"{build()} {identity}".encode()).digest()[:20]

    def find(self, points: Sequence[bytes]) -> dict[bytes, dict[int, Run]]:
        """Return the stored runs of these points, by seed."""
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
        """Store runs, all or none: point, seed, figures as JSON, time."""
        rows = [(point, _signed(seed), figures.encode(), wall_s) for point, seed, figures, wall_s in runs]
        with self._errors(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            digested = ((*row, _digest(*row)) for row in rows)
            self._db.executemany("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?)", digested)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise a full disk or a damaged file as an `OSError`."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(errno.EIO, f"{error}; runs stored before are safe", self.path) from None
        except sqlite3.DatabaseError as error:
            raise OSError(errno.EIO, f"{error}: move it away, or use another folder for runs", self.path) from None


def _digest(point: bytes, seed: int, figures: bytes, wall_s: float) -> bytes:
    """Hash all parts of a row."""
    return hashlib.sha256(point + struct.pack(">qd", seed, wall_s) + figures).digest()[:16]


def _undamaged(point: Any, seed: Any, figures: Any, wall_s: Any, digest: Any) -> Run | None:
    """Read the run in a row; None if anything in it, including types of values, is not what was written."""
    try:
        if _digest(point, seed, figures, wall_s) != digest:
            return None
        return Run(seed % 2**64, json.loads(figures), wall_s)
    except (TypeError, ValueError, struct.error):
        return None


def _signed(seed: int) -> int:
    """Convert a seed to a signed integer, the only kind of SQLite."""
    return seed - 2**64 if seed >= 2**63 else seed
