"""`p2 vtb`: VisualToolBench, played, judged and reported."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from . import agents, models
from .command import Command
from .tables import counted

if TYPE_CHECKING:
    from ..visualtoolbench import Task
    from ..visualtoolbench.runs import Tally

__all__ = ["VTB"]

_SOURCE = "source.json"
_SUFFIXES = (".md", ".csv", ".html")


def _data_options(parser: argparse.ArgumentParser, default: str) -> None:
    group = parser.add_argument_group("which tasks")
    group.add_argument(
        "--source", metavar="PLACE", help=f"a parquet file or a folder of them ({default})"
    )
    group.add_argument("--revision", metavar="REV", help="of the hub's data set")
    group.add_argument(
        "--task", action="append", default=[], metavar="ID", help="this one; repeat it"
    )
    group.add_argument("--limit", type=int, metavar="N", help="the first N tasks")


def _run_options(parser: argparse.ArgumentParser) -> None:
    models.options(parser)
    _data_options(parser, "default: the hub's data set")
    group = parser.add_argument_group("how it is played")
    group.add_argument(
        "--setting",
        default="strong",
        metavar="NAME",
        help="strong (the default) or weak system prompt, no-vision-tool, no-tools, or programs: with "
        "tools whose findings are perception programs, besides",
    )
    group.add_argument(
        "--golden-history",
        action="store_true",
        help="later turns see the reference answers to earlier ones in place of the model's own",
    )
    group.add_argument(
        "--text-only",
        action="store_true",
        help="send no pictures, for a model that reads text alone",
    )
    group.add_argument(
        "--offline",
        action="store_true",
        help="no weather archive and no web pages, which are asked online",
    )
    group.add_argument(
        "--search",
        metavar="NAME",
        help="who searches the web: wikipedia, or brave with a key in BRAVE_API_KEY (default: nobody)",
    )
    _concurrency(group)
    group.add_argument(
        "--out", required=True, metavar="DIR", help="the run; the same command goes on there"
    )
    agents.tools(parser)


def _concurrency(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--concurrency", type=int, default=4, metavar="N", help="at once (default: 4)"
    )


def _run(args: argparse.Namespace) -> int:
    from ..harness.capabilities.page import WebPages
    from ..harness.capabilities.search import text_provider
    from ..sandbox import Sandbox
    from ..visualtoolbench.player import Player
    from ..visualtoolbench.runs import play_tasks
    from ..visualtoolbench.settings import SETTINGS
    from ..visualtoolbench.weather import OpenMeteo

    model = models.chosen_model(args)
    models.check_key(model)
    tasks, origin = _tasks(args, args.source)
    programs = args.setting in SETTINGS and SETTINGS[args.setting].programs
    args.rung = None
    player = Player(
        model,
        sandbox=Sandbox(),
        setting=args.setting,
        capabilities=agents.chosen_capabilities(args, model) if programs else (),
        search=None if args.search is None else text_provider(args.search),
        pages=None if args.offline else WebPages(),
        weather=None if args.offline else OpenMeteo(),
        golden_history=args.golden_history,
        text_only=args.text_only,
    )
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    _keep_source(out, args, origin)
    tell = _Progress(len(tasks), "task")
    return _finish(
        model, play_tasks(player, tasks, out, concurrency=args.concurrency, on_done=tell), "task"
    )


def _judge_options(parser: argparse.ArgumentParser) -> None:
    models.options(parser)
    _data_options(parser, "default: what the run was of")
    group = parser.add_argument_group("what is judged")
    group.add_argument(
        "--failures", action="store_true", help="also sort the failed tasks by what went wrong"
    )
    group.add_argument(
        "--labels",
        metavar="FILE",
        help="print how far the verdicts agree with people's: JSON lines of task, turn, criterion, met",
    )
    _concurrency(group)


def _judge(args: argparse.Namespace) -> int:
    from ..visualtoolbench import Judge
    from ..visualtoolbench.agreement import with_people
    from ..visualtoolbench.failures import sort_failures
    from ..visualtoolbench.results import read_run
    from ..visualtoolbench.runs import judge_plays

    out = _folder(args.files[0])
    model = models.chosen_model(args)
    models.check_key(model)
    tasks, _ = _tasks(args, args.source or _kept_source(out, args))
    judge = Judge(model, cache=out / "judged")
    tell = _Progress(sum(len(task.criteria) for task in tasks), "verdict")
    status = _finish(
        None, judge_plays(judge, tasks, out, concurrency=args.concurrency, on_done=tell), "verdict"
    )
    if args.failures:
        results = read_run(tasks, out).results
        done = asyncio.run(sort_failures(model, results, out, concurrency=args.concurrency))
        print(f"{counted(done, 'failure')} sorted")
    if args.labels is not None:
        told = with_people(out, Path(args.labels))
        shown = [
            "–" if value is None else f"{value:.3f}"
            for value in (told.accuracy, told.f1, told.kappa)
        ]
        print(
            f"agreement with people over {counted(told.n, 'verdict')}: accuracy {shown[0]}, F1 {shown[1]}, "
            f"Cohen's κ {shown[2]}"
        )
    asyncio.run(model.close())
    return status


def _report_options(parser: argparse.ArgumentParser) -> None:
    _data_options(parser, "default: what the first run was of")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write it there: .md, .csv or .html (default: Markdown, printed)",
    )


def _report(args: argparse.Namespace) -> int:
    from ..visualtoolbench.page import to_html
    from ..visualtoolbench.report import to_csv, to_markdown
    from ..visualtoolbench.results import read_run

    folders = [_folder(name) for name in args.files]
    suffix = ".md" if args.out is None else Path(args.out).suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            f"--out: expected a name that ends in .md, .csv or .html, got {args.out!r}"
        )
    tasks, _ = _tasks(args, args.source or _kept_source(folders[0], args))
    runs = [read_run(tasks, folder) for folder in folders]
    made = {".md": to_markdown, ".csv": to_csv, ".html": to_html}[suffix](runs)
    if args.out is None:
        print(made, end="")
    else:
        Path(args.out).write_text(made, encoding="utf-8", newline="\n")
    return 0


def _tasks(args: argparse.Namespace, source: str | None) -> tuple[list[Task], str]:
    from ..visualtoolbench.loading import REPOSITORY, load_tasks

    tasks, origin = load_tasks(source or REPOSITORY, revision=args.revision)
    if args.task:
        known = {task.id: task for task in tasks}
        unknown = [name for name in args.task if name not in known]
        if unknown:
            raise InputError(f"--task: no task is called {unknown[0]!r}")
        tasks = [known[name] for name in args.task]
    if args.limit is not None:
        if args.limit < 1:
            raise InputError(f"--limit: expected at least 1, got {args.limit}")
        tasks = tasks[: args.limit]
    return tasks, origin


def _keep_source(out: Path, args: argparse.Namespace, origin: str) -> None:
    source = None if args.source is None else str(Path(args.source).resolve())
    data = {"source": source, "revision": args.revision, "origin": origin}
    (out / _SOURCE).write_text(json.dumps(data), encoding="utf-8")


def _kept_source(out: Path, args: argparse.Namespace) -> str | None:
    """Where the tasks of a run are from; its revision becomes that of the arguments."""
    file = out / _SOURCE
    if not file.is_file():
        raise InputError(f"{out}: expected a run of p2 vtb run; or say --source")
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    args.revision = args.revision or kept.get("revision")
    source: str | None = kept.get("source")
    return source


def _folder(name: str) -> Path:
    if not name or not Path(name).is_dir():
        raise InputError(f"expected a run's folder, got {name!r}")
    return Path(name)


class _Progress:
    """A line now and then on standard error."""

    def __init__(self, total: int, noun: str) -> None:
        self._total, self._noun, self._done = total, noun, 0

    def __call__(self, _: Task) -> None:
        self._done += 1
        if self._done % max(1, self._total // 10) == 0:
            print(f"p2: {self._done} of {counted(self._total, self._noun)}", file=sys.stderr)


def _finish(model: Any, work: Any, noun: str) -> int:
    async def run() -> Tally:
        try:
            tally: Tally = await work
            return tally
        finally:
            if model is not None:
                await model.close()

    tally = asyncio.run(run())
    print(f"{counted(tally.done, noun)} done, {tally.new} of them now")
    if tally.failed:
        print(
            f"p2: {counted(tally.failed, noun)} failed, counted apart; the same command tries again",
            file=sys.stderr,
        )
    return 1 if tally.failed else 0


def _command(
    name: str,
    summary: str,
    example: str,
    takes: str,
    files: tuple[int, int | None] | None,
    add: Callable[[argparse.ArgumentParser], None],
    run: Callable[[argparse.Namespace], int],
) -> Command:
    return Command(f"vtb {name}", summary, example, takes, files, add, run)


VTB = (
    _command(
        "run",
        "play the tasks of VisualToolBench with a model and its tools",
        "p2 vtb run --model openai/gpt-5-mini --setting programs --limit 20 --out runs/programs",
        "Each round is written to --out as it ends. Stop it at any moment and give the same command again.",
        None,
        _run_options,
        _run,
    ),
    _command(
        "judge",
        "have a run's answers judged, criterion by criterion",
        "p2 vtb judge runs/programs --model openai/gpt-5 --temperature 0",
        "FILE is a folder of `p2 vtb run`. --model names the judge. No verdict is asked for twice.",
        (1, 1),
        _judge_options,
        _judge,
    ),
    _command(
        "report",
        "what came of some runs, beside the published rows",
        "p2 vtb report runs/strong runs/programs --out report.html",
        "FILE is a folder of `p2 vtb run` that was judged.",
        (1, None),
        _report_options,
        _report,
    ),
)
"""The commands."""
