"""The vision tools of a run: which expert measures what, and where the marked points are."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .._arrays import describe
from .._plain import decimals
from ..chat._checkpoint import digest
from ..errors import InputError, ToolError
from ..experts import available, load, registry
from ..experts.base import Card, Expert, installed_version
from ..geometry import Grid
from ..program import PerceptionProgram
from ..programs import points_program
from ..results import Points
from .samples import Sample

if TYPE_CHECKING:
    from .coordinates import Coordinates
    from .recipes import Recipe

__all__ = ["Answered", "Chosen", "Marks", "Tools"]

Chosen: TypeAlias = str | Expert
"""The name of an expert, or an expert of one's own, which is used as it is."""

_SHAPES = {"points": "rings", "boxes": "boxes"}  # what `markers` calls them


@dataclass(eq=False)
class Answered:
    """An expert that has answered: called again with the same input it gives the same result.

    A converter that is given it as its `expert` makes the program of that result and says whose it is,
    and the result is there to be drawn too.

    Attributes:
        card: of the expert.
        result: what it answered.
    """

    card: Card
    result: Any

    def __call__(self, *images: Any, **options: Any) -> Any:
        """The result."""
        return self.result

    def batch(self, *images: Any, **options: Any) -> list[Any]:
        """The result, for the one input that it is of."""
        return [self.result]


@dataclass(frozen=True, eq=False)
class Marks:
    """The points or boxes that are drawn on a picture.

    Attributes:
        points: where they are.
        program: the same as a program.
    """

    points: Points
    program: PerceptionProgram

    @property
    def places(self) -> dict[str, tuple[float, ...]]:
        """Each letter's (x, y), or (x0, y0, x1, y1), in pixels."""
        values = self.points.points if self.points.boxes is None else self.points.boxes
        return dict(zip(self.points.labels, map(tuple, decimals(values)), strict=True))


class Tools:
    """What recipes gather their evidence with.

    Each expert is loaded when a sample first needs it, and once. A recipe names the expert that the
    paper used; another must be chosen, none is ever taken in its place.

    Args:
        expert: the expert for its modality in place of the recipe's: a name (`dis`, `sift`), an
            expert object, or several of either, at most one a modality. Objects are called as they
            are; their results are not cached.
        coordinates: where the points and boxes are that are drawn on the pictures; those of other
            pictures are found by `markers`.
        grid: cells a side of depth and flow programs, or (rows, cols).
        relations: whether depth programs have relations; a number keeps at most so many.
        matches: at most so many matches, the surest; None for all.
        cache: whether the results of named experts are kept on disk, or the folder.
        device: where experts with a model run.
        weights: a local folder or file, in place of the download of the one expert with a model.

    Raises:
        InputError: two experts for one modality, no expert of that name, or an option that is none.

    >>> Tools("dis", grid=16)
    Tools(flow='dis', grid=16×16)
    """

    def __init__(
        self,
        expert: Chosen | Iterable[Chosen] | None = None,
        *,
        coordinates: Coordinates | None = None,
        grid: Any = 10,
        relations: bool | int = False,
        matches: int | None = None,
        cache: bool | str | os.PathLike[str] = True,
        device: str = "auto",
        weights: str | os.PathLike[str] | None = None,
    ) -> None:
        if matches is not None and (isinstance(matches, bool) or not matches >= 1):
            raise InputError(f"matches: expected 1 or more, or None for all, got {matches!r}")
        self.chosen = _by_modality(expert)
        self.coordinates = coordinates
        self.grid = Grid.of(grid)
        self.relations = relations
        self.matches = matches
        self._cache, self._device, self._weights = cache, device, weights
        self._loaded: dict[tuple[str, str], Expert] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        names = [f"{kind}={_card(one).name!r}" for kind, one in self.chosen.items()]
        return f"Tools({', '.join([*names, f'grid={self.grid.rows}×{self.grid.cols}'])})"

    @property
    def chosen_names(self) -> dict[str, str]:
        """The names of the experts that were chosen, by modality."""
        return {modality: _card(one).name for modality, one in self.chosen.items()}

    def settings(self, recipe: Recipe) -> dict[str, Any]:
        """Plain data of everything that decides the evidence for a task; nothing is loaded for it."""
        return {
            "experts": {
                modality: self._about(self.chosen.get(modality, name))
                for modality, name in recipe.experts.items()
            },
            "grid": [self.grid.rows, self.grid.cols],
            "relations": self.relations,
            "matches": self.matches,
            "coordinates": None if self.coordinates is None else self.coordinates.digest,
        }

    def check(self, recipe: Recipe) -> None:
        """Refuse a task whose experts cannot be had, before any sample is asked about.

        Raises:
            MissingExtraError: what an expert needs is not installed.
            WeightsError: its weights cannot be had.
        """
        for modality, name in recipe.experts.items():
            choice = self.chosen.get(modality, name)
            if isinstance(choice, str):
                registry.check(choice, weights=self._weights)

    def ask(self, modality: str, name: str, *inputs: Any, **options: Any) -> Answered:
        """The result of an expert for some pictures.

        Args:
            modality: what shall be measured.
            name: the recipe's expert for it, which is asked unless another was chosen.
            inputs: what the expert is called with.
            options: named arguments of the call.

        Raises:
            MissingExtraError: what the expert needs is not installed.
            WeightsError: its weights cannot be had.
            ToolError: it failed on this input.
        """
        expert = self._expert(modality, name)
        return Answered(expert.card, expert(*inputs, **options))

    def points(self, sample: Sample, image: int, letters: Sequence[str]) -> Marks:
        """The lettered points that are drawn on a picture.

        Args:
            sample: the question.
            image: which of its pictures, counted from 1.
            letters: what must be found, no more and no less.

        Raises:
            ToolError: other letters were found.
            InputError: the coordinates given for this picture are others.
        """
        return self._marks(sample, image, letters, "points")

    def boxes(self, sample: Sample, image: int, letters: Sequence[str]) -> Marks:
        """The lettered boxes that are drawn on a picture; otherwise as `points`."""
        return self._marks(sample, image, letters, "boxes")

    def _marks(self, sample: Sample, image: int, letters: Sequence[str], what: str) -> Marks:
        picture = sample.images[image - 1].load()
        given = self._given(sample, image, letters, what)
        if given is not None:
            assert self.coordinates is not None
            try:
                points = Points.from_dict(given, (picture.shape[1], picture.shape[0]))
            except InputError as error:
                raise InputError(f"coordinates: {sample.id}, image {image}: {error}") from None
            program = points_program(points)
            meta = {"coordinates": self.coordinates.digest, **program.meta}
            return Marks(points, replace(program, meta=meta, images=(picture,)))
        expert = self._expert("points", "markers", shape=_SHAPES[what])
        points = _checked(expert, expert(picture), sample, image, letters, what)
        return Marks(points, points_program(picture, expert=Answered(expert.card, points)))

    def _given(
        self, sample: Sample, image: int, letters: Sequence[str], what: str
    ) -> dict[str, Any] | None:
        """The places that the user gave for a picture, in the order of the letters, or None."""
        if self.coordinates is None:
            return None
        kinds = {"points": self.coordinates.points, "boxes": self.coordinates.boxes}
        found = {kind: read(sample.id, image) for kind, read in kinds.items()}
        if not any(found.values()):
            return None
        places = found[what]
        if places is None:
            got = next(kind for kind, value in found.items() if value is not None)
            raise InputError(f"coordinates: {sample.id}, image {image}: expected {what}, got {got}")
        if sorted(places) != sorted(letters):
            raise InputError(
                f"coordinates: {sample.id}, image {image}: expected {what} {', '.join(letters)}, "
                f"got {', '.join(places) or 'none'}"
            )
        return {letter: places[letter] for letter in letters}

    def _expert(self, modality: str, name: str, **options: Any) -> Expert:
        """The expert for a modality; `options` are for one that is loaded by name."""
        choice = self.chosen.get(modality, name)
        if not isinstance(choice, str):
            return choice
        key = choice, repr(sorted(options.items()))
        with self._lock:
            if key not in self._loaded:
                if available()[choice].card.extra is not None:  # it has a model
                    options |= {"device": self._device, "weights": self._weights}
                self._loaded[key] = load(choice, cache=self._cache, **options)
            return self._loaded[key]

    def _about(self, choice: Chosen) -> dict[str, Any]:
        """What a run's configuration says of an expert."""
        card = _card(choice)
        about = {
            "name": card.name,
            "library": card.library,
            "version": installed_version(card.library),
            "checkpoint": card.checkpoint,
        }
        if self._weights is not None and isinstance(choice, str) and card.extra is not None:
            about["checkpoint"] = f"local:{Path(self._weights).resolve().name}"
            about["digest"] = self._digest
        return about

    @functools.cached_property
    def _digest(self) -> str:
        """What tells the weights on this machine from others of their name."""
        assert self._weights is not None
        if not Path(self._weights).exists():
            raise InputError(f"weights: no file or folder {os.fspath(self._weights)!r}")
        return digest(self._weights)


def _by_modality(expert: Chosen | Iterable[Chosen] | None) -> dict[str, Chosen]:
    if expert is None:
        return {}
    choices: Iterable[Chosen] = [expert] if isinstance(expert, (str, Expert)) else expert
    if not isinstance(choices, Iterable):
        raise InputError(f"expert: expected a name or an expert, got {describe(choices)}")
    chosen: dict[str, Chosen] = {}
    for one in choices:
        card = _card(one)
        if card.modality in chosen:
            raise InputError(
                f"expert: expected one for {card.modality}, got {_card(chosen[card.modality]).name!r} "
                f"and {card.name!r}"
            )
        chosen[card.modality] = one
    return chosen


def _card(choice: Chosen) -> Card:
    if isinstance(choice, str):
        if choice not in available():
            _check_beginning(choice)
            load(choice)  # its error names the nearest
        return available()[choice].card
    if isinstance(choice, type) or not isinstance(choice, Expert):
        raise InputError(f"expert: expected a name or an expert, got {describe(choice)}")
    return choice.card


def _check_beginning(choice: str) -> None:
    """Refuse what several experts' names begin with, which is near to none of them."""
    begun = [name for name in available() if choice and name.startswith(choice.lower())]
    if begun:
        raise InputError(f"expert: no {choice!r}; did you mean {' or '.join(map(repr, begun))}?")


def _checked(
    expert: Expert, found: Any, sample: Sample, image: int, letters: Sequence[str], what: str
) -> Points:
    """What an expert found, in the order of the letters, if it is what must be there."""
    if not isinstance(found, Points):
        raise ToolError(f"expert {expert.card.name!r}: expected Points, got {describe(found)}")
    places = found.points if what == "points" else found.boxes
    labels = found.labels if places is not None else ()
    if sorted(labels) != sorted(letters):
        example = "[x, y]" if what == "points" else "[x0, y0, x1, y1]"
        raise ToolError(
            f"{sample.id}, image {image} ({sample.images[image - 1].name}): expected {what} "
            f"{', '.join(letters)}, {expert.card.name!r} found {', '.join(labels) or 'none'}; say where "
            "they are with a file of coordinates, which has for this picture the line "
            f'{{"id": "{sample.id}", "image": {image}, "{what}": {{"{letters[0]}": {example}, …}}}}'
        )
    rows = [labels.index(letter) for letter in letters]
    return replace(found, **{what: places[rows]}, labels=tuple(letters))
