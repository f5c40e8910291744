"""The command line: a file for every few commands, and what they print in `show`.

What is slow to load is loaded by the command that needs it.
"""

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from pushout.cli import bench, completion, questions, reproduce, run, scenarios, start, streams
from pushout.cli.examples import EXAMPLES
from pushout.cli.group import Group
from pushout.cli.options import BAD_SCENARIO, FAILURE, INTERNAL, INTERRUPTED, OK, TERMINATED, USAGE, option
from pushout.errors import InternalError, MissingExtraError, PushoutError


def _version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    """Print the version of the simulator, which is that of the package; to look that up would take longer."""
    if asked and not context.resilient_parsing:
        from pushout import _core

        click.echo(f"pushout {_core.VERSION}")
        context.exit()


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
def cli() -> None:
    """A laboratory for buffer management at switches.

    A SCENARIO is a TOML or JSON file, or the name of one that comes with Pushout (pushout scenarios); - reads the
    standard input.
    """


COMMANDS = (
    run.run,
    start.scenarios,
    start.init,
    scenarios.validate,
    scenarios.explain,
    scenarios.schema,
    scenarios.policies,
    reproduce.reproduce,
    questions.compare,
    questions.sweep,
    questions.size,
    bench.bench,
)

for command in COMMANDS:
    command.epilog = f"\b\nExample:\n  {EXAMPLES[command.name or '']}"
    cli.add_command(command)


class _Terminate:
    """What SIGTERM, which batch schedulers send, calls: the process ends as after Ctrl-C."""

    asked = False  # the exception does not tell: Ray raises one of its own instead

    def __call__(self, *_: object) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough; what is finished is being kept
        self.asked = True
        raise KeyboardInterrupt


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    streams.prepare()
    if (completed := completion.answer(cli)) is not None:
        sys.exit(completed)
    terminate = _Terminate()
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)
    try:
        status = _run(list(sys.argv[1:] if args is None else args))
    except KeyboardInterrupt as interrupt:
        detail = f": {interrupt}" if str(interrupt) else ""
        click.echo(f"interrupted{detail}", err=True)
        sys.stdout.flush()
        # Simulations under way cannot be stopped; nobody waits for them.
        os._exit(TERMINATED if terminate.asked else INTERRUPTED)
    sys.exit(status)


def _run(args: list[str]) -> int:
    try:
        with cli.make_context("pushout", args) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show()
        if "unexpected extra argument" in error.message and "--set" in args:
            click.echo("A value with a space in it is quoted, as in --set 'duration=1 s'.", err=True)
        return USAGE
    except InternalError as error:
        click.echo(str(error), err=True)
        return INTERNAL
    except MissingExtraError as error:
        click.echo(str(error), err=True)
        return FAILURE
    except PushoutError as error:
        click.echo(error.told(option), err=True)
        return BAD_SCENARIO
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        streams.drop()
        return FAILURE
    except OSError as error:
        # Nothing is written but into folders, and files are replaced: what exists already is in the way of a folder.
        why = "is a file, not a folder" if isinstance(error, FileExistsError) else error.strerror or error
        if error.filename is None:
            streams.drop()
        click.echo(f"{streams.place(error)}: {why}", err=True)
        return FAILURE
    return OK
