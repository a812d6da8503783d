"""Where weights are looked for, and what is said when they cannot be had."""

from __future__ import annotations

import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from perception_programs import InputError, WeightsError
from perception_programs.experts import Card, available, load

hub = pytest.importorskip("huggingface_hub")
pytest.importorskip("transformers")

from perception_programs.experts import _weights  # noqa: E402

HUB_NAMES = [name for name, entry in available().items() if entry.needs_download]
CARD = Card(
    name="x", modality="flow", library="x", checkpoint="some/repo", extra="models", megabytes=1234
)


@pytest.fixture(autouse=True)
def empty_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No weights on this machine, and nothing answers."""
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(_weights, "_torch_folder", lambda: tmp_path / "torch")
    monkeypatch.setattr(_weights, "_answers", lambda url: False)


@pytest.mark.parametrize("name", HUB_NAMES)
def test_without_network_and_weights_the_error_comes_at_once(name: str) -> None:
    start = time.monotonic()
    with pytest.raises(WeightsError) as caught:
        load(name)
    assert time.monotonic() - start < 5
    card, message = available()[name].card, str(caught.value)
    for part in (name, str(card.checkpoint), "cannot be reached", "weights=FOLDER", "cache at"):
        assert part in message
    if card.megabytes is not None:
        assert f"{card.megabytes:,} MB" in message


def test_what_works_instead_is_named() -> None:
    with pytest.raises(WeightsError, match="Without a download, flow is read by 'dis'"):
        load("raft-large")
    with pytest.raises(WeightsError, match=r"No expert reads depth.*passed to depth_program"):
        load("depth-anything-v2-small")


def test_offline_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(url: str) -> bool:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(_weights, "_answers", asked)
    with pytest.raises(WeightsError, match="HF_HUB_OFFLINE is set"):
        load("dinov2-small")


def test_no_network_is_touched_when_the_cache_has_them(tmp_path: Path) -> None:
    snapshot = tmp_path / "hub" / "models--some--repo" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").touch()
    (tmp_path / "hub" / "models--some--repo" / "refs").mkdir()
    (tmp_path / "hub" / "models--some--repo" / "refs" / "main").write_text("abc")
    assert _weights.is_present(CARD) and _weights.cached_revision("some/repo") == "abc"
    _weights.check_obtainable(CARD)
    source = hub.try_to_load_from_cache(
        "some/repo", "model.safetensors", cache_dir=tmp_path / "hub"
    )
    assert source == str(snapshot / "model.safetensors")


def test_a_folder_takes_the_checkpoint_s_place(tmp_path: Path) -> None:
    assert _weights.hub_source(CARD, tmp_path) == _weights.Source(str(tmp_path), local=True)
    (tmp_path / "w.pth").touch()
    assert _weights.hub_file(CARD, "w.pth", tmp_path) == tmp_path / "w.pth"
    assert _weights.url_file(CARD, "https://host/w.pth", tmp_path / "w.pth") == tmp_path / "w.pth"
    with pytest.raises(InputError, match="expected a folder"):
        _weights.hub_source(CARD, tmp_path / "w.pth")
    with pytest.raises(InputError, match=r"a folder with 'v\.pth'"):
        _weights.hub_file(CARD, "v.pth", tmp_path)


def test_what_a_library_raises_becomes_one_error() -> None:
    with (
        pytest.raises(WeightsError, match=r"'x'.*some/repo, 1,234 MB.*cannot be loaded: no config"),
        _weights.named(CARD),
    ):
        raise OSError("no config\nand a long story")
    with pytest.raises(InputError, match="mine"), _weights.named(CARD):
        raise InputError("mine")


class _Refusing(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


def test_any_answer_counts_as_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    server = HTTPServer(("127.0.0.1", 0), _Refusing)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        assert _weights._answers(url)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert not _weights._answers(url)
    assert not _weights._answers("http://no-such-host.invalid")


def test_pytorch_s_folder_is_found_without_importing_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.undo()
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    with_torch = _weights._torch_folder()
    assert with_torch == Path(torch.hub.get_dir()) / "checkpoints"
    monkeypatch.delitem(sys.modules, "torch")
    assert _weights._torch_folder() == with_torch


@pytest.mark.parametrize("family", ["depth", "detection"])
def test_half_a_checkpoint_is_refused(family: str, tmp_path: Path) -> None:
    import importlib

    safetensors = pytest.importorskip("safetensors.torch")
    name = {"depth": "depth-anything-v2-small", "detection": "d-fine-nano"}[family]
    folder = getattr(importlib.import_module(f"toy_{family}"), f"toy_{family}")(tmp_path, name)
    file = folder / "model.safetensors"
    tensors = safetensors.load_file(file)
    half = dict(list(tensors.items())[::2])
    safetensors.save_file(half, file, metadata={"format": "pt"})
    with pytest.raises(
        WeightsError, match=r"tensors are missing or of another shape, \S+ among them"
    ):
        load(name, weights=folder)


def test_a_grounded_detector_without_its_tokenizer_is_refused(tmp_path: Path) -> None:
    from toy_detection import toy_detection

    folder = toy_detection(tmp_path, "llmdet-tiny")
    for file in (*folder.glob("tokenizer*"), *folder.glob("vocab*")):
        file.unlink()
    with pytest.raises(WeightsError, match="llmdet-tiny"):
        load("llmdet-tiny", weights=folder)
