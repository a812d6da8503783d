"""One loader for every kind of picture."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from perception_programs import InputError, load_image
from perception_programs.images import image_name, is_picture, to_pil


@pytest.fixture
def rotated(tmp_path: Path) -> Path:
    """40×20, left half red, with EXIF orientation 6: shown it is 20×40 with red on top."""
    pixels = np.zeros((20, 40, 3), np.uint8)
    pixels[:, :20, 0] = 255
    pixels[:, 20:, 2] = 255
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "rotated.jpg"
    Image.fromarray(pixels).save(path, exif=exif.tobytes(), quality=95)
    return path


def test_exif_orientation_is_applied_once(rotated: Path) -> None:  # FAULTS 3
    for source in (rotated, str(rotated), rotated.read_bytes(), Image.open(rotated)):
        image = load_image(source)
        assert image.shape == (40, 20, 3) and image.dtype == np.uint8
        assert image[5, 10, 0] > 240 > 15 > image[5, 10, 2]
        assert image[35, 10, 2] > 240 > 15 > image[35, 10, 0]


def test_16_bit_is_scaled_not_clipped(tmp_path: Path) -> None:  # FAULTS 4
    levels = np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16)
    Image.fromarray(levels).save(tmp_path / "deep.png")
    image = load_image(tmp_path / "deep.png")
    assert (image[..., 0].ravel() == np.arange(256)).all()
    assert (load_image(levels) == image).all()


def test_one_frame_in_three_number_types() -> None:  # FAULTS 9
    frame = np.random.default_rng(0).integers(0, 256, (12, 14, 3), dtype=np.uint8)
    frame[0, 0] = 255
    for other in (
        frame.astype(np.float32),
        frame / 255,
        frame.astype(np.int64),
        frame.astype(np.float16),
    ):
        assert (load_image(other) == frame).all()


def test_transparent_red_is_white(tmp_path: Path) -> None:  # FAULTS 15
    pixels = np.zeros((4, 6, 4), np.uint8)
    pixels[..., 0] = 255
    pixels[:, 3:, 3] = 255
    Image.fromarray(pixels).save(tmp_path / "clear.png")
    for source in (tmp_path / "clear.png", pixels, Image.fromarray(pixels)):
        image = load_image(source)
        assert (image[:, :3] == 255).all()
        assert (image[:, 3:] == [255, 0, 0]).all()


def test_palette_with_transparency(tmp_path: Path) -> None:
    image = Image.new("P", (4, 4), 0)
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.putpixel((1, 1), 1)
    image.save(tmp_path / "p.png", transparency=0)
    loaded = load_image(tmp_path / "p.png")
    assert loaded[0, 0].tolist() == [255, 255, 255] and loaded[1, 1].tolist() == [0, 255, 0]


def test_truncated_file_is_named(rotated: Path, tmp_path: Path) -> None:  # FAULTS 15
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(rotated.read_bytes()[:-300])
    with pytest.raises(InputError, match=r"broken\.jpg"):
        load_image(broken)
    with pytest.raises(InputError, match="bytes of image data"):
        load_image(broken.read_bytes())


@pytest.mark.parametrize(
    "mode", ["1", "L", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "I", "F", "P"]
)
def test_every_mode_becomes_rgb(mode: str) -> None:
    image = load_image(Image.new("RGB", (5, 4), "white").convert(mode))
    assert image.shape == (4, 5, 3)
    assert image.dtype == np.uint8


def test_grey_arrays_and_single_channels() -> None:
    grey = np.arange(20, dtype=np.uint8).reshape(4, 5)
    for source in (grey, grey[..., None], grey[None], grey > 5):
        assert load_image(source).shape == (4, 5, 3)


def test_to_pil_gives_a_picture() -> None:
    assert to_pil(np.zeros((4, 5, 3), np.uint8)).size == (5, 4)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (None, "got None"),
        (3, "got int 3"),
        ("http://example.org/a.png", "URL"),
        ("data:image/png;base64,AAAA", "URL"),
        ("no such.png", "no file 'no such.png'"),
        ("depth.npy", "DepthMap.open"),
        (".", "folder"),
        (b"", "0 bytes"),
        (b"not a picture", "no format Pillow reads"),
        (np.zeros((2, 3, 5)), "2×3×5"),
        (np.zeros((0, 3, 3), np.uint8), "0×3×3"),
        (np.full((2, 2, 3), np.nan), "NaN"),
        (np.full((2, 2, 3), -1.0), "negative"),
        (np.full((2, 2, 3), 300.0), "300"),
        (np.array([["a"]]), "numbers"),
    ],
)
def test_what_is_no_picture_is_refused(source: object, words: str) -> None:
    with pytest.raises(InputError, match="image: ") as caught:
        load_image(source)
    assert words in str(caught.value)


def test_svg_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    with pytest.raises(InputError, match=r"x\.svg"):
        load_image(tmp_path / "x.svg")


def test_a_huge_header_is_refused() -> None:
    buffer = io.BytesIO()
    Image.new("1", (1, 1)).save(buffer, "PNG")
    data = bytearray(buffer.getvalue())
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    import zlib

    data[29:33] = zlib.crc32(bytes(data[12:29])).to_bytes(4, "big")
    with pytest.raises(InputError, match="too large"):
        load_image(bytes(data))


def test_what_is_surely_a_picture() -> None:
    assert is_picture("a.png") and is_picture(Path("a.png")) and is_picture(b"x")
    assert is_picture(np.zeros((4, 5, 3))) and is_picture(Image.new("L", (2, 2)))
    assert not is_picture(np.zeros((4, 5))) and not is_picture(np.zeros((4, 5, 2)))
    assert not is_picture([1, 2]) and not is_picture(None)
    assert image_name("folder/a.png") == "a.png" and image_name(b"x") is None
