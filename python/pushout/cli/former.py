"""Former names of commands, which work for one release and name the new ones."""

from pushout.cli.streams import tell

NAMES = {
    "validate": ("explain", "--check"),
    "check": ("explain", "--check"),
    "policies": ("list", "schemes"),
    "scenarios": ("list", "scenarios"),
    "schema": ("list", "--schema"),
    "merge": ("sweep", "merge"),
    "headroom": ("switch", "headroom"),
    "chip": ("switch",),
}
"""What stands for each of them."""


def renewed(args: list[str], *, quiet: bool) -> list[str]:
    """Return the arguments with the new name, and say so unless a shell asks for completions."""
    name, *rest = args
    new = ("worst",) if name == "check" and "--worst" in rest else NAMES[name]
    if new == ("worst",):
        rest = _worst(rest)
    if not quiet:
        tell(f"note: pushout {name} is now pushout {' '.join(new)}; the former name works until the next release")
    return [*new, *rest]


def _worst(rest: list[str]) -> list[str]:
    """Return the arguments of `check --worst` for `worst`, which has no default size of the memory."""
    given = [word for word in rest if word != "--worst"]
    has_memory = any(word.partition("=")[0] == "--memory" for word in given)
    return given if has_memory else [*given, "--memory", "8"]
