"""The benchmark's tasks and rubrics, typed and checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._arrays import describe
from .._plain import unique_keys
from ..errors import InputError
from ..images import ImageLike

__all__ = ["DOMAINS", "Criterion", "Task", "Turn", "criteria_from", "domain_of"]

DOMAINS = ("STEM", "Medical", "Finance", "Sports", "Generalist")
"""The domains of the benchmark's tables."""

_SUBJECTS = (
    *("stem", "biology", "chemistry", "physics", "math", "mathematics", "engineering"),
    *("computer science", "earth science", "astronomy", "statistics"),
)
_HEAVY = 4  # the weight from which the paper calls a criterion critical
_FLAGS = {"yes": True, "no": False, "true": True, "false": False}


@dataclass(frozen=True)
class Criterion:
    """One thing that a good answer does.

    Attributes:
        id: its key in the rubric of its turn.
        description: what a judge looks for.
        weight: 1 to 5.
        critical: whether the data calls it so.
        final_answer: whether it is about the final answer.
        categories: what it tests, as the data says.
    """

    id: str
    description: str
    weight: int
    critical: bool
    final_answer: bool
    categories: tuple[str, ...] = ()

    @property
    def heavy(self) -> bool:
        """Whether the paper calls it critical: a weight of 4 or more."""
        return self.weight >= _HEAVY


@dataclass(frozen=True, eq=False)
class Turn:
    """One question of a task and what a good answer to it is.

    Attributes:
        prompt: what the user says.
        golden_answer: the answer of the data's authors.
        rubric: the criteria, at least one.
        images: the pictures that come with it, each a function that reads it: what it returns is in a
            form that `load_image` takes.
    """

    prompt: str
    golden_answer: str
    rubric: tuple[Criterion, ...]
    images: tuple[Callable[[], ImageLike], ...] = field(default=(), repr=False)


@dataclass(frozen=True, eq=False)
class Task:
    """A conversation of one or more turns.

    Attributes:
        id: unique in the data set.
        turns: in order.
        category: its subject, as the data says.
        focus: what it is about (`eval_focus`).
    """

    id: str
    turns: tuple[Turn, ...]
    category: str
    focus: str

    def __post_init__(self) -> None:
        if not self.turns:
            raise InputError(f"task {self.id}: expected at least one turn, got none")

    @property
    def domain(self) -> str:
        """One of `DOMAINS`, or the category itself where it belongs to none of them."""
        return domain_of(self.category)

    @property
    def multi(self) -> bool:
        """Whether it has more than one turn."""
        return len(self.turns) > 1

    @property
    def criteria(self) -> tuple[tuple[int, Criterion], ...]:
        """Each criterion with its turn, counted from 0."""
        return tuple((n, one) for n, turn in enumerate(self.turns) for one in turn.rubric)


def domain_of(category: str) -> str:
    """The domain of a category: its own, or STEM for a subject of science.

    >>> domain_of("physics"), domain_of("Sports"), domain_of("law")
    ('STEM', 'Sports', 'law')
    """
    name = " ".join(category.replace("_", " ").casefold().split())
    known = {domain.casefold(): domain for domain in DOMAINS} | dict.fromkeys(_SUBJECTS, "STEM")
    return known.get(name, category)


def criteria_from(rubric: Any, where: str) -> tuple[Criterion, ...]:
    """The criteria of one turn.

    Args:
        rubric: `{id: {"description": …, "weight": …, "critical": "yes", …}}`, as an object or as the
            JSON that the data has.
        where: the task and turn, for messages.

    Raises:
        InputError: it is something else, or has no criterion; the message begins with `where`.

    >>> [one] = criteria_from('{"1": {"description": "Says 12.", "weight": 5, "critical": "yes"}}', "t")
    >>> one.weight, one.critical, one.heavy
    (5, True, True)
    """
    data = rubric
    if isinstance(rubric, str):
        try:
            data = json.loads(rubric, object_pairs_hook=unique_keys)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: rubric: expected JSON: {error}") from None
    if not isinstance(data, Mapping) or not data:
        raise InputError(f"{where}: rubric: expected criteria by id, got {describe(data)}")
    return tuple(
        _criterion(str(key), value, f"{where}: rubric {key!r}") for key, value in data.items()
    )


def _criterion(key: str, data: Any, where: str) -> Criterion:
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: expected an object, got {describe(data)}")
    description = data.get("description")
    if not isinstance(description, str) or not description.strip():
        raise InputError(f"{where}: description: expected a text, got {describe(description)}")
    weight = data.get("weight")
    if isinstance(weight, bool) or weight not in (1, 2, 3, 4, 5):
        raise InputError(f"{where}: weight: expected 1 to 5, got {describe(weight)}")
    return Criterion(
        key,
        description.strip(),
        int(weight),
        _flag(data, "critical", where),
        _flag(data, "final_answer", where),
        _texts(data.get("category"), where),
    )


def _flag(data: Mapping[str, Any], name: str, where: str) -> bool:
    value = data.get(name, False)
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().casefold() in _FLAGS:
        return _FLAGS[value.strip().casefold()]
    raise InputError(f"{where}: {name}: expected yes or no, got {describe(value)}")


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    texts: Sequence[Any] = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: category: expected texts, got {describe(value)}")
    return tuple(texts)
