"""Policies written in Python: translated once to a program that is part of the scenario, and run by the simulator.

    from pushout import policy

    @policy.admission(asks="frame", params={"threshold": policy.level("80 %")})
    def my_epd(x):
        return x.total >= x.threshold  # True: refuse the frame

    pushout.run("lan", policies={"bottleneck": my_epd})

The function is never called: its text is translated. What a program can look at, and what it can compute, says the page
of the policy `program` (`pushout list schemes program`).
"""

from pushout.policy.attributes import ATTRIBUTES
from pushout.policy.controls import congestion
from pushout.policy.file import read
from pushout.policy.parameters import Parameter, level, number, rate, time, whole
from pushout.policy.program import Program, admission, overrides
from pushout.policy.queues import pushout, scheduler

__all__ = [
    "ATTRIBUTES",
    "Parameter",
    "Program",
    "admission",
    "congestion",
    "level",
    "mark",
    "number",
    "overrides",
    "pushout",
    "rate",
    "read",
    "scheduler",
    "time",
    "whole",
]

mark = "mark"
"""The answer of a policy that accepts the unit with a congestion mark."""
