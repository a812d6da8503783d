"""Reports of runs: the paper's Table 1 for the runs at hand, and every sample to look at."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import InputError
from .coordinates import Coordinates
from .report_data import Effort, Line, Pair, Report, Score, build_report
from .report_page import to_html
from .report_text import to_csv, to_markdown
from .run_tables import RunTable, read_runs
from .samples import Sample

__all__ = [
    "Effort",
    "Line",
    "Pair",
    "Report",
    "RunTable",
    "Score",
    "build_report",
    "read_runs",
    "to_csv",
    "to_html",
    "to_markdown",
    "write",
]


def write(
    report: Report,
    path: str | os.PathLike[str],
    samples: Mapping[str, Sequence[Sample]] | None = None,
    *,
    redraw: bool = False,
    coordinates: Coordinates | None = None,
) -> None:
    """Write a report as what the file's name ends in.

    Args:
        report: the report.
        path: a file that ends in `.md`, `.csv` or `.html`; one that is there is overwritten, and
            folders that are not there are made.
        samples: the questions of each task, for the pictures of a page; other files have none.
        redraw: whether a page has the pictures of the setting `tool` too, drawn again as `to_html` does.
        coordinates: for those, where a run had coordinates from a file.

    Raises:
        InputError: another suffix.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".md":
        text = to_markdown(report)
    elif suffix == ".csv":
        text = to_csv(report)
    elif suffix == ".html":
        text = to_html(report, samples, redraw=redraw, coordinates=coordinates)
    else:
        raise InputError(f"report: expected a name in .md, .csv or .html, got {path.name!r}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
