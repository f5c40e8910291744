"""The command line: related commands share a file, and `show` prints their results.

Each command loads its slow modules itself.
"""

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from pushout.cli import completion, interrupt, streams
from pushout.cli.group import Group
from pushout.cli.options import BAD_SCENARIO, FAILURE, INTERNAL, INTERRUPTED, OK, TERMINATED, USAGE, worded
from pushout.errors import InternalError, MissingExtraError, PushoutError
from pushout.excerpt import excerpt, fitted, masked, quoted
from pushout.running import are_running


def _version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    """Print the version of the simulator, which is also that of the package and faster to obtain."""
    if asked and not context.resilient_parsing:
        from pushout import _core

        click.echo(f"pushout {_core.VERSION}")
        context.exit()


@click.group(
    cls=Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
@click.pass_context
def cli(context: click.Context) -> None:
    """A laboratory for buffer management at switches.

    A SCENARIO is a TOML or JSON file, or the name of one that comes with Pushout (pushout list scenarios); -
    reads the standard input.

    \b
    Start here:
      pushout run lan                      run a shipped scenario
      pushout plot lan --out lan.png       draw its queue and its losses
      pushout compare lan --policies tail-drop,epd
      pushout init my-lab                  a folder with a scenario of your own
    """  # noqa: D301  (click takes the character as "leave the lines as they are")
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


USAGE_MESSAGE = 200
"""Largest number of characters of a usage error; the usage line precedes it."""


class _Terminate:
    """Handler for SIGTERM, which batch schedulers send: the process ends as after Ctrl-C."""

    asked = False  # the exception is not enough: Ray raises its own instead

    def __call__(self, *_: object) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # ignore a second signal while finished runs are saved
        self.asked = True
        raise KeyboardInterrupt


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    terminate = _Terminate()
    try:
        streams.prepare()
        if (completed := completion.answer(cli)) is not None:
            sys.exit(completed)
        if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminate)
        status = _run(list(sys.argv[1:] if args is None else args))
        if args is None:  # nothing is left to be interrupted but the end of the interpreter
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        _leave(TERMINATED if terminate.asked else INTERRUPTED, interrupt.said())
    except BrokenPipeError:  # the reader of a message has gone
        streams.drop()
        status = FAILURE
    if (status != OK and are_running()) or (args is None and _has_foreign_threads()):
        _leave(status)
    sys.exit(status)


def _has_foreign_threads() -> bool:
    """Return whether a thread runs for which the interpreter would wait, as one that the file of a policy started."""
    if (running := sys.modules.get("threading")) is None:  # no command has needed it
        return False
    return any(not each.daemon and each is not running.main_thread() for each in running.enumerate())


def _leave(status: int, message: str = "") -> NoReturn:
    """End the process at once: running simulations cannot be stopped, and the interpreter would wait for them."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # ignore a second Ctrl-C
        if message:
            streams.tell(message)
        sys.stdout.flush()
    except (OSError, KeyboardInterrupt):
        pass  # the reader of the message has gone, or does not want it
    finally:
        os._exit(status)


def _scarce(error: Exception) -> str:
    """Name the resource that the system lacks, if an error says so."""
    if isinstance(error, MemoryError):
        return "out of memory: use fewer threads (--jobs), fewer points or replications, or a shorter duration"
    if isinstance(error, ImportError):
        return f"{error.name or 'a library'}: cannot be loaded: {error}"
    return "out of threads: use fewer (--jobs)" if "start new thread" in str(error) else ""


def _place(text: str, args: list[str]) -> str:
    """Find the option whose value contains this text."""
    for before, argument in zip(["", *args], args, strict=False):
        if text in argument:
            option = argument.partition("=")[0] if argument.startswith("--") else before
            return option if option.startswith("--") else "an argument"
    return "an argument"


def _show(error: click.ClickException) -> None:
    """Print a usage error and the usage of the command."""
    if isinstance(error, click.UsageError) and error.ctx:
        click.echo(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} -h' for help.\n", err=True)
    streams.tell(f"Error: {excerpt(masked(error.format_message()), USAGE_MESSAGE)}{_of_scenario(error)}")


KEYS = ("duration", "warmup", "sample", "routing", "topology", "flows", "measure")
"""Keys of scenarios that are taken for options."""


INSTEAD = {
    "RngRun": "The seed is --seed N.",
    "link": "Lines are keys of the scenario, as in --set 'topology.bottleneck.rate=10 Mb/s'.",
    "over": "A sweep is a file whose [grid] has what it varies; pushout size has --over.",
    "pcap": "Write every packet with --trace pcapng.",
    "topo": "A scenario has its network in it: pushout init writes one to begin with.",
}
"""What has another name here, by what users of ns-3, mininet and others type as an option."""


def _of_scenario(error: click.ClickException) -> str:
    """Say how to change a key of the scenario that is given as an option; else empty."""
    if not isinstance(error, click.NoSuchOption) or not error.ctx:
        return ""
    key, options = error.option_name.removeprefix("--"), [opt for each in error.ctx.command.params for opt in each.opts]
    if key in INSTEAD:
        return f" {INSTEAD[key]}"
    return f" It is a key of the scenario: --set '{key}=…' changes it." if key in KEYS and "--set" in options else ""


def _run(args: list[str]) -> int:
    context = click.Context(cli)
    try:
        with cli.make_context("pushout", list(args), obj=args) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        _show(error)
        if "unexpected extra argument" in error.message and "--set" in args:
            click.echo("Quote a value that contains a space, as in --set 'duration=1 s'.", err=True)
        return USAGE
    except InternalError as error:
        streams.tell(str(error))
        return INTERNAL
    except MissingExtraError as error:
        streams.tell(str(error))
        return FAILURE
    except PushoutError as error:
        streams.tell(worded(error, context))
        streams.tell_further(error)
        return BAD_SCENARIO
    except UnicodeEncodeError as error:
        streams.tell(f"{_place(error.object[error.start], args)} must be UTF-8 text, not {quoted(error.object)}")
        return USAGE
    except (MemoryError, ImportError, RuntimeError) as error:
        if not (scarce := _scarce(error)):
            raise
        streams.tell(scarce)
        return FAILURE
    except BrokenPipeError:
        # The reader of the output, such as head, has closed the pipe.
        streams.drop()
        return FAILURE
    except OSError as error:
        # Existing files are replaced without error, so this is a file where a folder is needed.
        why = "is a file, not a folder" if isinstance(error, FileExistsError) else error.strerror or error
        if error.filename is None:
            streams.drop()
        streams.tell(fitted(f"{streams.place(error)}: {why}"))
        return FAILURE
    return OK
