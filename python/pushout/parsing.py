"""Parse foreign JSON, which may be damaged."""

import json
from typing import Any


def parsed(text: str | bytes) -> Any:
    """Parse a JSON text; every fault, including nesting too deep for Python, raises `ValueError`."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
