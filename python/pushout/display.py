"""Print results as the commands do: on terminals, pages and in notebooks. Every module that makes results loads it."""

from typing import TYPE_CHECKING

from pushout.answer.frame import display
from pushout.counterfactual import WhyResult
from pushout.question.compare import CompareResult
from pushout.question.sized import SizeResult
from pushout.question.sweep import SweepResult
from pushout.result import Result
from pushout.switch.explain import ExplainResult
from pushout.switch.headroom import HeadroomResult
from pushout.switch.predict import ChipResult
from pushout.tracing import TraceResult
from pushout.worst_case.ratio import WorstResult

if TYPE_CHECKING:
    from rich.console import Console


@display.register(Result)
@display.register(TraceResult)
def _run(result: Result | TraceResult, console: "Console") -> None:
    from pushout.show import result as show

    show.result(result.document, console)
    for warned in result.document.get("warnings", []):
        console.print(f"warning: {warned['message']}", style="bold")


@display.register(CompareResult)
@display.register(SizeResult)
@display.register(SweepResult)
def _answer(result: CompareResult | SizeResult | SweepResult, console: "Console") -> None:
    from pushout.show import answers as show

    show.answer(result, None, console)


@display.register(ChipResult)
def _chip(result: ChipResult, console: "Console") -> None:
    from pushout.show import chip as show

    show.predicted(result, console)


@display.register(ExplainResult)
def _explained(result: ExplainResult, console: "Console") -> None:
    from pushout.show import chip as show

    show.explained(result, console)


@display.register(HeadroomResult)
def _headroom(result: HeadroomResult, console: "Console") -> None:
    from pushout.show import headroom as show

    show.headroom(result, console)


@display.register(WhyResult)
def _why(result: WhyResult, console: "Console") -> None:
    from pushout.show import why as show

    show.why(result, console)


@display.register(WorstResult)
def _worst(result: WorstResult, console: "Console") -> None:
    from pushout.show import worst as show

    show.worst(result, console)
