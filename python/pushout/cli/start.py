"""The command `pushout init`."""

import keyword
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pushout.cli.completion import shipped_names
from pushout.cli.listing import named
from pushout.cli.options import CELL, FAILURE, FOLDER, JSON, QOS, Whole
from pushout.cli.streams import echo_json, tell, tell_left_out
from pushout.excerpt import place, quoted

if TYPE_CHECKING:
    from pushout.switch.sonic import Traffic

FIRST = "lan"
"""The default scenario to start from."""

SCHEMA = "scenario.schema.json"


def _policy_name(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is not None and (not value.isidentifier() or keyword.iskeyword(value)):
        raise click.BadParameter(f"the value must be a name of letters, digits and underscores, not {quoted(value)}")
    return value


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--scenario",
    "name",
    metavar="NAME",
    default=FIRST,
    show_default=True,
    shell_complete=shipped_names,
    help="The shipped scenario to start from.",
)
@click.option(
    "--policy", metavar="NAME", callback=_policy_name, help="Write NAME.py instead, a policy, with its tests."
)
@click.option(
    "--sonic",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Or write switch.toml, with the memory that tables of SONiC describe (buffers.json, config_db.json).",
)
@QOS
@CELL
@click.option(
    "--queue", type=Whole(0, 63), metavar="N", help="Send only the traffic of this queue, as its WRED_PROFILE marks it."
)
@click.option(
    "--senders",
    type=Whole(1, 4096),
    metavar="N",
    help="Ports of the switch that send to one (default: all others, at most 16).",
)
@click.option(
    "--rtt", metavar="TIME", help="Base round trip of its hosts, as in '30 us' (default: that of the cables)."
)
@click.option("--mtu", type=Whole(64, 65_535), metavar="BYTES", help="Frames of the classes that lose nothing.")
@click.option(
    "--other",
    type=Whole(64, 65_535),
    metavar="BYTES",
    help="Largest frame of other classes, which delays a pause (default: the mtu of its port).",
)
@JSON
def init(
    folder: Path,
    name: str,
    policy: str | None,
    sonic: Path | None,
    qos: Path | None,
    cell: int | None,
    queue: int | None,
    senders: int | None,
    rtt: str | None,
    mtu: int | None,
    other: int | None,
    as_json: bool,
) -> None:
    """Copy a shipped scenario into a folder as a starting point.

    Also copies the files that it names, the sweeps that name it, and the schema with which an editor completes and
    checks scenarios. Existing files are not overwritten.
    """
    from pushout.cache import write
    from pushout.switch.sonic import Traffic

    left_out: list[str] = []
    decisions: list[str] = []
    if sonic is not None:
        texts, following, left_out, decisions = _switch(
            folder, sonic, qos, cell, Traffic(queue, senders, rtt, mtu, other)
        )
    else:
        only = {"--senders": senders, "--rtt": rtt, "--mtu": mtu, "--other": other}
        if given := next((option for option, value in only.items() if value is not None), None):
            raise click.UsageError(f"{given} belongs to --sonic FILE: give the tables of the switch as well")
        texts, following = _policy(policy) if policy else _scenario(name)
    if there := [file for file in texts if (folder / file).exists()]:
        tell(f"{place(str(folder / there[0]))}: exists already and is not overwritten; name another folder")
        raise click.exceptions.Exit(FAILURE)
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        write(folder / file, text)
    tell_left_out(left_out)
    if as_json:
        more = {"left_out": left_out, "decisions": decisions}
        found = {"folder": str(folder), "files": list(texts), **{key: lines for key, lines in more.items() if lines}}
        echo_json(found)
        return
    for line in decisions:
        tell(line)
    for file in texts:
        click.echo(place(str(folder / file)))
    commands = (f"pushout {verb} {place(str(folder / first))}" for verb, first in following)
    click.echo(f"Next: {', or '.join(commands)}")


Following = list[tuple[str, str]]
"""The commands that may follow: each a verb, and a file of the folder."""


def _scenario(name: str) -> tuple[dict[str, str], Following]:
    """The files of a shipped scenario, and the command that follows."""
    from pushout import reading
    from pushout.cli.streams import json_text

    chosen = named(name)
    texts = {each.file.name: each.text(f"./{SCHEMA}") for each in (chosen, *chosen.neighbours())}
    texts[SCHEMA] = json_text(reading.schema()) + "\n"
    return texts, [("sweep" if chosen.kind == "sweep" else "run", chosen.file.name)]


def _policy(name: str) -> tuple[dict[str, str], Following]:
    """The files of a new policy, and the command that follows."""
    from pushout.policy.template import files

    return files(name), [("explain --check", f"{name}.py")]


def _switch(
    folder: Path, buffers: Path, qos: Path | None, cell: int | None, traffic: "Traffic"
) -> tuple[dict[str, str], Following, list[str], list[str]]:
    """The files of a switch as its tables describe it, what follows, what the files lack, and what was decided."""
    from pushout import reading
    from pushout.cli.streams import json_text
    from pushout.scenario import written
    from pushout.switch import sonic
    from pushout.switch.rows import origin

    files = [buffers, *([qos] if qos is not None else [])]
    found = sonic.named(sonic.read(files, cell, traffic), folder)
    reading.validate(found.scenario)
    text = f"#:schema ./{SCHEMA}\n\n{origin(files, found.facts, found.left_out)}{written(found.scenario)}"
    file = sonic.SCENARIO
    texts = {file: text, SCHEMA: json_text(reading.schema()) + "\n"}
    following = [("switch predict", file)]
    if sweep := sonic.sweep_of(found, file):
        texts[sonic.SWEEP] = sweep
        following.insert(0, ("sweep", sonic.SWEEP))
    return texts, following, found.left_out, found.decisions
