"""Print warnings once, to standard error."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pushout.cli.streams import tell
from pushout.excerpt import place

if TYPE_CHECKING:
    from pushout.warning import Warned


def warn(warnings: "Iterable[Warned]", *, about: str = "") -> None:
    """Print a line for each warning; `about` names the file, if there may be several."""
    for warned in warnings:
        tell(f"{place(about)}{': ' * bool(about)}warning: {warned['message']}")
