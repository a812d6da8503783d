"""A run, with one bar that says how it goes, or a line now and then where no terminal shows it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType

from ..blink.run import Outcome, Run, Tally
from ..errors import MissingExtraError, install_command
from .tables import counted, table

__all__ = ["watch"]

_SHOWN_ERRORS = 5

# Without a terminal: a line after a tenth of the samples, but none of a run that is over at once, and
# one after some time of any progress.
_TENTH, _AT_ONCE, _LONG = 0.1, 2.0, 30.0  # share; seconds


def watch(run: Run) -> int:
    """Run to the end and print what came; 1 when some samples failed."""
    with _Bar(run) as bar:
        try:
            tallies = asyncio.run(_finished(run, bar))
        except KeyboardInterrupt:
            print(
                f"p2: interrupted, {bar.done} of {counted(bar.total, 'sample')} done; "
                "the same command goes on from here",
                file=sys.stderr,
            )
            raise
    print(_table(tallies))
    for tally in tallies:
        unknown = f"of ids that {tally.task} has no question of"
        for more, where in ((tally.beyond, f"past --limit {run.limit}"), (tally.unknown, unknown)):
            if more:
                print(
                    f"p2: {tally.task}.{tally.setting} has {counted(more, 'record')} more, {where}; "
                    "a report counts all",
                    file=sys.stderr,
                )
    failed = sum(tally.errors for tally in tallies)
    if failed:
        verb, which = ("is", "it") if failed == 1 else ("are", "them")
        print(
            f"p2: {counted(failed, 'sample')} failed and {verb} counted apart; the same command "
            f"tries {which} again",
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
        self.total = total * len(run.settings)
        # Without a terminal the bar is left out, and lines say how far it is.
        self._bar = tqdm(total=self.total, unit="sample", disable=None)
        self._tallies: dict[int, Tally] = {}
        self._errors = 0
        self._errors_of = f"{run.out}{os.sep}*.errors.jsonl"
        self._told = (0, time.monotonic())  # at how many samples, and when

    @property
    def done(self) -> int:
        """How many samples have a record."""
        return sum(tally.kept + tally.answered for tally in self._tallies.values())

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
        """Count what came."""
        before = len(self._tallies)
        self._tallies[id(outcome.tally)] = outcome.tally
        tallies = list(self._tallies.values())
        failed = sum(tally.errors for tally in tallies)
        shown = {"right": _share(tallies)}
        cost = sum(tally.cost for tally in tallies)
        shown |= {"cost": f"${cost:.2f}"} if cost else {}
        shown |= {"failed": str(failed)} if failed else {}
        self._bar.n = self.done + failed
        self._bar.set_postfix(shown, refresh=False)
        self._bar.update(0)
        if outcome.error is not None:
            self._tell(outcome.error)
        if len(tallies) > before:  # where the run begins, which is nothing to tell
            self._told = (self._bar.n, time.monotonic())
        elif self._bar.disable:
            self._tell_progress(shown)

    def _tell_progress(self, shown: Mapping[str, str]) -> None:
        count, moment = self._told
        done, seconds = self._bar.n, time.monotonic() - moment
        far = done - count >= _TENTH * self.total and seconds >= _AT_ONCE
        if far or seconds >= _LONG:
            self._told = (done, time.monotonic())
            rest = ", ".join(f"{name} {value}" for name, value in shown.items())
            share = 100 * done // self.total
            print(
                f"p2: {done} of {counted(self.total, 'sample')} ({share}%): {rest}", file=sys.stderr
            )

    def _tell(self, error: str) -> None:
        self._errors += 1
        if self._errors <= _SHOWN_ERRORS:
            self._bar.write(f"p2: {error}", file=sys.stderr)
        if self._errors == _SHOWN_ERRORS + 1:
            self._bar.write(f"p2: further errors are in {self._errors_of}", file=sys.stderr)


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
