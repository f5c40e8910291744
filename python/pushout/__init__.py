"""Pushout: a laboratory for buffer management at switches.

    import pushout

    result = pushout.run("scenarios/lan.toml", reps=10)
    print(result["summary.goodput_ratio"])  # {'mean': …, 'ci95': [lo, hi], 'n': 10}

`run` simulates and `plot` draws runs; `compare`, `sweep` and `size` ask questions of many runs, `why` of one frame.
`Scenario` is a scenario that is read, built or changed in Python; `load` lets one name files of other folders.
`validate` and `explain` read a scenario without running it, `schema` and `policies` say what a scenario may contain,
and `pushout.schemes` has it as classes; `pushout.policy` translates policies that are written in Python. A scenario
that cannot be read or run raises `ScenarioError` (of which `PolicyError` is about a policy in Python), a question that
cannot be answered `QuestionError` (of which `DesignError` is about a sweep), a figure that is not there `FigureError`,
and a mistake of the simulator itself `InternalError`: each of them is a `PushoutError`. Answers are tables, with
`to_polars()`, `to_pandas()` and `to_arrow()`, and but for traces all can `plot()`.
"""

from importlib import import_module

TYPE_CHECKING = False
"""As in `typing`, which takes longer to load than all the rest of this."""

if TYPE_CHECKING:
    from pushout import policy, schemes
    from pushout.api import (
        ChipResult,
        CompareResult,
        DelayResult,
        ExplainResult,
        HeadroomResult,
        NeverResult,
        Result,
        SizeResult,
        SweepResult,
        TraceResult,
        WhyResult,
        WorstResult,
        __version__,
        chip_explain,
        chip_predict,
        compare,
        explain,
        headroom,
        load,
        longest_delay,
        merge,
        never,
        plot,
        policies,
        run,
        schema,
        size,
        sweep,
        trace,
        validate,
        why,
        worst,
    )
    from pushout.errors import (
        DesignError,
        FigureError,
        InternalError,
        MissingExtraError,
        PolicyError,
        PushoutError,
        QuestionError,
        ScenarioError,
        ScenarioNotFoundError,
        StatesError,
    )
    from pushout.path import Path
    from pushout.scenario import Link, Scenario

__all__ = [
    "ChipResult",
    "CompareResult",
    "DelayResult",
    "DesignError",
    "ExplainResult",
    "FigureError",
    "HeadroomResult",
    "InternalError",
    "Link",
    "MissingExtraError",
    "NeverResult",
    "Path",
    "PolicyError",
    "PushoutError",
    "QuestionError",
    "Result",
    "Scenario",
    "ScenarioError",
    "ScenarioNotFoundError",
    "SizeResult",
    "StatesError",
    "SweepResult",
    "TraceResult",
    "WhyResult",
    "WorstResult",
    "__version__",
    "chip_explain",
    "chip_predict",
    "compare",
    "explain",
    "headroom",
    "load",
    "longest_delay",
    "merge",
    "never",
    "plot",
    "policies",
    "policy",
    "run",
    "schema",
    "schemes",
    "size",
    "sweep",
    "trace",
    "validate",
    "why",
    "worst",
]

_READING = ("explain", "load", "policies", "schema", "validate")
"""Functions that load little."""


def __getattr__(name: str) -> object:
    # The compiled module is loaded when first needed: `pushout --help` answers without it.
    if name in ("policy", "schemes"):
        return import_module(f"pushout.{name}")
    if name.endswith("Error") and name in __all__:
        return getattr(import_module("pushout.errors"), name)
    if name == "Path":
        return getattr(import_module("pushout.path"), name)
    if name in ("Link", "Scenario"):
        return getattr(import_module("pushout.scenario"), name)
    if name in __all__:
        return getattr(import_module("pushout.reading" if name in _READING else "pushout.api"), name)
    raise AttributeError(f"module 'pushout' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
