"""The command `pushout import`."""

from pathlib import Path

import click

from pushout.cli.options import FAILURE, JSON
from pushout.cli.streams import echo_json, tell
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
@JSON
def import_(files: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Make a scenario of files of other simulators, and print what they contain.

    Files may be a topology (topology.txt) and flows (flow.txt) of the HPCC family, a connection matrix of htsim (.cm),
    and the output of tc qdisc show. Flows without a topology get one switch with lines of 100 Gb/s. Each flow is one
    transfer over TCP: change [flows] for another transport.
    """
    from pushout import kept, reading
    from pushout.cache import write
    from pushout.question import foreign
    from pushout.scenario import written

    found = foreign.read(files)
    tables = foreign.scenario(found, out.stem)
    reading.validate(tables)
    text = written(tables)
    if out.exists() and kept.content(out, foreign.LARGEST) != text.encode():
        tell(f"{place(str(out))}: exists already and is not overwritten; name another file with --out")
        raise click.exceptions.Exit(FAILURE)
    write(out, text)
    summary = found.summary()
    if as_json:
        echo_json({"file": str(out), **summary})
        return
    counts = ", ".join(f"{name} {summary[name]}" for name in ("hosts", "switches", "links", "flows"))
    starts = f"starts from {summary['first_start_s']:g} s to {summary['last_start_s']:g} s"
    busiest = f"{summary['busiest_receiver_bytes']} of them to {summary['busiest_receiver']}"
    click.echo(f"{counts}; {starts}; {summary['bytes']} bytes, {busiest}")
    click.echo(f"Next: pushout run {place(str(out))}")
