"""Which way the camera goes, in replies that say as well which way things are seen to move."""

from __future__ import annotations

from . import _answers_words as words
from ._answers_reading import Reading, Target

__all__ = ["of_the_camera", "turned"]

_CAMERAS = frozenset(
    [
        *("camera", "cameraman", "photographer", "kamera", "caméra", "cámara", "câmera"),
        *("telecamera", "камера", "相机", "相機", "摄像机", "镜头"),
    ]
)
_NOT_ITS_OWN = frozenset(["to", "of", "from", "by", "with", "than", "towards", "toward", "for"])
"""Words before it that make something else move: `relative to the camera`."""

_TURNED = frozenset({"opposite", "reverse", "contrary", "inverse"})
_WAYS = frozenset(["direction", "directions", "way", "sense", "motion", "movement", "side"])
_CLAUSE = 16  # tokens before an option in which its subject is looked for


def of_the_camera(reading: Reading) -> tuple[Target, ...]:
    """What is said of the camera itself: `the camera moves right`; nothing for other questions."""
    if not reading.sides:
        return ()
    return tuple(t for t in reading.meant(0, len(reading.tokens)) if _is_its(reading, t.start))


def turned(reading: Reading) -> bool:
    """Whether a way is said to be the opposite of another, and not which one it is.

    So it is where all that is named is the way that something goes relative to the camera.
    """
    one = reading.sides and len({target.letters for target in reading.targets}) == 1
    for n in range(len(reading.tokens)):
        beyond = {reading.low(n + 2), reading.low(n + 3)}  # `relative to the camera`
        if one and reading.low(n) == "relative" and not _CAMERAS.isdisjoint(beyond):
            return True
        if reading.low(n) not in _TURNED:
            continue
        stop = reading.stops[reading.starts[n]]
        led = reading.low(n + 1) in _WAYS or reading.ends(n + 1)
        if led and not any(place in reading.at for place in range(n, stop)):
            return True
    return False


def _is_its(reading: Reading, place: int) -> bool:
    """Whether the clause before `place` has the camera as its subject, and not where it stands."""
    led = reading.low(place - 2 if reading.low(place - 1) in words.ARTICLES else place - 1)
    if led in ("on", "at"):
        return False
    for n in range(place - 1, max(reading.starts[place], place - _CLAUSE) - 1, -1):
        low = reading.low(n)
        if low in _CAMERAS:
            before = reading.low(n - 2 if reading.low(n - 1) in words.ARTICLES else n - 1)
            return before not in _NOT_ITS_OWN
        if low == "then" or (low == "," and reading.low(n + 1) == "then"):
            continue  # `the camera moves left, then right`
        if low in words.BREAKS or low in "().":
            return False
    return False
