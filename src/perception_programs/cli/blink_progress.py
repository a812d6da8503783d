"""A run, with one bar that says how it goes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from types import TracebackType

from ..blink.run import Outcome, Run, Tally
from ..errors import MissingExtraError, install_command
from .tables import table

__all__ = ["watch"]

_SHOWN_ERRORS = 5


def watch(run: Run) -> int:
    """Run to the end and print what came; 1 when some samples failed."""
    with _Bar(run) as bar:
        try:
            tallies = asyncio.run(_finished(run, bar))
        except KeyboardInterrupt:
            print("p2: interrupted; the same command goes on from here", file=sys.stderr)
            raise
    print(_table(tallies))
    failed = sum(tally.errors for tally in tallies)
    if failed:
        print(
            f"p2: {failed} samples failed and are counted apart; the same command tries them again",
            file=sys.stderr,
        )
    return 1 if failed else 0


async def _finished(run: Run, bar: _Bar) -> list[Tally]:
    try:
        return await run.go(bar.show)
    finally:
        close = getattr(run.model, "close", None)  # readers hold nothing
        if close is not None:
            await close()


class _Bar:
    """Samples done of all, with the accuracy so far and the cost."""

    def __init__(self, run: Run) -> None:
        try:
            from tqdm import tqdm
        except ModuleNotFoundError:
            raise MissingExtraError(f"a run needs tqdm: {install_command('eval')}") from None
        total = sum(len(run.selected(samples)) for samples in run.tasks)
        # Without a terminal the bar is left out; what fails is printed all the same.
        self._bar = tqdm(total=total * len(run.settings), unit="sample", disable=None)
        self._tallies: dict[int, Tally] = {}
        self._errors = 0

    def __enter__(self) -> _Bar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.close()

    def show(self, outcome: Outcome) -> None:
        """Count one sample."""
        self._tallies[id(outcome.tally)] = outcome.tally
        tallies = list(self._tallies.values())
        kept = sum(tally.kept for tally in tallies)
        answered = sum(tally.answered for tally in tallies)
        failed = sum(tally.errors for tally in tallies)
        self._bar.n = kept + answered + failed
        shown = {"right": _share(tallies)}
        cost = sum(tally.cost for tally in tallies)
        shown |= {"cost": f"${cost:.2f}"} if cost else {}
        shown |= {"failed": str(failed)} if failed else {}
        self._bar.set_postfix(shown, refresh=False)
        self._bar.update(0)
        if outcome.error is not None:
            self._tell(outcome.error)

    def _tell(self, error: str) -> None:
        self._errors += 1
        if self._errors <= _SHOWN_ERRORS:
            self._bar.write(f"p2: {error}", file=sys.stderr)
        if self._errors == _SHOWN_ERRORS:
            self._bar.write("p2: further errors are in the run's folder", file=sys.stderr)


def _share(tallies: Sequence[Tally]) -> str:
    scored = sum(tally.scored for tally in tallies)
    return f"{100 * sum(tally.correct for tally in tallies) / scored:.1f}%" if scored else "-"


def _table(tallies: Sequence[Tally]) -> str:
    rows = [("TASK", "SETTING", "DONE", "RIGHT", "UNPARSED", "FAILED")]
    for tally in tallies:
        done = tally.kept + tally.answered
        rows.append(
            (
                *(tally.task, tally.setting, str(done)),
                *(_share([tally]), str(tally.unparsed), str(tally.errors)),
            )
        )
    return table(rows)
