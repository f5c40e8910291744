"""The options that `sweep`, `compare` and `size` share: where runs are made and saved, and where the answer goes."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pushout.cli import interrupt
from pushout.cli.options import CACHE, CLUSTER, JOBS, JSON, PLACE, console, default_folder
from pushout.cli.page import HTML, write_page
from pushout.cli.streams import echo_json, tell
from pushout.cli.warn import warn
from pushout.errors import InternalError
from pushout.excerpt import place as shown_place

if TYPE_CHECKING:
    from pushout.question.compare import Comparison
    from pushout.question.session import Session
    from pushout.question.size import Sizing
    from pushout.show.answers import Answered

OUT = click.option("--out", type=PLACE, metavar="DIR", help="Folder for the results, or s3://BUCKET/FOLDER.")


@dataclass(frozen=True)
class Answering:
    """The values of the shared options."""

    out: str | None
    html: Path | None
    cache: Path | None
    jobs: int | None
    cluster: str | None
    as_json: bool

    def answer(self, asked: "Comparison | Sizing", verb: str, *, about: bool = False) -> None:
        """Answer a question about a scenario, by default in a folder named after the scenario and the verb."""
        warn(asked.warnings)
        place = self.out or default_folder(f"{asked.explained['name']}-{verb}")
        with self._replacing(place, about=about) as session:
            result = asked(session)
        warn(warned for warned in result.warnings if warned not in asked.warnings)
        self.give(result, place)

    def give(self, result: "Answered", place: str) -> None:
        """Print the answer as a document or as tables, and write its page."""
        if self.as_json:
            echo_json(result.document)
        else:
            from pushout.show import answers

            answers.answer(result, shown_place(place), console())
        write_page(self.html, result)

    @contextmanager
    def session(self, place: str, *, about: bool = False) -> Iterator["Session"]:
        """Open a session; finished runs are saved, even if the user interrupts or a run fails.

        `about`: the number of runs is an estimate.
        """
        if self.jobs is not None and self.cluster is not None:
            raise click.UsageError(
                "--jobs counts threads of this machine and cannot be used with --cluster: leave out one"
            )
        from pushout.options import Kept
        from pushout.progress import Progress
        from pushout.question.session import Session, default_cache
        from pushout.question.store import RUNS

        asked = Kept(out=place, cache=self.cache, jobs=self.jobs, cluster=self.cluster)
        runs = (self.cache or default_cache(place)) / RUNS
        interrupt.keeping(runs)
        with (
            Progress("runs", about=about) as progress,
            Session.open(asked, progress) as session,
        ):
            try:
                yield session
            except InternalError as error:
                raise InternalError(f"{error}\nNothing is lost: finished runs are saved in {runs}") from None

    @contextmanager
    def _replacing(self, place: str, *, about: bool) -> Iterator["Session"]:
        """Open a session in a folder named after its scenario; report if it replaces the answer to another question."""
        with self.session(place, about=about) as session:
            try:
                yield session
            finally:
                if session.out and session.out.replaced:
                    differs = ", ".join(session.out.replaced)
                    tell(
                        f"{session.out.place} held the answer to another question (it differs in {differs}); this "
                        "answer replaces it. Finished runs are saved; to keep both answers, give each a folder (--out)."
                    )


def shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a command, which gets their values as the argument `answering`."""

    @functools.wraps(command)
    def packed(**options: Any) -> None:
        shared = {field.name: options.pop(field.name) for field in fields(Answering)}
        command(answering=Answering(**shared), **options)

    for option in (JSON, CLUSTER, JOBS, CACHE, HTML, OUT):  # help lists them in the reverse order
        packed = option(packed)
    return packed
