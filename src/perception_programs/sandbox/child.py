"""Runs code in a sandbox: the process on the other side, which knows nothing of this package.

It is started as `python -I child.py IN OUT REPLIES LIMITS` with the working folder as its current one. IN holds
what the code may use, OUT takes what it leaves, REPLIES is the number of the pipe for answers. Requests come on
standard input, answers go to that pipe: the length in four bytes, then JSON.
"""

from __future__ import annotations

import ast
import io
import json
import linecache
import os
import resource
import struct
import sys
import traceback
from typing import IO, Any

__all__ = ["main"]

_CODE = "<code>"
_DEEPEST = 50


def main() -> None:
    """Answer requests until there are no more."""
    folder_in, folder_out, replies, limits = sys.argv[1:5]
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(int(replies), "wb")
    for pipe in (requests, answers):
        os.set_inheritable(pipe.fileno(), False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    _limit(json.loads(limits))
    written: list[str] = []
    _note_writes(written)
    try:
        names = _bindings(folder_in)
    except Exception as error:
        _answer(answers, {"failed": f"{type(error).__name__}: {error}"})
        return
    shelf: dict[str, Any] = {}
    names["publish"] = shelf.__setitem__
    _answer(answers, {"ready": True})
    while True:
        head = requests.read(4)
        if len(head) < 4:
            return
        request = json.loads(requests.read(struct.unpack(">I", head)[0]))
        shelf.clear()
        written.clear()
        names.pop("result", None)
        fault = _run(request["code"], names)
        values: list[dict[str, str]] = []
        refused: list[str] = []
        if "result" in names and names["result"] is not None:
            shelf.setdefault("result", names["result"])
        for number, (name, value) in enumerate(list(shelf.items())):
            try:
                values.append(_left(str(name)[:80], value, folder_out, number))
            except Exception as why:
                refused.append(f"{str(name)[:80]}: {why}"[:300])
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        answer = {
            "id": request["id"],
            "error": fault,
            "values": values,
            "refused": refused,
            "written": written[-500:],
        }
        _answer(answers, answer)


def _answer(stream: IO[bytes], answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode()
    stream.write(struct.pack(">I", len(data)) + data)
    stream.flush()


def _limit(limits: dict[str, int]) -> None:
    for name, most in limits.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))


def _note_writes(written: list[str]) -> None:
    """Note files in the order in which they are opened for writing."""

    def hook(event: str, arguments: Any) -> None:
        if event == "open" and isinstance(arguments[0], str) and len(written) < 5000:
            flags = arguments[2] if isinstance(arguments[2], int) else 0
            if flags & (os.O_WRONLY | os.O_RDWR):
                written.append(os.path.basename(arguments[0])[:200])

    sys.addaudithook(hook)


def _bindings(folder: str) -> dict[str, Any]:
    import numpy as np

    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__, "np": np}
    with open(os.path.join(folder, "bindings.json"), encoding="utf-8") as file:
        told = json.load(file)
    for name, (form, place) in told.items():
        path = os.path.join(folder, place)
        if form == "array":  # mapped read-only: it is read as far as it is used
            names[name] = np.load(path, mmap_mode="r", allow_pickle=False)
        elif form == "picture":
            from PIL import Image

            names[name] = Image.open(path)
        else:
            with open(path, encoding="utf-8") as file:
                names[name] = json.load(file)
    return names


def _run(code: str, names: dict[str, Any]) -> str | None:
    """Run code; what went wrong in words, or None."""
    linecache.cache[_CODE] = (len(code), None, code.splitlines(keepends=True), _CODE)
    try:
        tree = ast.parse(code, _CODE)
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = tree.body[-1]
            target = ast.copy_location(ast.Name("result", ast.Store()), last)
            tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
        exec(compile(ast.fix_missing_locations(tree), _CODE, "exec"), names)
    except BaseException as error:
        return _told(error)
    return None


def _told(error: BaseException) -> str:
    """An error in words: its type, its message, and the line of the code."""
    try:
        if isinstance(error, SystemExit):
            return "the code asked to exit; let it run to its end instead"
        message = " ".join(str(error).split())[:1000]
        text = f"{type(error).__name__}: {message}" if message else type(error).__name__
        if isinstance(error, SyntaxError) and error.filename == _CODE:
            return f"{text}; line {error.lineno}: {(error.text or '').strip()[:200]}"
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == _CODE]
        if frames:
            text = f"{text}; line {frames[-1].lineno}: {(frames[-1].line or '').strip()[:200]}"
        return text
    except BaseException:
        return f"{type(error).__name__}, whose message cannot be had"


def _left(name: str, value: Any, folder: str, number: int) -> dict[str, str]:
    """What the code leaves, as a file and what it is."""
    import numpy as np

    image = sys.modules.get("PIL.Image")
    if image is not None and isinstance(value, image.Image):
        file = f"{number}.png"
        value.convert("RGB").save(os.path.join(folder, file))
        return {"name": name, "form": "picture", "file": file}
    if isinstance(value, np.ndarray) and value.ndim:
        if value.dtype.hasobject:
            raise TypeError("an array of objects cannot be taken out; make it one of numbers")
        file = f"{number}.npy"
        np.save(os.path.join(folder, file), np.ascontiguousarray(value), allow_pickle=False)
        return {"name": name, "form": "array", "file": file}
    file = f"{number}.json"
    data = json.dumps(_plain(value, 0), allow_nan=False)
    with open(os.path.join(folder, file), "w", encoding="utf-8") as stream:
        stream.write(data)
    return {"name": name, "form": "value", "file": file}


def _plain(value: Any, depth: int) -> Any:
    import numpy as np

    if depth > _DEEPEST:
        raise TypeError(f"it is nested more than {_DEEPEST} deep")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return _plain(value.tolist(), depth)
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, dict):
        if not all(isinstance(key, (str, int, float, np.generic)) for key in value):
            raise TypeError("a dict whose keys are neither texts nor numbers cannot be taken out")
        return {str(key): _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one, depth + 1) for one in value]
    raise TypeError(
        f"a {type(value).__name__} cannot be taken out; leave numbers, texts, lists, dicts, an array or a picture"
    )


if __name__ == "__main__":
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            os.fdopen(number, "wb", 0, closefd=False), "utf-8", "replace", write_through=True
        )
        for number in (1, 2)
    )
    main()
