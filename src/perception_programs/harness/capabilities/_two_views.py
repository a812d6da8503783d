"""How a camera moved between two pictures: what can be told from spots that are seen in both.

Cameras look along z, x runs right and y down. A rotation and a translation take coordinates of the first camera to
those of the second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lgamma, log

import cv2
import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from ...geometry import Size
from ...results import Matches

__all__ = ["Step", "Undetermined", "angle", "rays", "step_of"]

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_LEAST = 20  # spots; of fewer, some always agree with some motion
_SPOT = 1 / 200  # of the longer side: what lies closer is one spot
_MOST = 2000  # spots, the surest
_TOLERANCE = 1 / 600  # of the longer side, about two pixels of an ordinary picture
_CHANCE = -3.0  # log10 of how often chance alone may give as much agreement
_IN_FRONT = 0.9  # share of the agreeing spots that must lie before both cameras
_ALL = 0.9  # share of what agrees with any motion that a simpler one must explain to be taken
_FLAT = 0.95
_STILL = 0.8  # share of the spots that stay where they are when the camera does
_SURE = 10.0  # degrees, standard deviation of a direction that is still one
_TRIES = 4  # random searches; one alone misses the best motion where most pairs are wrong
_AS_GOOD = 0.9  # of the best one's spots: what agrees with so many may be the motion as well
_APART = 15.0  # degrees between two motions as good; beyond that neither is told
_FOCALS = np.geomspace(0.5, 2.5, 41)  # beside the assumed one, where none is known


class Undetermined(Exception):  # noqa: N818 - it is a finding, not a failure
    """No motion can be told; the message says why."""


@dataclass(frozen=True, eq=False)
class Step:
    """What is known of a motion.

    Attributes:
        rotation: 3×3.
        direction: 3, of length 1: the translation's; zeros where the camera did not move, or not so far that it
            shows.
        points1: N×2, agreeing spots in the first picture, in pixels.
        points2: N×2, in the second.
        depths1: N, how far they are from the first camera, in lengths of the translation; None without one.
        depths2: N, from the second.
        matched: how many distinct spots were matched.
        overlap: the least share of either picture that the agreeing spots span.
        focal: factor by which a focal length that was assumed fits the rotation better; 1 for as it is.
        unsure: degrees between the rotation and that of another motion about as good.
    """

    rotation: Array
    direction: Array
    points1: Array
    points2: Array
    depths1: Array | None
    depths2: Array | None
    matched: int
    overlap: float
    focal: float = 1.0
    unsure: float = 0.0

    @property
    def moved(self) -> bool:
        """Whether there is a direction."""
        return self.depths1 is not None


def step_of(matches: Matches, first: Array, second: Array, *, assumed: bool) -> Step:
    """The motion between two pictures.

    A camera that stands still or only turns is looked for first: for these, an essential matrix is not determined.
    It is searched for from the surest pairs on (PROSAC; Chum and Matas, 2005), several times; counts as found only
    if chance gives as much agreement less than once in a thousand times; and is refined on the Sampson distance.

    Args:
        matches: spots of the one picture and of the other.
        first: 3×3 intrinsics of the first picture, in pixels.
        second: of the second.
        assumed: whether the focal lengths are a guess.

    Raises:
        Undetermined: too few spots agree, or two motions explain them as well.
    """
    here, there = _distinct(matches)
    if len(here) < _LEAST:
        raise Undetermined(f"only {len(here)} distinct spots were matched; {_LEAST} are needed")
    sides = max(matches.size1), max(matches.size2)
    tolerance = max(1.0, _TOLERANCE * sum(sides) / 2)
    overlap = _Overlap(here, there, matches.size1, matches.size2)
    still = np.linalg.norm(there - here, axis=1) <= tolerance
    if matches.size1 == matches.size2 and still.mean() >= _STILL:
        return overlap.step(np.eye(3), still)
    flat = _by_homography(here, there, tolerance)
    found = [
        one
        for seed in range(_TRIES)
        if (one := _by_essential(here, there, first, second, tolerance, seed)) is not None
    ]
    most = max([flat.sum(), *(one[1].sum() for one in found)])
    turned = _turned(here, there, flat, first, second, tolerance, assumed=assumed)
    if turned is not None and turned[1].sum() >= max(_ALL * most, _LEAST):
        return replace(overlap.step(turned[0], turned[1]), focal=turned[2])
    if not found:
        raise Undetermined("no motion explains more of the matched spots than chance would")
    return _best([_moved(overlap, *one, (first, second), tolerance) for one in found], flat)


def rays(points: Array, camera: Array) -> Array:
    """N×3, of z 1: the directions in which pixels are seen."""
    wide = np.column_stack([points, np.ones(len(points))])
    return wide @ np.linalg.inv(camera).T  # type: ignore[no-any-return]


def angle(rotation: Array) -> float:
    """Degrees that a rotation turns by, about its axis."""
    return float(np.degrees(Rotation.from_matrix(rotation).magnitude()))


class _Overlap:
    """Steps over these spots, with what they span."""

    def __init__(self, here: Array, there: Array, size1: Size, size2: Size) -> None:
        self.here, self.there, self.sizes = here, there, (size1, size2)

    def step(
        self,
        rotation: Array,
        agree: Flags,
        direction: Array | None = None,
        depths: tuple[Array, Array] | None = None,
    ) -> Step:
        """The step with which `agree` of the spots agree."""
        points = self.here[agree], self.there[agree]
        spans = [
            float(cv2.contourArea(cv2.convexHull(some.astype(np.float32)))) / (width * height)
            for some, (width, height) in zip(points, self.sizes, strict=True)
        ]
        depths1, depths2 = depths or (None, None)
        return Step(
            rotation,
            np.zeros(3) if direction is None else direction,
            points1=points[0],
            points2=points[1],
            depths1=depths1,
            depths2=depths2,
            matched=len(self.here),
            overlap=min(1.0, *spans),
        )


def _distinct(matches: Matches) -> tuple[Array, Array]:
    """The spots, one a place in each picture, the surest first."""
    points = np.asarray(matches.points1, np.float64), np.asarray(matches.points2, np.float64)
    order = np.arange(len(points[0]))
    if matches.confidence is not None:
        order = np.argsort(-np.asarray(matches.confidence, np.float64), kind="stable")
    for some, size in zip(points, (matches.size1, matches.size2), strict=True):
        places = (some[order] // (_SPOT * max(size))).astype(int)
        _, once = np.unique(places, axis=0, return_index=True)
        order = order[np.sort(once)]
    order = order[:_MOST]
    return points[0][order], points[1][order]


def _by_homography(here: Array, there: Array, tolerance: float) -> Flags:
    _, found = cv2.findHomography(
        here, there, cv2.USAC_MAGSAC, tolerance, maxIters=10_000, confidence=0.999
    )
    return np.zeros(len(here), bool) if found is None else np.asarray(found).ravel() > 0


def _by_essential(
    here: Array, there: Array, first: Array, second: Array, tolerance: float, seed: int
) -> tuple[Array, Flags] | None:
    """An essential matrix and the spots that agree with it, unless chance gives as many."""
    seen = rays(there, second) @ first.T  # the second picture as the first camera would have it
    how = cv2.UsacParams()
    how.sampler, how.score = cv2.SAMPLING_PROSAC, cv2.SCORE_METHOD_MSAC  # the surest pairs first
    how.loMethod, how.loIterations = cv2.LOCAL_OPTIM_INNER_AND_ITER_LO, 10
    how.loSampleSize, how.maxIterations = 20, 20_000
    how.confidence, how.threshold, how.randomGeneratorState = 0.9999, tolerance, seed
    essential, found = cv2.findEssentialMat(here, seen[:, :2], first, first, None, None, how)
    if essential is None or essential.shape != (3, 3):
        return None
    agree = np.asarray(found).ravel() > 0
    by_chance = _chance(there, int(agree.sum()), tolerance)
    return (np.asarray(essential, np.float64), agree) if by_chance <= _CHANCE else None


def _chance(there: Array, enough: int, tolerance: float) -> float:
    """log10 of how many motions chance lets so many of the spots agree with (Moisan and Stival, 2004)."""
    total, spread = len(there), np.ptp(there, axis=0) + 1
    if enough < _LEAST:
        return float("inf")
    strip = min(1.0, 2 * tolerance * float(np.hypot(*spread) / spread.prod()))  # a line's share
    choices = _choices(total, enough) + _choices(enough, 5)
    return log(max(total - 5, 1)) / log(10) + choices + (enough - 5) * log(strip) / log(10)


def _choices(n: int, k: int) -> float:
    """log10 of the number of ways to choose k of n."""
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(10)


def _turned(
    here: Array,
    there: Array,
    flat: Flags,
    first: Array,
    second: Array,
    tolerance: float,
    *,
    assumed: bool,
) -> tuple[Array, Flags, float] | None:
    """The rotation that explains most spots, which those are, and the factor of the focal length."""
    if flat.sum() < _LEAST:
        return None
    best: tuple[Array, Flags, float] | None = None
    for factor in (1.0, *_FOCALS) if assumed else (1.0,):
        zoom = np.diag([factor, factor, 1.0])
        cameras = first @ zoom, second @ zoom
        rotation, agree = _kabsch(here, there, flat, cameras, tolerance)
        # the assumed focal length stays unless another one explains clearly more
        if best is None or agree.sum() > best[1].sum() * (1.1 if best[2] == 1.0 else 1.0):
            best = rotation, agree, float(factor)
    return best


def _kabsch(
    here: Array, there: Array, agree: Flags, cameras: tuple[Array, Array], tolerance: float
) -> tuple[Array, Flags]:
    """The rotation between two bundles of directions, over those that come to agree with it."""
    before, after = (
        bundle / np.linalg.norm(bundle, axis=1, keepdims=True)
        for bundle in (rays(here, cameras[0]), rays(there, cameras[1]))
    )
    rotation = np.eye(3)
    for _ in range(4):
        rotation = Rotation.align_vectors(after[agree], before[agree])[0].as_matrix()
        turned = before @ rotation.T @ cameras[1].T
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.linalg.norm(turned[:, :2] / turned[:, 2:] - there, axis=1)
        now = (turned[:, 2] > 0) & (error <= tolerance * 1.5)
        if now.sum() < 3:
            break
        agree = now
    return rotation, agree


def _moved(
    overlap: _Overlap,
    essential: Array,
    agree: Flags,
    cameras: tuple[Array, Array],
    tolerance: float,
) -> _Motion:
    """A motion, refined on all spots that come to agree with it."""
    x1, x2 = rays(overlap.here, cameras[0]), rays(overlap.there, cameras[1])
    pixel = 2 / (cameras[0][0, 0] + cameras[1][0, 0])
    rotation, direction = _decomposed(essential, x1[agree], x2[agree])
    unsure = 0.0
    for _ in range(2):
        rotation, direction, unsure = _refined(x1[agree], x2[agree], rotation, direction, pixel)
        agree = np.abs(_sampson(x1, x2, _cross(direction) @ rotation)) <= tolerance * pixel
        if agree.sum() < _LEAST:
            break
    depth1, depth2 = _depths(x1, x2, rotation, direction)
    front = agree & (depth1 > 0) & (depth2 > 0)
    if unsure > _SURE:  # it moved too little against how far the scene is
        return _Motion(overlap.step(rotation, front), agree, front)
    depths = depth1[front], depth2[front]
    return _Motion(overlap.step(rotation, front, direction, depths), agree, front)


@dataclass(frozen=True, eq=False)
class _Motion:
    """A step, the spots that agree with it, and those of them that lie before both cameras."""

    step: Step
    agree: Flags
    front: Flags


def _best(motions: list[_Motion], flat: Flags) -> Step:
    """The motion with which most spots agree.

    Raises:
        Undetermined: they lie behind a camera or in one plane, or another motion is as good.
    """
    best = max(motions, key=lambda motion: int(motion.front.sum()))
    agree, front = int(best.agree.sum()), int(best.front.sum())
    if front < max(_IN_FRONT * agree, _LEAST):
        raise Undetermined(
            f"of {agree} spots that agree {agree - front} would lie behind a camera, so what they agree on is no "
            "motion"
        )
    if (flat & best.front).sum() >= _FLAT * front:
        raise Undetermined(
            "the matched spots lie in one plane, which more than one motion explains"
        )
    others = [motion.step for motion in motions if motion.front.sum() >= _AS_GOOD * front]
    unsure = max(angle(best.step.rotation @ other.rotation.T) for other in others)
    if unsure > _APART:
        raise Undetermined(
            f"motions {unsure:.0f}° apart explain the {front} spots that agree about as well"
        )
    return replace(best.step, unsure=unsure)


def _decomposed(essential: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
    """The rotation and the direction, of the four that an essential matrix allows, that puts most in front."""
    _, rotation, direction, _ = cv2.recoverPose(essential, x1[:, :2], x2[:, :2], np.eye(3))
    return np.asarray(rotation, np.float64), np.asarray(direction, np.float64).ravel()


def _refined(
    x1: Array, x2: Array, start: Array, towards: Array, pixel: float
) -> tuple[Array, Array, float]:
    """Rotation, direction of the translation, and the direction's standard deviation in degrees.

    Args:
        x1: N×3, directions from the first camera.
        x2: from the second.
        start: the rotation to begin with.
        towards: the direction to begin with.
        pixel: size of a pixel at z 1.
    """
    across = np.linalg.svd(towards[None])[2][1:]  # two directions at right angles to it

    def changed(by: Array) -> tuple[Array, Array]:
        moved = towards + by[3:] @ across
        return Rotation.from_rotvec(by[:3]).as_matrix() @ start, moved / np.linalg.norm(moved)

    def error(by: Array) -> Array:
        rotation, moved = changed(by)
        return _sampson(x1, x2, _cross(moved) @ rotation) / pixel

    best = least_squares(error, np.zeros(5), loss="soft_l1")
    noise = max(1.4826 * float(np.median(np.abs(best.fun))), 0.1)
    spread = np.linalg.pinv(best.jac.T @ best.jac)[3:, 3:] * noise**2
    unsure = float(np.degrees(np.sqrt(np.linalg.eigvalsh(spread)[-1])))
    return (*changed(best.x), unsure)


def _sampson(x1: Array, x2: Array, essential: Array) -> Array:
    """Signed Sampson distance of each pair, at z 1 (Hartley and Zisserman, 2004, eq. 11.9)."""
    line2, line1 = x1 @ essential.T, x2 @ essential
    slope = (line2[:, :2] ** 2).sum(axis=1) + (line1[:, :2] ** 2).sum(axis=1)
    return (x2 * line2).sum(axis=1) / np.sqrt(np.maximum(slope, 1e-18))  # type: ignore[no-any-return]


def _cross(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def _depths(x1: Array, x2: Array, rotation: Array, direction: Array) -> tuple[Array, Array]:
    """Z of each spot from the two cameras: least squares of `d2 · x2 = d1 · R x1 + t`."""
    turned = x1 @ rotation.T
    a, b, c = (turned**2).sum(1), -(turned * x2).sum(1), (x2**2).sum(1)
    e, f = -(turned @ direction), x2 @ direction
    det = np.maximum(a * c - b * b, 1e-12)
    return (c * e - b * f) / det, (a * f - b * e) / det
