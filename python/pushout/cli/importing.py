"""The command `pushout import`."""

from pathlib import Path
from typing import Any

import click

from pushout.cli.options import FAILURE, JSON
from pushout.cli.streams import echo_json, tell, tell_left_out
from pushout.excerpt import place


@click.command("import")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default="imported.toml",
    show_default=True,
    metavar="FILE.toml",
    help="Write the scenario to this file.",
)
@click.option(
    "--rate",
    metavar="RATE",
    help="Rate of the line that sends a capture, or to each host of a single switch: '100 Mb/s'.",
)
@click.option(
    "--flows",
    type=click.Choice(["one", "five-tuple"]),
    default="one",
    show_default=True,
    help="Whether the packets of a capture are one flow, or one for each protocol, two addresses and two ports.",
)
@JSON
def import_(files: tuple[Path, ...], out: Path, rate: str | None, flows: str, as_json: bool) -> None:
    """Make a scenario of files of other simulators or of a capture, and print what they contain.

    Files may be a topology (topology.txt) and flows (flow.txt) of the HPCC family, a connection matrix of htsim (.cm),
    and the output of tc qdisc show. Flows without a topology get one switch with lines of 100 Gb/s, or of --rate to
    each host. Each flow is one transfer over TCP: change [flows] for another transport. The output of tc alone gets the
    traffic of a home: a call, a page, a download and a backup, over an uplink of --rate or of a shaper.

    A capture (pcap, pcapng), or a table with the columns time and bytes, needs --rate: the command prints how much
    buffer would have lost nothing before a line of this rate, and the scenario sends the packets through it.
    """
    from pushout import reading
    from pushout.recording import with_files
    from pushout.scenario import written
    from pushout.source import Source
    from pushout.switch import captured, foreign
    from pushout.switch.rows import origin

    if rate is not None and len(files) == 1 and foreign.is_recording(files[0]):
        recorded = captured.read(files[0], rate, by_flow=flows == "five-tuple")
        tables = captured.scenario(recorded, out)
        summary, sentence = recorded.summary(), _captured(recorded.summary())
        reading.validate(Source(with_files(written(tables), tables, out.parent), str(out)))
    elif flows != "one":
        raise click.UsageError("--flows belongs to a capture: give the rate of its line as well, with --rate")
    else:
        found = foreign.read(files, rate)
        tables = foreign.scenario(found, out.stem)
        summary = found.summary()
        sentence = "\n".join(filter(None, (_imported(summary), found.reaction)))
        reading.validate(tables)
        if found.unlimited:
            tell(found.unlimited)
    left_out = summary.get("left_out", [])
    _write(out, origin(files, left_out=left_out) + written(tables))
    tell_left_out(left_out)
    if as_json:
        echo_json({"file": str(out), **summary})
        return
    click.echo(sentence)
    compares = "home" in summary and "memory" not in tables["port"]["uplink"]  # a discipline has no classes
    verb, follows = ("compare", _follows(tables["port"]["uplink"])) if compares else ("run", "")
    click.echo(f"Next: pushout {verb} {place(str(out))}{follows}")


def _follows(port: dict[str, Any]) -> str:
    """Compare the port of a home with a fair queue, or where it has one already, with tail drop in one queue."""
    is_fair = port.get("scheduler", {}).get("policy") == "fair-queue"
    policies = """'as-is,{admission="tail-drop",scheduler="fifo"}'""" if is_fair else "as-is,fq-codel"
    figures = "flows.call.delay_p99,flows.call.loss,flows.backup.goodput"
    return f" --policies {policies} --at uplink --figures {figures}"


def _write(out: Path, text: str) -> None:
    """Write a scenario; leave another file of this name alone."""
    from pushout import kept
    from pushout.cache import write
    from pushout.switch import foreign

    if out.exists() and kept.content(out, foreign.LARGEST) != text.encode():
        tell(f"{place(str(out))}: exists already and is not overwritten; name another file with --out")
        raise click.exceptions.Exit(FAILURE)
    write(out, text)


def _captured(summary: dict[str, Any]) -> str:
    """Describe a capture, with the buffer that loses nothing."""
    from pushout.quantity import readable

    unit, factor = readable("(s)", summary["buffer_s"])
    mean = "" if summary["mean_bps"] is None else f", {_rate(summary['mean_bps'])} on average"
    flows = f" of {len(summary['flows'])} flows" if "flows" in summary else ""
    return (
        f"packets {summary['packets']}{flows} in {summary['duration_s']:g} s, {summary['bytes']} bytes{mean}, up to "
        f"{summary['burst_bytes']} bytes within 1 ms; a buffer of {summary['buffer_bytes']} bytes "
        f"({summary['buffer_s'] * factor:.3g} {unit.strip('()')} at {_rate(summary['rate_bps'])}) loses nothing"
    )


def _rate(bps: float) -> str:
    """Write a rate in its most readable unit."""
    from pushout.quantity import readable

    unit, factor = readable("(b/s)", bps)
    return f"{bps * factor:.3g} {unit.strip('()')}"


def _imported(summary: dict[str, Any]) -> str:
    """Describe a network and its flows."""
    if "home" in summary:
        return f"a home: {', '.join(summary['home'])}, whose uplink has the port"
    counts = ", ".join(f"{name} {summary[name]}" for name in ("hosts", "switches", "links", "flows"))
    starts = f"starts from {summary['first_start_s']:g} s to {summary['last_start_s']:g} s"
    busiest = f"{summary['busiest_receiver_bytes']} of all bytes to {summary['busiest_receiver']}"
    burst = f"up to {summary['burst_bytes']} bytes start within 1 ms"
    mean = "" if summary["mean_bps"] is None else f", {_rate(summary['mean_bps'])} on average"
    return f"{counts}; {starts}; {summary['bytes']} bytes{mean}, {burst}; {busiest}"
