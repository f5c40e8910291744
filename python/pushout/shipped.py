"""The files that come with Pushout: `scenarios`, `studies` and `benchmarks`.

In a clone they are its own folders. A wheel has copies of them inside the package, which `packaging/backend.py` makes.
"""

import os
from pathlib import Path

_PACKAGE = Path(__file__).parent
_CLONE = _PACKAGE.parent.parent

ROOT = _CLONE if (_CLONE / "pyproject.toml").is_file() else _PACKAGE / "shipped"
"""The folder that has them."""

SCENARIOS, STUDIES, BENCHMARKS = (ROOT / name for name in ("scenarios", "studies", "benchmarks"))


def typed(path: Path) -> str:
    """A path as one would type it in the folder of the clone, or in the current one."""
    real = path.resolve()
    if real.is_relative_to(ROOT.resolve()):
        return real.relative_to(ROOT.resolve()).as_posix()
    return os.path.relpath(real) if real.is_relative_to(Path.cwd()) else str(real)
