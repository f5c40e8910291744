"""The group of all commands: each is loaded on demand, and a misspelt name suggests the nearest one."""

from importlib import import_module

import click

from pushout.cli import former
from pushout.cli.examples import EXAMPLES

GROUPS = {
    "Ask": {
        "run": ("run", "Simulate a scenario and print loss, delay and throughput."),
        "compare": ("questions", "Run several policies under the same traffic, side by side."),
        "size": ("questions", "Find the smallest buffer, threshold or weight for a goal."),
        "sweep": ("questions", "Run a grid of settings; sweep merge joins parts of machines."),
        "why": ("why", "Find the earlier decision that would have saved a lost packet."),
        "worst": ("worst", "Prove the worst case of a policy: ratio, never, delay, grid."),
    },
    "Look": {
        "plot": ("plot", "Draw queues, losses and windows of one run or several."),
        "lab": ("lab", "Watch a run packet by packet in the browser."),
        "explain": ("explain", "Print a scenario; --check tests it, a sweep or a policy.py."),
        "list": ("listing", "List schemes, scenarios, figures, limits; --schema."),
    },
    "Model": {
        "init": ("start", "Begin a folder with a scenario, or a policy in Python."),
        "import": ("importing", "Make a scenario of a capture or another tool's files."),
    },
    "Bring a switch, a paper, an assistant": {
        "switch": ("switch", "Predict or explain counters of a chip, check its headroom."),
        "reproduce": ("reproduce", "Run a published study and compare with its numbers."),
        "mcp": ("mcp", "Offer the verbs as tools to a language model."),
    },
    "Make measurements of speed": {
        "bench": ("bench", "Measure the speed of Pushout and of installed peers."),
    },
}
"""The verbs in the groups and the order of the help, with their modules and what they do."""

MODULES = {verb: module for verbs in GROUPS.values() for verb, (module, _) in verbs.items()}

KEYWORDS = {"import": "import_", "list": "list_"}
"""The functions of commands whose name means something else in Python."""

BELOW = {"sweep merge": "questions"}
"""Commands below a verb that is a command as well, and their modules."""


def load(name: str) -> click.Command:
    """Load the command of this name, of one word or two, and add an example to its help."""
    if name in BELOW:
        below: click.Command = getattr(import_module(f"pushout.cli.{BELOW[name]}"), name.split()[1])
        return below
    command: click.Command = getattr(import_module(f"pushout.cli.{MODULES[name]}"), KEYWORDS.get(name, name))
    command.epilog = f"\b\nExample:\n  {EXAMPLES[name]}"
    return command


class Group(click.Group):
    """A group that loads its commands on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of all commands."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name, if it exists."""
        return load(cmd_name) if cmd_name in MODULES else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with their first sentences, group by group."""
        widest = max(map(len, MODULES))
        for title, verbs in GROUPS.items():
            rows = [(verb.ljust(widest), summary) for verb, (_, summary) in verbs.items()]
            with formatter.section(title):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names, or the first two; a former name stands for a new one."""
        if args[0] in former.NAMES and args[0] not in MODULES:
            args = former.renewed(args, quiet=ctx.resilient_parsing)
        name = args[0]
        if (both := " ".join(args[:2])) in BELOW:
            return both, load(both), args[2:]
        if not name.startswith("-") and name not in MODULES:
            from pushout import _core

            raise click.UsageError(_core.unknown("command", name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)
