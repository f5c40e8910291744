"""Check a built wheel: its name, its size, what is in it, and that it runs wherever its name says.

check.py WHEEL [--without-lab]
"""

import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

LIMIT = 6_500_000
"""A larger wheel (bytes) has something in it that does not belong there.

The module takes about 3.7 MB without a profile, the page of the lab 1.6 MB and the rest 0.9 MB.
"""

NAME = re.compile(
    r"pushout-\d+\.\d+\.\d+(\.dev\d+)?-cp311-abi3-(manylinux2014_x86_64\.manylinux_2_17_x86_64|manylinux2014_aarch64\.manylinux_2_17_aarch64"
    r"|musllinux_1_2_(x86_64|aarch64)|macosx_\d+_\d+_(x86_64|arm64|universal2)|win_amd64)\.whl"
)
"""One wheel for every Python from 3.11 on, for every Linux since 2014, for Alpine since 3.13, for macOS or Windows."""

FOLDERS = ("scenarios", "studies", "benchmarks/ns2", "benchmarks/ns3")
"""What of the clone has to be in it."""

LAB = "pushout/shipped/lab.html"
PAGES = (LAB, "pushout/shipped/limits.md")
"""Pages that commands show: `pushout lab`, and what is not modelled."""

WITHOUT_LAB = "--without-lab"

ROOT = Path(__file__).parent.parent
TOOLS = Path(sys.executable).parent


def main(wheel: Path, without: frozenset[str] = frozenset()) -> None:
    """Check everything; the first fault ends the program."""
    _demand(NAME.fullmatch(wheel.name) is not None, f"{wheel.name} is not the name of a portable wheel")
    _demand(wheel.stat().st_size <= LIMIT, f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LIMIT}")
    with zipfile.ZipFile(wheel) as archive:
        check_files(set(archive.namelist()) | without)
        module = archive.read("pushout/_core.pyd" if "-win_" in wheel.name else "pushout/_core.abi3.so")
    for path in (ROOT, Path.home()):
        _demand(f"{path}/".encode() not in module, f"the module names a folder of this machine: {path}")
    if sys.platform == "linux":
        _check_stripped(module)
        _check_platform(wheel)
    subprocess.run([TOOLS / "abi3audit", "--strict", wheel], check=True)  # noqa: S603
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.2f} MB, checked")


def check_files(names: set[str]) -> None:
    """Everything that is shipped is there, and nothing that is not."""
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.*"):
            if "__pycache__" in file.parts:
                continue
            name = f"pushout/shipped/{file.relative_to(ROOT).as_posix()}"
            _demand(name in names, f"{name} is missing")
    for page in PAGES:
        why = ": run make lab first, or make wheel LAB_PAGE=no for a wheel without it" if page == LAB else ""
        _demand(page in names, f"{page} is missing{why}")
    strange = [name for name in names if "__pycache__" in name or not name.startswith(("pushout/", "pushout-"))]
    _demand(not strange, f"this does not belong into a wheel: {strange}")
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        _demand(any(name.endswith(f".dist-info/licenses/{licence}") for name in names), f"{licence} is missing")


def _check_stripped(module: bytes) -> None:
    """The module has nothing that is for debuggers alone."""
    from elftools.elf.elffile import ELFFile

    sections = [section.name for section in ELFFile(io.BytesIO(module)).iter_sections()]
    left = [name for name in sections if name == ".symtab" or name.startswith(".debug")]
    _demand(not left, f"the module is not stripped: it has {', '.join(left)}")


def _check_platform(wheel: Path) -> None:
    """The module needs no newer system library than the name says."""
    shown = subprocess.run(  # noqa: S603
        [TOOLS / "auditwheel", "show", wheel], check=True, capture_output=True, text=True
    ).stdout
    _demand(('"musllinux_1_2_' if "-musllinux_" in wheel.name else '"manylinux_2_17_') in shown, shown)


def _demand(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"wheel: {what}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), frozenset({LAB} if WITHOUT_LAB in sys.argv else ()))
