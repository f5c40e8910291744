"""Execute one run in a separate process, to measure its memory: `python -m pushout.bench.worker run SCENARIO`.

Prints one JSON line. Only the event loop is timed, not reading the scenario, building the network or reporting.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.errors import ScenarioError


def peak_bytes() -> int | None:
    """Read the peak memory of this process, if the system tells it; getrusage would include the parent's."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(kilobytes) * 1024


def floor(cells: int) -> dict[str, Any]:
    """Time `cells` cells without a simulation around them."""
    return {"wall_s": _core.floor(cells), "cell_hops": cells, "rss_bytes": peak_bytes()}


def simulate(path: str, sets: list[str]) -> dict[str, Any]:
    """Measure one run of a scenario."""
    text = Path(path).read_text(encoding="utf-8")
    before = peak_bytes()
    result = _core.Scenario(text, path, sets, None).run(None, False, None, _core.Reached())
    after = peak_bytes()
    document = json.loads(result)
    engine, flows = document["engine"], len(document["flows"])  # none where all flows are transfers
    return {
        "wall_s": engine["wall_s"],
        "sim_s": document["duration_s"],
        "cell_hops": engine["cell_hops"],
        "packet_hops": engine["packet_hops"],
        "goodput_bps": document["summary"]["goodput_bps"],
        "rss_bytes": after,
        "bytes_per_flow": None if before is None or after is None or not flows else (after - before) / flows,
    }


def main(arguments: list[str]) -> None:
    """Execute `floor CELLS` or `run SCENARIO [SET]…`."""
    what, first, *sets = arguments
    try:
        sample = floor(int(first)) if what == "floor" else simulate(first, sets)
    except (ScenarioError, OSError) as error:
        sys.exit(str(error))
    sys.stdout.write(json.dumps(sample) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
