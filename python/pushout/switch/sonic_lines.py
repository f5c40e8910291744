"""The lines of a switch with a class that loses nothing, and their headroom, from tables of SONiC."""

from collections.abc import Iterator
from pathlib import Path

from pushout.switch import sonic_tables
from pushout.switch.sonic_tables import GROUP, POOL, PROFILE, Tables, ranges


def rows(file: Path, shown: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield for each port and profile with headroom the place and the columns of its row.

    A group without a profile has none given: the switch computes it as it starts.
    """
    tables = Tables.of([sonic_tables.read(file)])
    for port, groups in tables.of_numbers(GROUP).items():
        profiles: dict[str, list[int]] = {}
        for number, key in groups.items():
            is_computed = str(tables.value(GROUP, key, "profile") or "NULL") == "NULL"
            name = "" if is_computed else tables.reference(GROUP, key, "profile", PROFILE)
            if not name or tables.number(PROFILE, name, "xoff", 0):
                profiles.setdefault(name, []).append(number)
        for name, numbers in profiles.items():
            at = f"{port}|{ranges(numbers)}"
            yield f"{shown}: {GROUP}|{at}", {"line": at, **_line(tables, port), **_given(tables, name)}


def _line(tables: Tables, port: str) -> dict[str, str]:
    """Return rate and cable of a port, of which none is assumed, and its largest frame: the need depends on all."""
    if tables.value("PORT", port, "speed") is None:
        tables.refuse(f"PORT|{port}: speed must be given, as in 100000 (Mb/s)", "PORT", port)
    if not any(port in lengths for lengths in tables.rows("CABLE_LENGTH").values()):
        tables.refuse(f"CABLE_LENGTH: {port} must be given, as in 40m", "CABLE_LENGTH")
    mtu = tables.mtu(port)
    largest = {"other": str(mtu)} if mtu else {}
    return {"rate": f"{tables.mbps(port)} Mb/s", "cable": f"{tables.metres(port)} m", **largest}


def _given(tables: Tables, profile: str) -> dict[str, str]:
    """Return the headroom of a profile, and the pool that lines share, if it has one."""
    if not profile:
        return {}
    given = {"given": f"{tables.number(PROFILE, profile, 'xoff')} B"}
    pool = tables.reference(PROFILE, profile, "pool", POOL)
    shared = tables.number(POOL, pool, "xoff", 0)
    return {**given, "share": pool, "share_size": f"{shared} B"} if shared else given
