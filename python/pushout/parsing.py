"""JSON from outside, which may be damaged."""

import json
from typing import Any


def parsed(text: str | bytes) -> Any:
    """What a JSON text says; whatever is wrong with it, nesting too deep for Python included, is a `ValueError`."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
