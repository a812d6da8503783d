"""Figures, drawn without matplotlib's global state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import MissingExtraError, install_command

__all__ = ["BLUE", "GREY", "ORANGE", "new_figure", "save"]

# Told apart by people who are colour-blind too (Okabe and Ito, 2008).
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b6b6b"


def new_figure(x: str, y: str, *, title: str | None = None) -> tuple[Any, Any]:
    """A figure and its axes, whose axes are named `x` and `y`.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtraError(f"plots need matplotlib: {install_command('eval')}") from None
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlabel=x, ylabel=y)
    if title is not None:
        axes.set_title(title, fontsize=10)
    axes.grid(color="#e3e3e3", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, path: Path) -> Path:
    """Write a figure as PNG, with a legend above it for what is labelled."""
    if figure.axes[0].get_legend_handles_labels()[1]:
        figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    return path
