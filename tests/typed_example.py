"""What an editor shows of the results: checked by mypy, never run."""

from typing import assert_type

import pushout
from pushout.question.compare import CompareResult
from pushout.question.sized import SizeResult
from pushout.result import Result
from pushout.stats import Interval
from pushout.types import Flow, Number, Summary

found = pushout.run("lan", reps=2, set={"duration": "1 s"})
flows: list[Flow] = found.document["flows"]
assert_type(flows[0]["goodput_bps"], Number)
assert_type(found.document["summary"], Summary)
assert_type(found.warnings[0]["code"], str)
compared = pushout.Scenario("lan").compare("epd,ppd", reps=2)
assert_type(compared, CompareResult)
assert_type(compared["epd"]["goodput_ratio"], Interval | None)
assert_type(pushout.Scenario("lan").run(seed=2), Result)
assert_type(pushout.size("lan", "goodput_ratio >= 0.9", over="port.bottleneck.buffer"), SizeResult)
assert_type(pushout.sweep({"scenario": "lan"}).means("goodput_ratio"), list[Interval | None])
assert_type(compared.places[0].name, str)
found.document["no_such_part"]  # type: ignore[typeddict-item]
pushout.run("lan", sed=2)  # type: ignore[call-arg]
