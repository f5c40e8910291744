"""Build wheels with scenarios, studies, benchmarks and two pages inside the package; maturin does everything else.

maturin packs only what lies in the package, and those folders lie at the top of the clone, where people look for them.
So they are copied for as long as a wheel is built, and so is the page of the lab if it has been built. An editable
installation uses those of the clone (`pushout/shipped.py`).
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import maturin
from maturin import (  # noqa: F401  (what a build front end calls)
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

ROOT = Path(__file__).parent.parent
COPIES = ROOT / "python" / "pushout" / "shipped"
FOLDERS = ("scenarios", "studies", "benchmarks")
LIMITS = ROOT / "docs" / "limits.md"
"""The page to which messages about what is not modelled lead."""
PAGE = ROOT / "target" / "lab" / "lab.html"
"""The page of the lab, if `make lab` has built it."""


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel into a folder; its name."""
    with _copies():
        return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


@contextmanager
def _copies() -> Iterator[None]:
    try:
        for folder in FOLDERS:
            shutil.copytree(ROOT / folder, COPIES / folder, ignore=shutil.ignore_patterns("__pycache__"))
        for page in (LIMITS, PAGE):
            if page.is_file():
                shutil.copy(page, COPIES)
        yield
    finally:
        shutil.rmtree(COPIES, ignore_errors=True)
