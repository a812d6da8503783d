"""The sandbox: what code may do, and what it may not."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from isolation import HERE, needs_isolation
from perception_programs import InputError, ToolError
from perception_programs.sandbox import Limits, Outcome, Sandbox
from perception_programs.sandbox import isolation as ways
from perception_programs.sandbox._watch import _marked, descendants
from sandbox_attacks import ATTACKS, Attack

SECRET = "the-secret-content"
LIMITS = Limits(cpu_seconds=2, wall_seconds=4, memory_bytes=1024**3, disk_bytes=64 * 1024**2)

pytestmark = needs_isolation


@pytest.fixture(scope="module")
def box() -> Sandbox:
    return Sandbox(limits=LIMITS)


@pytest.fixture
def outside(tmp_path_factory) -> Iterator[dict[str, object]]:
    """What attacks aim at: a file, a server, a socket without a name in the file system."""
    secret = Path(tempfile.mkdtemp(dir=Path.home())) / "secret.txt"
    secret.write_text(SECRET)
    server = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    name = f"p2-{os.getpid()}-{time.monotonic_ns()}"
    abstract.bind(f"\0{name}")
    abstract.listen()
    os.environ["P2_TEST_SECRET"] = "SECRET_IN_ENV"
    yield {
        "secret": secret,
        "port": server.getsockname()[1],
        "parent": os.getpid(),
        "abstract": name,
    }
    del os.environ["P2_TEST_SECRET"]
    server.close()
    abstract.close()
    assert secret.read_text() == SECRET and [secret] == list(secret.parent.iterdir())
    secret.unlink()
    secret.parent.rmdir()


class Heartbeat:
    """The longest pause of a thread that only wakes up again and again."""

    def __enter__(self) -> Heartbeat:
        self.longest, self._on = 0.0, True
        self._thread = threading.Thread(target=self._beat)
        self._thread.start()
        return self

    def _beat(self) -> None:
        while self._on:
            began = time.monotonic()
            time.sleep(0.05)
            self.longest = max(self.longest, time.monotonic() - began)

    def __exit__(self, *_: object) -> None:
        self._on = False
        self._thread.join()


def attacked(attack: Attack, method: str, outside: dict[str, object]) -> Outcome:
    box = Sandbox(limits=LIMITS, isolation=method)
    with box.open({"given": np.arange(3.0)}) as session, Heartbeat() as heart:
        code = attack.code
        for name, value in {**outside, "root": session.folder.parent}.items():
            code = code.replace(f"{{{name}}}", str(value))
        began = time.monotonic()
        outcome = session.run(code)
        seconds = time.monotonic() - began
        root, token = session.folder.parent, None
        if session._process is not None:
            token = session._process._watch._token
        after = session.run("1 + 1")
    said = " ".join([outcome.stdout, str(outcome.error), str(outcome.values)[:9999]])
    for word in (SECRET, *attack.never):
        assert word not in said, said[:2000]
    assert outcome.ended in attack.ends, (outcome.ended, outcome.error, outcome.stdout[-500:])
    assert after.values.get("result") == 2 or not after.ok, after  # it works again, or says why not
    assert seconds < LIMITS.wall_seconds + 6 and heart.longest < 5
    assert len(outcome.stdout) <= LIMITS.output_characters + 100
    assert not root.exists()
    assert token is None or not _marked(token)
    return outcome


@pytest.mark.parametrize("attack", [one for one in ATTACKS if one.quick], ids=lambda one: one.name)
def test_attacks_in_short(attack: Attack, outside: dict[str, object]) -> None:
    attacked(attack, HERE[0], outside)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bwrap", "unshare"])
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: one.name)
def test_attacks(attack: Attack, method: str, outside: dict[str, object]) -> None:
    if method not in HERE:
        pytest.skip(f"{method} cannot be used here")
    attacked(attack, method, outside)


class TestWhatItGives:
    def test_bindings_and_values(self, box: Sandbox) -> None:
        outcome = box.run(
            "print(picture.size, words)\npublish('twice', array * 2)\npublish('part', picture.crop((0, 0, 2, 1)))\n"
            "{'sum': array.sum(), 'n': len(words)}",
            {
                "array": np.arange(6.0).reshape(2, 3),
                "picture": Image.new("RGB", (4, 3), "red"),
                "words": ["é"],
            },
        )
        assert outcome.ok and outcome.stdout == "(4, 3) ['é']\n" and outcome.ended == "done"
        assert outcome.values["result"] == {"sum": 15.0, "n": 1}
        np.testing.assert_array_equal(outcome.values["twice"], np.arange(6.0).reshape(2, 3) * 2)
        assert outcome.values["part"].shape == (1, 2, 3) and outcome.values["part"][0, 0, 0] == 255
        assert outcome.bindings == {
            "array": "array 2×3 float64",
            "picture": "picture 4×3",
            "words": "list of 1",
        }

    def test_state_stays(self, box: Sandbox) -> None:
        with box.open(files={"note.txt": b"hello"}) as session:
            assert session.run("import math\ndef f(x): return math.floor(x)\ny = f(2.5)").ok
            assert (
                session.run("open('note.txt').read() + str(f(y + 1.5))").values["result"]
                == "hello3"
            )

    def test_an_error_names_its_line(self, box: Sandbox) -> None:
        with box.open({"a": np.zeros(2)}) as session:
            outcome = session.run("x = 1\nprint('here')\na[7]")
            assert outcome.stdout == "here\n" and outcome.ended == "error"
            assert outcome.error.startswith("IndexError") and outcome.error.endswith(
                "; line 3: a[7]"
            )
            assert "line 1" in session.run("f(").error
            assert session.run("x").values["result"] == 1  # what was before the error is there
            assert outcome.bindings == {"a": "array 2 float64"}

    def test_pictures_in_the_order_of_writing(self, box: Sandbox) -> None:
        with box.open() as session:
            code = (
                "from PIL import Image\nfor name in {}: Image.new('RGB', (5, 4), 'blue').save(name)"
            )
            first = session.run(code.format(["c.png", "a.jpg", "b.webp"]))
            assert [name for name, _ in first.pictures] == ["c.png", "a.jpg", "b.webp"]
            assert first.pictures[0][1].shape == (4, 5, 3)
            again = session.run(code.format(["a.jpg", "d.png"]))
            assert [name for name, _ in again.pictures] == ["a.jpg", "d.png"]
            assert session.run("1").pictures == ()
            cv = session.run("import cv2\ncv2.imwrite('e.png', np.zeros((3, 3, 3), np.uint8))")
            assert [name for name, _ in cv.pictures] == ["e.png"]
            broken = session.run("open('f.png', 'w').write('x')")
            assert broken.pictures == () and "f.png: cannot be read" in broken.problems[0]

    @pytest.mark.parametrize(
        "value", ["object()", "{(1, 2): 3}", "float('nan')", "{'a': {'b': lambda: 1}}", "b'x'"]
    )
    def test_what_cannot_be_taken_out_is_said(self, box: Sandbox, value: str) -> None:
        outcome = box.run(value)
        assert outcome.ok and outcome.values == {} and outcome.problems[0].startswith("result: ")

    def test_it_begins_anew_and_says_so(self, box: Sandbox) -> None:
        with box.open() as session:
            session.run("x = 1")
            assert session.run("import os; os._exit(1)").ended == "killed"
            after = session.run("x")
            assert after.restarted and "NameError" in after.error
            assert not session.run("2").restarted

    def test_output_is_cut_visibly(self, box: Sandbox) -> None:
        outcome = box.run("print('ä' * 100_000)")
        assert outcome.ok and "[cut here: it printed 200001 bytes]" in outcome.stdout[-60:]

    def test_a_run_with_files_and_processes_is_no_attack(self, box: Sandbox) -> None:
        outcome = box.run(
            "import subprocess, tempfile, sys\nopen('a.txt', 'w').write('x')\n"
            "tempfile.mkdtemp()\nsubprocess.run([sys.executable, '-c', 'print(3)'], capture_output=True).stdout.decode()"
        )
        assert outcome.values["result"] == "3\n", outcome


@pytest.mark.parametrize(
    ("bindings", "said"),
    [
        ({"a b": 1}, "expected the name of a variable"),
        ({"_x": 1}, "expected the name of a variable"),
        ({"x": object()}, "x: expected an array, a picture or what JSON can hold"),
        ({"x": float("nan")}, "x: expected"),
        ({"x": np.array([object()])}, "x: expected numbers or texts"),
    ],
)
def test_bindings_that_cannot_be(box: Sandbox, bindings: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        box.run("1", bindings)


@pytest.mark.parametrize("name", ["", "../a", "a/b", ".hidden", "/etc/x"])
def test_files_that_cannot_be(box: Sandbox, name: str) -> None:
    with pytest.raises(InputError, match="expected a plain name"):
        box.open(files={name: b""})


def test_without_isolation_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "_works", lambda *_: False)
    with pytest.raises(ToolError, match="install bubblewrap"):
        Sandbox()
    with pytest.raises(ToolError, match="bwrap cannot be used here"):
        Sandbox(isolation="bwrap")
    with pytest.raises(InputError, match="allow_unisolated"):
        Sandbox(isolation="none")
    with pytest.raises(InputError, match="expected auto, bwrap"):
        Sandbox(isolation="docker")
    box = Sandbox(allow_unisolated=True)
    assert box.isolation.method == "none" and len(box.isolation.lacks) == 3
    assert box.run("1 + 1").values["result"] == 2
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ToolError, match="on Linux only, and this is darwin"):
        Sandbox()


@pytest.mark.slow
def test_unisolated_daemons_are_ended() -> None:
    box = Sandbox(limits=LIMITS, isolation="none", allow_unisolated=True)
    daemon = next(one for one in ATTACKS if one.name == "daemons")
    with box.open() as session:
        session.run("1")
        token = session._process._watch._token
        session.run(daemon.code)
        deadline = time.monotonic() + 5
        while _marked(token) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not _marked(token)


@pytest.mark.slow
def test_many_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    box = Sandbox(limits=Limits(wall_seconds=120, cpu_seconds=60))

    def one(number: int) -> object:
        with box.open({"n": number}) as session:
            session.run("m = n * 2")
            return session.run("m + n").values.get("result")

    before = len(descendants(os.getpid()))
    folders = set(Path(tempfile.gettempdir()).glob("p2-sandbox-*"))
    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(one, range(50))) == [3 * n for n in range(50)]
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert len(descendants(os.getpid())) <= before
    assert set(Path(tempfile.gettempdir()).glob("p2-sandbox-*")) <= folders
