"""Which task a request is a question of: the one that the user named, or the one whose words it has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import InputError
from .._collection import Samples
from ..recipes import Recipe, recipe, recipe_of, with_tools
from ._request import ChatQuestion, PassThrough, split_options

__all__ = ["Recogniser"]

_Options = tuple[str, ...]


class Recogniser:
    """Tells which task a question is of. Made by `named` or `by_words`.

    Attributes:
        recipes: the recipes of the tasks that it knows.

    >>> Recogniser.named("Jigsaw")
    Recogniser(Jigsaw)
    """

    def __init__(
        self,
        recipes: Iterable[Recipe],
        words: Mapping[_Options, Mapping[str, frozenset[str]]] | None = None,
    ) -> None:
        self.recipes = {entry.task: entry for entry in recipes}
        self._words = words
        for entry in self.recipes.values():
            if entry.evidence is None:
                raise InputError(
                    f"task: expected some with tools, {with_tools()}, got {entry.task!r}"
                )

    def __repr__(self) -> str:
        return f"Recogniser({', '.join(self.recipes)}{'' if self._words is None else ', by words'})"

    @classmethod
    def named(cls, task: str) -> Recogniser:
        """Every question with the number of pictures of a task is taken for one of it.

        Raises:
            InputError: there is no such task, or it has no tools.
        """
        return cls([recipe(task)])

    @classmethod
    def by_words(cls, tasks: Iterable[Samples]) -> Recogniser:
        """A question is of a task whose data have one with its words, options and number of pictures.

        The words are those of a sample's question or of its longer prompt, if there is one, wherever
        they stand in the message; white space doesn't count.

        Raises:
            InputError: a task has no tools.
        """
        tasks = list(tasks)
        words: dict[_Options, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for samples in tasks:
            for sample in samples:
                options = tuple(map(_plain, sample.choices))
                for text in (sample.question, _prompt(sample.meta)):
                    if text:
                        words[options][_plain(text)].add(samples.task)
        frozen = {
            options: {text: frozenset(names) for text, names in texts.items()}
            for options, texts in words.items()
        }
        return cls(map(recipe_of, tasks), frozen)

    def recipe(self, question: ChatQuestion) -> Recipe:
        """The recipe for a question.

        Raises:
            PassThrough: its words are those of no task or of several, or it has another number of
                pictures.
        """
        found = self._named(question)
        if len(found) != 1:
            got = "none of them" if not found else f"those of {' and '.join(sorted(found))}"
            raise PassThrough("words", f"expected the words and options of one task, got {got}")
        entry = self.recipes[found.pop()]
        if len(question.urls) != entry.images:
            raise PassThrough(
                "images", f"expected {entry.images} for {entry.task}, got {len(question.urls)}"
            )
        return entry

    def _named(self, question: ChatQuestion) -> set[str]:
        if self._words is None:
            return set(self.recipes)
        texts = self._words.get(tuple(map(_plain, question.options.values())), {})
        words = f" {_plain(question.words)} "
        return {task for text, tasks in texts.items() if f" {text} " in words for task in tasks}


def _plain(text: str) -> str:
    return " ".join(text.split())


def _prompt(meta: Mapping[str, Any]) -> str:
    """The words of a sample's prompt that stand before its options."""
    prompt = meta.get("prompt")
    if not isinstance(prompt, str):
        return ""
    try:
        return split_options(prompt)[0]
    except PassThrough:
        return prompt
