"""The contenders: this simulator and the installed peers."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pushout.bench.workloads import FLOOR, FLOOR_CELLS, Workload
from pushout.shipped import BENCHMARKS

OURS = "pushout"

NS3_FOLDER = "PUSHOUT_NS3"
"""Environment variable: a built ns-3, with `include/ns3` and `lib` or `lib64`."""
NS3_MODULES = (
    "applications",
    "internet",
    "network",
    "core",
    "nix-vector-routing",
    "point-to-point",
    "traffic-control",
)


class MissingError(Exception):
    """A peer cannot take part: the reason, and how to install it."""

    def __init__(self, peer: str, why: str, install: str) -> None:
        super().__init__(f"{peer}: {why}; {install}")
        self.peer, self.why, self.install = peer, why, install


@dataclass(frozen=True)
class Contender:
    """A simulator in one variant, and the command that runs a workload on it."""

    name: str
    variant: str
    program: tuple[str, ...]
    prefix: str = ""
    """The prefix of each parameter."""
    fixed: tuple[str, ...] = ()
    """Arguments of the variant."""

    def command(self, workload: Workload) -> list[str] | None:
        """Return the command; None if the workload does not suit this contender."""
        if self.name == OURS:
            what = ("floor", str(FLOOR_CELLS)) if workload.id == FLOOR else ("run", str(workload.path), *workload.sets)
            return [*self.program, *what]
        if self.name not in workload.peers:
            return None
        return [*self.program, *self.fixed, *self._parameters(workload.dumbbell)]

    def _parameters(self, dumbbell: Mapping[str, float]) -> Iterator[str]:
        for key, value in dumbbell.items():
            yield f"{self.prefix}{key}={value}"


def ours() -> list[Contender]:
    """Our own engine."""
    return [Contender(OURS, "fast", (sys.executable, "-m", "pushout.bench.worker"))]


def ns2(_folder: Path) -> list[Contender]:
    """ns-2 with its two schedulers of events."""
    program = shutil.which("ns")
    if program is None:
        raise MissingError("ns-2", "the command ns is missing", "Debian, Ubuntu: apt install ns2")
    script = str(BENCHMARKS / "ns2" / "dumbbell.tcl")
    return [Contender("ns-2", kind, (program, script), "", (f"scheduler={kind}",)) for kind in ("List", "Calendar")]


def ns3(folder: Path) -> list[Contender]:
    """ns-3 with its default scheduler; the scenario is compiled into `folder`."""
    program, version = ns3_program(folder, "dumbbell")
    return [Contender("ns-3", f"{version} Map", (program,), "--", ("--scheduler=Map",))]


def ns3_program(folder: Path, name: str) -> tuple[str, str]:
    """Compile a program of `benchmarks/ns3` into a folder: where it is, and the version of ns-3."""
    install = f"pip install ns3, or set {NS3_FOLDER} to the folder of a built ns-3 (3.44 is known to work)"
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        raise MissingError("ns-3", "a C++ compiler is missing", "Debian, Ubuntu: apt install g++")
    home = _ns3_home()
    if home is None:
        raise MissingError("ns-3", "not installed", install)
    cores = sorted(home.glob("lib*/libns3*-core*.so"))
    if not cores:
        raise MissingError("ns-3", f"{home} holds no libns3*-core*.so", install)
    core, program = cores[0], folder / f"ns3-{name}"
    names = [core.stem.removeprefix("lib").replace("-core", f"-{module}") for module in NS3_MODULES]
    source = str(BENCHMARKS / "ns3" / f"{name}.cc")
    where = (f"-I{home / 'include'}", f"-L{core.parent}", f"-Wl,-rpath,{core.parent}")
    libraries = (f"-l{library}" for library in names)
    command = [compiler, "-O3", "-std=c++20", source, "-o", str(program), *where, *libraries]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise MissingError("ns-3", f"the scenario does not compile against {home}: {_last_line(done.stderr)}", install)
    return str(program.resolve()), core.stem.removeprefix("libns").split("-")[0]


def _ns3_home() -> Path | None:
    if NS3_FOLDER in os.environ:
        return Path(os.environ[NS3_FOLDER])
    package = importlib.util.find_spec("ns3")
    places = [Path(place) for place in (package.submodule_search_locations or ())] if package else []
    return next((place for place in places if (place / "include" / "ns3").is_dir()), None)


def _last_line(text: str) -> str:
    errors = [line for line in text.splitlines() if "error" in line] or text.splitlines()
    return errors[0].strip() if errors else "no message"


PEERS = {"ns-2": ns2, "ns-3": ns3}
