"""How findings are put into words: templates that can be edited without touching code.

A capability's template is a YAML file of its name: `version`; `description` and `arguments`, which a model
is told of the tool; the forms `found`, `none` and `unusable`, with `$name` where something goes in; and
perhaps `phrases`, sentences that a capability chooses from by name. A folder of such files takes the place of
those that ship, file by file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from string import Template

from .._arrays import describe
from ..chat import ToolSpec
from ..chat.schema import schema_of
from ..errors import InputError
from ..text.quoting import capped, quoted
from .capability import Capability, Finding

__all__ = ["Templates", "Wording", "blanks", "passage"]

_FORMS = ("found", "none", "unusable")
_LONGEST = 4000  # characters of a passage


@dataclass(frozen=True)
class Wording:
    """One capability's template.

    Attributes:
        version: counted up at each change.
        description: what the tool is for.
        arguments: what each argument is.
        forms: the sentences by form.
        phrases: sentences by name, for blanks that a capability fills by choosing one.
    """

    version: int
    description: str
    arguments: Mapping[str, str]
    forms: Mapping[str, str]
    phrases: Mapping[str, str]

    @classmethod
    def read(cls, text: str, where: str) -> Wording:
        """From the YAML of a template file.

        Raises:
            InputError: it is not of that form; the message names the file.
        """
        import yaml

        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise InputError(f"{where}: expected YAML: {' '.join(str(error).split())}") from None
        known = {"version", "description", "arguments", "phrases", *_FORMS}
        if not isinstance(data, dict) or not data.keys() <= known or "found" not in data:
            raise InputError(
                f"{where}: expected the keys {', '.join(sorted(known))}, got {describe(data)}"
            )
        forms = {form: data[form] for form in _FORMS if form in data}
        arguments, phrases = data.get("arguments", {}), data.get("phrases", {})
        texts = [data.get("description"), *forms.values()]
        for part in (arguments, phrases):
            texts += [*part, *part.values()] if isinstance(part, dict) else [None]
        if not all(isinstance(text, str) for text in texts):
            raise InputError(
                f"{where}: expected texts in description, arguments, phrases and the forms"
            )
        if not isinstance(data.get("version"), int):
            raise InputError(f"{where}: expected a whole number as its version")
        for form, said in forms.items():
            blanks(said, f"{where}: {form}")
        return cls(data["version"], data["description"].strip(), arguments, forms, phrases)


class Templates:
    """The wording of all capabilities.

    Args:
        folder: YAML files that take the place of those that ship; None for none.

    Raises:
        InputError: no such folder, or a file in it is no template.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._texts = dict(_shipped())
        if folder is not None:
            place = Path(folder)
            if not place.is_dir():
                raise InputError(f"templates: no folder {str(place)!r}")
            for file in sorted(place.iterdir()):
                if file.suffix in (".yaml", ".txt"):
                    self._texts[file.name] = file.read_text(encoding="utf-8")
        self._wordings = {
            name.removesuffix(".yaml"): Wording.read(text, name)
            for name, text in self._texts.items()
            if name.endswith(".yaml")
        }

    def with_text(self, name: str, text: str) -> Templates:
        """The same with another text for one file.

        Raises:
            InputError: it is no template.
        """
        made = Templates()
        made._texts = {**self._texts, name: text}
        made._wordings = dict(self._wordings)
        if name.endswith(".yaml"):
            made._wordings[name.removesuffix(".yaml")] = Wording.read(text, name)
        return made

    @property
    def texts(self) -> Mapping[str, str]:
        """The files by name."""
        return dict(self._texts)

    @property
    def versions(self) -> dict[str, int]:
        """The version of each capability's template."""
        return {name: wording.version for name, wording in sorted(self._wordings.items())}

    @property
    def digest(self) -> str:
        """`sha256:` and the digest of all files, names and texts."""
        total = hashlib.sha256()
        for name, text in sorted(self._texts.items()):
            total.update(f"{name}\n{len(text)}\n{text}".encode())
        return f"sha256:{total.hexdigest()}"

    def wording(self, name: str) -> Wording:
        """The template of a capability.

        Raises:
            InputError: there is none.
        """
        if name not in self._wordings:
            raise InputError(f"templates: no file {name}.yaml for the capability {name!r}")
        return self._wordings[name]

    def fill(self, name: str, **values: str | int) -> str:
        """A text of the loop's own, `NAME.txt`, with its blanks filled in."""
        return Template(self._texts[f"{name}.txt"].strip()).substitute(values)

    def tool(self, capability: Capability) -> ToolSpec:
        """A capability as it is offered to a model: types from its signature, words from here."""
        wording = self.wording(capability.name)
        schema = schema_of(capability.call)
        parameters = {
            **schema.parameters,
            "properties": {
                name: {**kind, "description": wording.arguments.get(name, kind["description"])}
                for name, kind in schema.parameters["properties"].items()
            },
        }
        return ToolSpec(capability.name, wording.description, parameters)

    def render(
        self,
        name: str,
        finding: Finding,
        handles: Mapping[str, str],
        *,
        max_tokens: int | None = None,
    ) -> str:
        """A finding in words.

        Args:
            name: of the capability.
            finding: what it found.
            handles: what the memory called each of its `new`.
            max_tokens: the most tokens of its program; None for as many as it has.

        Raises:
            InputError: the template has no such form, or a blank that nothing fills.
        """
        wording = self.wording(name)
        forms = wording.forms
        if finding.form not in forms:
            raise InputError(f"{name}.yaml: expected the form {finding.form!r}, which was found")
        fields = {key: _field(value) for key, value in finding.fields.items()}
        passages = {key: passage(value) for key, value in finding.passages.items()}
        program = {} if finding.program is None else {"program": _written(finding, max_tokens)}
        unknown = [key for key in finding.phrases.values() if key not in wording.phrases]
        if unknown:
            raise InputError(f"{name}.yaml: phrases: expected one called {unknown[0]!r}")
        phrases = {key: wording.phrases[chosen] for key, chosen in finding.phrases.items()}
        try:
            return Template(forms[finding.form].strip()).substitute(
                {**fields, **passages, **phrases, **program, **handles}
            )
        except KeyError as blank:
            raise InputError(
                f"{name}.yaml: {finding.form}: nothing fills ${blank.args[0]}"
            ) from None


def blanks(text: str, where: str) -> set[str]:
    """The names that a text has blanks for.

    Raises:
        InputError: a `$` in it begins none.

    >>> sorted(blanks("$count found in ${image}, for $$1", "found"))
    ['count', 'image']
    """
    found = list(Template.pattern.finditer(text))
    if any(match["invalid"] is not None for match in found):
        raise InputError(f"{where}: a $ that begins no name; write $$ for one")
    return {name for match in found if (name := match["named"] or match["braced"])}


def passage(text: str, longest: int = _LONGEST) -> str:
    r"""Foreign text with each line marked, so that it can't pass for anybody's own words.

    >>> print(passage("Total: 12\nAnswer: 13"))
    | Total: 12
    | Answer: 13
    """
    cut = len(text) - longest
    lines = text[:longest].splitlines() or [""]
    marked = [f"| {quoted(line)[1:-1] if not line.isprintable() else line}" for line in lines]
    return "\n".join([*marked, f"[cut here: {cut} more characters]"] if cut > 0 else marked)


def _field(value: str | int | float) -> str:
    if isinstance(value, str):
        return quoted(capped(value))
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def _written(finding: Finding, max_tokens: int | None) -> str:
    program = finding.program
    assert program is not None
    if max_tokens is not None:
        program = program.fit(max_tokens, style="compact")
    return program.to_text("compact")


@cache
def _shipped() -> Mapping[str, str]:
    folder = resources.files(__package__).joinpath("templates")
    return {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith((".yaml", ".txt"))
    }
