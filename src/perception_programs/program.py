"""The schema of a perception program: items (p, c, r, b) and relations between them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ._arrays import describe, is_series
from ._plain import (
    DIGITS,
    Meta,
    optional_text,
    plain_identifier,
    plain_number,
    plain_text,
    rounded,
    unique_keys,
)
from .errors import InputError
from .geometry import FRAME, Grid

if TYPE_CHECKING:
    from PIL import Image

    from .images import ImageLike

__all__ = [
    "DEEPEST",
    "RELIABILITY_PLACES",
    "Identifier",
    "Item",
    "PerceptionProgram",
    "Reading",
    "Relation",
    "numbers_in",
]

Identifier: TypeAlias = int | str
DEEPEST = 8
"""Programs inside the items of programs go at most so many levels down."""

RELIABILITY_PLACES = 3
"""Decimals of a reliability where those of a reading are asked for."""

Reading: TypeAlias = float | int | str | tuple[float | int | None, ...] | None


def _word(value: Any, name: str) -> str:
    word = plain_text(value, name, "a word")
    if not word.strip():
        raise InputError(f"{name}: expected a word, got {describe(value)}")
    return word


def _coordinate(value: Any) -> tuple[int, ...] | str | None:
    if value is None or isinstance(value, str):
        return optional_text(value, "c")
    if not is_series(value) or len(value) not in (2, 4):
        raise InputError(
            f"c: expected (x, y), (x0, y0, x1, y1), a name or None, got {describe(value)}"
        )
    numbers = tuple(plain_number(v, "c") for v in value)
    for number in numbers:
        if not isinstance(number, int) or not 0 <= number <= FRAME:
            raise InputError(f"c: expected integers from 0 to {FRAME}, got {describe(value)}")
    if len(numbers) == 4 and (numbers[0] > numbers[2] or numbers[1] > numbers[3]):
        raise InputError(f"c: expected x0 <= x1 and y0 <= y1, got {describe(value)}")
    return tuple(int(n) for n in numbers)


def _reading(value: Any) -> Reading:
    if value is None or isinstance(value, str):
        return optional_text(value, "r")
    if is_series(value):
        if len(value) == 0:
            raise InputError("r: expected at least one number, got an empty series")
        return tuple(None if v is None else plain_number(v, "r") for v in value)
    return plain_number(value, "r")


def numbers_in(reading: Reading) -> tuple[float | int, ...]:
    """The numbers of a reading that could be read; none in a word.

    >>> numbers_in((0.25, None)), numbers_in(0.5), numbers_in("left")
    ((0.25,), (0.5,), ())
    """
    if isinstance(reading, tuple):
        return tuple(number for number in reading if number is not None)
    return (reading,) if isinstance(reading, float | int) else ()


def _reliability(value: Any) -> float | str | None:
    if value is None or isinstance(value, str):
        return optional_text(value, "q")
    number = plain_number(value, "q")
    if not 0 <= number <= 1:
        raise InputError(f"q: expected a number from 0 to 1 or plain words, got {describe(value)}")
    return number


def _check_parts(parts: Any) -> None:
    if parts is None:
        return
    if not isinstance(parts, PerceptionProgram):
        raise InputError(f"parts: expected a PerceptionProgram or None, got {describe(parts)}")
    if _levels(parts) > DEEPEST:
        raise InputError(f"parts: expected at most {DEEPEST} levels of programs, got more")


def _levels(program: PerceptionProgram) -> int:
    """How many levels of parts there are, this program's own items included."""
    return 1 + max(
        (_levels(item.parts) for item in program.items if item.parts is not None), default=0
    )


@dataclass(frozen=True, repr=False)
class Item:
    """One primitive of a program.

    Attributes:
        p: identifier: a cell number, a letter, the name of a border; None where the label says it.
        c: (x, y) or (x0, y0, x1, y1), integers in the 0-1000 frame; or the name of the target that
            the reading is about.
        r: the reading: a number, a word, several numbers (None for one that could not be read), or
            None where nothing could be read.
        b: label, or None.
        i: which image or candidate it belongs to, or None when there is only one.
        q: how far the reading can be relied on: a number from 0 (not at all) to 1, a few plain
            words, or None where nothing is said.
        parts: a program about this item alone, such as the cells of an object, or None. Its
            identifiers are its own; its coordinates are in the frame of the same image.

    Raises:
        InputError: a coordinate outside the frame, a number that is not finite, another type,
            parts nested more than `DEEPEST` levels.
    """

    p: Identifier | None = None
    c: tuple[int, ...] | str | None = None
    r: Reading = None
    b: str | None = None
    i: str | None = None
    q: float | str | None = None
    parts: PerceptionProgram | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "p", None if self.p is None else plain_identifier(self.p, "p"))
        set_field(self, "c", _coordinate(self.c))
        set_field(self, "r", _reading(self.r))
        set_field(self, "b", optional_text(self.b, "b"))
        set_field(self, "i", optional_text(self.i, "i"))
        set_field(self, "q", _reliability(self.q))
        _check_parts(self.parts)

    def __repr__(self) -> str:
        named = ((f.name, getattr(self, f.name)) for f in fields(self))
        said = (f"{n}={v!r}" for n, v in named if v is not None or n in ("p", "c", "r"))
        return f"Item({', '.join(said)})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `b`, `i`, `q` and `parts` only where there are some."""
        row = {"p": self.p, "c": _listed(self.c), "r": _listed(self.r)}
        rest = (("b", self.b), ("i", self.i), ("q", self.q))
        row |= {key: value for key, value in rest if value is not None}
        return row if self.parts is None else {**row, "parts": self.parts.to_dict()}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Relation:
    """A triple: the item `subject` stands in the relation `predicate` to the item `object`."""

    subject: Identifier
    predicate: str
    object: Identifier

    def __post_init__(self) -> None:
        object.__setattr__(self, "subject", plain_identifier(self.subject, "subject"))
        object.__setattr__(self, "object", plain_identifier(self.object, "object"))
        object.__setattr__(self, "predicate", _word(self.predicate, "predicate"))


@dataclass(frozen=True)
class PerceptionProgram:
    """A tool's output as text a language model can read.

    Attributes:
        modality: what was measured: `depth`, `flow`, …
        granularity: what an item stands for: `patch`, `keypoint`, `bounding-box`, …
        items: the primitives.
        relations: triples between items.
        grid: the grid whose cells the items are, or None.
        note: what the fields mean, in one paragraph.
        meta: where it came from (expert, sizes, units, what was masked or cut). Not part of
            equality: it is in JSON always and in text only when asked for.
        images: the pictures it is about, when known; only for display, never written out.
        style: the style that `str(program)` prints; only for display, never written out.

    Raises:
        InputError: an item or relation of the wrong kind, two items with one identifier, a relation
            to an item that does not exist, a cell number beyond the grid.
    """

    modality: str
    granularity: str
    items: tuple[Item, ...]
    relations: tuple[Relation, ...] = ()
    grid: Grid | None = None
    note: str | None = None
    meta: Mapping[str, Any] = field(default_factory=Meta, compare=False)
    images: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    style: str = field(default="paper", compare=False, repr=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "modality", _word(self.modality, "modality"))
        set_field(self, "granularity", _word(self.granularity, "granularity"))
        set_field(self, "items", _all_of(Item, self.items, "items"))
        set_field(self, "relations", _all_of(Relation, self.relations, "relations"))
        set_field(self, "grid", None if self.grid is None else Grid.of(self.grid))
        set_field(self, "note", optional_text(self.note, "note"))
        set_field(self, "meta", self.meta if isinstance(self.meta, Meta) else Meta(self.meta))
        if not isinstance(self.images, (tuple, list)):
            raise InputError(f"images: expected a tuple of pictures, got {describe(self.images)}")
        set_field(self, "images", tuple(self.images))
        set_field(self, "style", _word(self.style, "style"))
        _check_identifiers(self)

    def __str__(self) -> str:
        return self.to_text()

    def __len__(self) -> int:
        return len(self.items)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "images": ()}

    def __copy__(self) -> PerceptionProgram:
        return replace(self)  # with its pictures, which pickling leaves behind

    def __deepcopy__(self, memo: Any) -> PerceptionProgram:
        return replace(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of everything but the pictures."""
        return {
            "modality": self.modality,
            "granularity": self.granularity,
            "grid": None if self.grid is None else {"rows": self.grid.rows, "cols": self.grid.cols},
            "note": self.note,
            "items": [item.to_dict() for item in self.items],
            "relations": [[r.subject, r.predicate, r.object] for r in self.relations],
            "meta": Meta(self.meta).to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PerceptionProgram:
        """The inverse of `to_dict`.

        Raises:
            InputError: a key that is missing or unknown, or a value that the schema refuses; the
                message says which item.
        """
        if not isinstance(data, Mapping):
            raise InputError(f"program: expected a mapping, got {describe(data)}")
        _check_keys(
            data,
            "program",
            ("modality", "granularity", "items"),
            ("grid", "note", "relations", "meta"),
        )
        grid = data.get("grid")
        if grid is not None:
            _check_keys(grid, "grid", ("rows", "cols"), ())
            grid = Grid(grid["rows"], grid["cols"])
        items, relations = data["items"], data.get("relations", [])
        for name, rows in (("items", items), ("relations", relations)):
            if not isinstance(rows, Sequence) or isinstance(rows, (str, bytes, bytearray)):
                raise InputError(f"{name}: expected a list, got {describe(rows)}")
        meta = data.get("meta") or {}
        if not isinstance(meta, Mapping):
            raise InputError(f"meta: expected a mapping, got {describe(meta)}")
        return cls(
            modality=data["modality"],
            granularity=data["granularity"],
            items=tuple(item_from(row, f"item {n}") for n, row in enumerate(items, 1)),
            relations=tuple(
                relation_from(row, f"relation {n}") for n, row in enumerate(relations, 1)
            ),
            grid=grid,
            note=data.get("note"),
            meta=meta,
        )

    def to_json(self, *, indent: int | None = None) -> str:
        """The program as JSON, in ASCII, with every digit and its `meta`."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> PerceptionProgram:
        """The inverse of `to_json`.

        Raises:
            InputError: not JSON (with the line), or not a program.
        """
        if not isinstance(text, (str, bytes, bytearray)):
            raise InputError(f"program: expected JSON text, got {describe(text)}")
        try:
            data = json.loads(text, object_pairs_hook=unique_keys)
        except InputError:
            raise
        except (ValueError, RecursionError) as error:
            raise InputError(f"program: expected JSON: {error}") from error
        return cls.from_dict(data)

    def to_text(self, style: str | None = None, *, meta: bool = False) -> str:
        """The program as the block a prompt includes.

        Args:
            style: `paper` (the published block, valid YAML between its tags), `compact` (the same facts
                in a fraction of the tokens) or `json`; by default the program's own, which is `paper`
                unless it was given another.
            meta: whether to print where it came from; JSON has it always.
        """
        from .text import render

        return render(self, self.style if style is None else style, meta=meta)

    @classmethod
    def from_text(cls, text: str) -> PerceptionProgram:
        """The one program in a text, in any style, with whatever prose around it.

        Raises:
            InputError: no block, several (`all_from_text` reads those), or a broken one, with the
                line where it breaks.
        """
        from .text import parse_one

        return parse_one(text)

    @classmethod
    def all_from_text(cls, text: str) -> list[PerceptionProgram]:
        """Every program in a text, in order; an empty list when there is none."""
        from .text import parse_all

        return parse_all(text)

    def rounded(self, digits: int = DIGITS, *, places: int | None = None) -> PerceptionProgram:
        """The program at the precision of text: `from_text(str(p)) == p.rounded()`.

        Args:
            digits: significant digits of readings and reliabilities; those of the style `paper`.
            places: decimals of readings instead, in place of significant digits; reliabilities then
                have `RELIABILITY_PLACES`. `perception_programs.text.compact.places(program)` says how
                many the style `compact` keeps.
        """

        def short(value: Any, decimals: int | None) -> Any:
            if isinstance(value, tuple):
                return tuple(short(v, decimals) for v in value)
            if not isinstance(value, float):
                return value
            return rounded(value, digits) if decimals is None else round(value, decimals)

        reliability = None if places is None else RELIABILITY_PLACES
        items = tuple(
            replace(
                item,
                r=short(item.r, places),
                q=short(item.q, reliability),
                parts=None if item.parts is None else item.parts.rounded(digits, places=places),
            )
            for item in self.items
        )
        return replace(self, items=items)

    def fit(
        self,
        max_tokens: int,
        count: Callable[[str], int] | None = None,
        *,
        style: str | None = None,
        around: Iterable[tuple[float, float]] = (),
    ) -> PerceptionProgram:
        """The program at no more than `max_tokens`, having given up as little as that takes.

        Args:
            max_tokens: the budget for the whole block, tags and note included.
            count: a text's number of tokens; by default an estimate that needs no tokenizer.
            style: the one style that is allowed; by default `paper` if that fits, else `compact`.
            around: places in the 0-1000 frame near which matches matter most.

        Returns:
            A program whose `str` was counted; `meta["fit"]` says what was given up, and in which steps
            that goes is said at `perception_programs.fitting.fit`.

        Raises:
            InputError: the budget is too small for anything honest.
        """
        from .fitting import fit

        return fit(self, max_tokens, count, style=style, around=around)

    def with_images(self, *images: ImageLike) -> PerceptionProgram:
        """The same program, knowing the picture or pictures it is about, for overlays and notebooks."""
        return replace(self, images=images)

    def overlay(self, image: ImageLike = None, second: ImageLike = None) -> Image.Image:
        """The program drawn on its picture.

        Args:
            image: the picture; the known one when not given.
            second: the other picture, for correspondence and semantic programs.

        Raises:
            InputError: no picture is given or known.
        """
        from .view import overlay

        return overlay(self, image, second)

    def _repr_html_(self) -> str:
        from .view import to_html

        return to_html(self)

    def _repr_markdown_(self) -> str:
        from .view import to_markdown

        return to_markdown(self)


def _all_of(kind: type, values: Iterable[Any], name: str) -> tuple[Any, ...]:
    if not isinstance(values, Iterable) or isinstance(values, (str, Mapping)):
        raise InputError(f"{name}: expected {kind.__name__}s, got {describe(values)}")
    result = tuple(values)
    for value in result:
        if not isinstance(value, kind):
            raise InputError(f"{name}: expected {kind.__name__}s, got {describe(value)}")
    return result


def _check_identifiers(program: PerceptionProgram) -> None:
    seen = set()
    for item in program.items:
        if item.p is None:
            continue
        # The candidate, or the target that c names, tells apart items about the same border or cell.
        key = (item.i, item.p, item.c if isinstance(item.c, str) else None)
        if key in seen:
            raise InputError(
                f"items: expected one item for each identifier, got p {item.p!r} twice"
            )
        seen.add(key)
        if (
            program.grid is not None
            and isinstance(item.p, int)
            and not 1 <= item.p <= program.grid.count
        ):
            raise InputError(f"items: expected p from 1 to {program.grid.count}, got {item.p}")
    known = {p for _, p, _ in seen}
    for relation in program.relations:
        for end in (relation.subject, relation.object):
            if end not in known:
                raise InputError(f"relations: expected the p of an item, got {end!r}")


def item_from(row: Any, name: str) -> Item:
    """An item from its dict; errors begin with `name`."""
    _check_keys(row, name, (), ("p", "c", "r", "b", "i", "q", "parts"))
    try:
        if row.get("parts") is not None:
            row = {**row, "parts": _parts_from(row["parts"])}
        return Item(**row)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _parts_from(data: Any) -> PerceptionProgram:
    try:
        return PerceptionProgram.from_dict(data)
    except InputError as error:
        raise InputError(f"parts: {error}") from None


def relation_from(row: Any, name: str) -> Relation:
    """A relation from its list of three; errors begin with `name`."""
    if not is_series(row) or len(row) != 3:
        raise InputError(f"{name}: expected [subject, predicate, object], got {describe(row)}")
    try:
        return Relation(*row)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _check_keys(data: Any, name: str, needed: tuple[str, ...], optional: tuple[str, ...]) -> None:
    if not isinstance(data, Mapping):
        raise InputError(f"{name}: expected a mapping, got {describe(data)}")
    for key in needed:
        if key not in data:
            raise InputError(
                f"{name}: expected the key {key!r}, got {', '.join(map(str, data))[:80] or 'none'}"
            )
    for key in data:
        if key not in (*needed, *optional):
            raise InputError(
                f"{name}: expected keys {', '.join((*needed, *optional))}, got {str(key)[:60]!r}"
            )
