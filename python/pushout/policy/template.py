"""A policy and its tests to start from."""

POLICY = '''"""{title}: describe here what it refuses, and why."""

from pushout import policy


@policy.admission(asks="frame", params={{"threshold": policy.level("80 %")}})
def {name}(x):
    """Refuse a frame that meets the threshold (True), accept any other (False)."""
    return x.total >= x.threshold
'''

TESTS = '''"""Tests of {name}: pytest test_{name}.py"""

from pathlib import Path

import pushout
from pushout import policy
from pushout.policy.conformance import faults

PROGRAM = policy.read(str(Path(__file__).with_name("{name}.py")))
SHORT = {{"duration": "1 s", "flows.start_spread": "20 ms"}}


def test_it_conforms():
    assert list(faults(PROGRAM)) == []


def test_a_lower_threshold_keeps_the_queue_shorter():
    assert occupancy("20 %") < occupancy("90 %")


def occupancy(threshold):
    result = pushout.run("w1-cell", policies={{"bottleneck": PROGRAM(threshold=threshold)}}, set=SHORT)
    return result["ports.bottleneck.occupancy_mean"]
'''


def files(name: str) -> dict[str, str]:
    """The files of a new policy, by name."""
    title = name.replace("_", " ").capitalize()
    return {f"{name}.py": POLICY.format(name=name, title=title), f"test_{name}.py": TESTS.format(name=name)}
