"""The page of errors shows what the package really raises, and leaves none of its kinds out."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from perception_programs.cli import main
from raise_sites import GAP, SOURCES, error_classes, raise_sites, raising_lines

PAGE = Path(__file__).resolve().parent.parent / "docs" / "troubleshooting.md"

_BLOCK = re.compile(
    r"(?:^<!-- while: (?P<state>.+?) -->\n\n)?^```(?P<kind>python|pycon|console)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SAME = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
_TELLING = 10  # letters; shorter pieces are words such as "expert"
_EXTRAS = ("torch", "torchvision", "transformers", "diffusers", "accelerate", "timm", "kornia")

FAMILIES = {
    "an ambiguous array": ("InputError", "may be a depth map or a grey picture"),
    "the polarity of depth": ("InputError", "bigger is nearer"),
    "a place outside": ("InputError", "expected 'A' within"),
    "a box of another frame": ("InputError", "must be mapped back"),
    "a model's answer": ("InputError", "expected boxes as JSON"),
    "a picture": ("InputError", "expected a picture"),
    "a budget too small": ("InputError", "max_tokens: expected at least"),
    "broken text": ("InputError", "expected one perception program"),
    "an unknown expert": ("InputError", "did you mean 'raft-large'"),
    "a missing extra": ("MissingExtraError", "perception-programs[models]"),
    "weights": ("WeightsError", "are not on this machine"),
    "no hub": ("InputError", "cannot get Jigsaw"),
    "another configuration": ("InputError", "another configuration"),
    "a tool's arguments": ("ToolError", "no such argument"),
    "a tool's limits": ("ToolError", "expected at most 100,000 pixels"),
    "a file outside the root": ("ToolError", "expected a file under the root"),
    "a root that is not there": ("InputError", "root: expected a folder"),
}
"""What users meet: the class, and words of the message."""


@dataclass(frozen=True)
class Raised:
    """An error that an example raised, and where in the package."""

    kind: str
    file: str
    line: int


def raised_by(error: BaseException) -> Raised | None:
    """The innermost place in the package; None where the package did not raise it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if Path(f.filename).is_relative_to(SOURCES)]
    if not ours:
        return None
    file = Path(ours[-1].filename).relative_to(SOURCES).as_posix()
    return Raised(type(error).__name__, file, ours[-1].lineno or 0)


def run_example(source: str, namespace: dict[str, object]) -> tuple[str, BaseException | None]:
    """What an example prints, or the last line of its traceback and the error."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(PAGE), "single"), namespace)
    except Exception as error:
        return traceback.format_exception_only(error)[-1], error
    return printed.getvalue(), None


@contextlib.contextmanager
def state(name: str | None, folder: Path) -> Iterator[None]:
    """The machine as the page supposes it, whatever is installed on this one."""
    with pytest.MonkeyPatch.context() as patch:
        if name == "no extra is installed":
            _pretend(patch, installed=False)
        elif name == "the extras are installed, without a network":
            import huggingface_hub.constants as constants

            _pretend(patch, installed=True)
            patch.setattr(constants, "HF_HUB_OFFLINE", True)
            patch.setattr(constants, "HF_HUB_CACHE", str(folder / "hub"))
        else:
            assert name is None, name
        yield


def _pretend(patch: pytest.MonkeyPatch, *, installed: bool) -> None:
    find = importlib.util.find_spec
    spec = find("json") if installed else None
    patch.setattr(
        importlib.util, "find_spec", lambda name, *rest: spec if name in _EXTRAS else find(name)
    )


def run_page(text: str, folder: Path) -> Iterator[tuple[str, str, str, BaseException | None]]:
    """Each example of a page: its source, what is shown, what comes, and the error if there is one."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in _BLOCK.finditer(text):
        with state(block["state"], folder):
            if block["kind"] == "python":
                exec(block["code"], namespace)
            elif block["kind"] == "pycon":
                for example in doctest.DocTestParser().get_examples(block["code"]):
                    shown = example.exc_msg or example.want
                    yield (example.source, shown, *run_example(example.source, namespace))
            else:
                command, _, shown = block["code"].partition("\n")
                yield command, shown, _stderr_of(command), None


def _stderr_of(command: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        main(shlex.split(command.removeprefix("$ p2 ")))
    return printed.getvalue()


Examples = list[tuple[str, str, str, Raised | None]]


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Examples:
    """The page's examples, run in order as a reader would."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return [
            (source, shown, came, None if error is None else raised_by(error))
            for source, shown, came, error in run_page(PAGE.read_text(encoding="utf-8"), folder)
        ]


def test_what_is_shown_is_what_comes(examples: Examples) -> None:
    check = doctest.OutputChecker().check_output
    wrong = [
        f"{source}shown: {shown}comes: {came}"
        for source, shown, came, _ in examples
        if not check(shown, came, _SAME)
    ]
    assert not wrong, "\n".join(wrong)


def test_each_error_is_raised_on_purpose(examples: Examples) -> None:
    shown = [raised for *_, raised in examples if raised is not None]
    assert len(shown) >= 40
    by_accident = [one for one in shown if (one.file, one.line) not in raising_lines()]
    assert not by_accident


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_an_entry(examples: Examples, family: str) -> None:
    kind, words = FAMILIES[family]
    assert any(raised and raised.kind == kind and words in came for *_, came, raised in examples)


def test_every_class_has_a_row() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, base in error_classes().items():
        assert f"| `{name}` | `{base}` |" in text


@pytest.mark.parametrize("kind", ["MissingExtraError", "WeightsError", "ChatError"])
def test_every_message_of_the_kind_is_on_the_page(kind: str) -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    missing = [
        f"{site.file}, line {site.lines[0]}: {site.message!r} ({site.extra})"
        for site in raise_sites()
        if site.kind == kind and _head(site.message) not in text
    ]
    assert not missing, "docs/troubleshooting.md says nothing of\n" + "\n".join(missing)


def _head(message: str) -> str:
    """The first telling words of a message between two values; empty where it is all values."""
    pieces = [piece.partition(":")[0].strip(" .;,()") for piece in message.split(GAP)]
    return next((piece for piece in pieces if len(piece) >= _TELLING), max(pieces, key=len))


EXTRAS = sorted({site.extra for site in raise_sites() if site.extra is not None})


@pytest.mark.parametrize("extra", EXTRAS)
def test_extras_exist(extra: str) -> None:
    """Otherwise the command that a message gives would fail."""
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((PAGE.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert extra in project["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_extras_are_named_beside_their_messages(extra: str) -> None:
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    for site in raise_sites():
        if site.kind == "MissingExtraError" and site.extra == extra and _head(site.message):
            about = [row for row in rows if _head(site.message) in row]
            assert any(f"`{extra}`" in row for row in about), f"{site.message}: {about}"
