"""Where a point of one image is in another, estimated from the matches around it.

Around a point, one image is nearly an affine picture of the other. So its nearest matches are fitted by an
affine map, weighted by how near they are. Wrong matches are kept out in two steps. First, each two of
the matches propose a similarity (rotation, scale, shift), and the proposal that suits most of them best
is taken: the least quantile of residuals (Rousseeuw, 1984, "Least median of squares regression"), with a
quantile below the median, so that more than half may be wrong. Then weights that fall to zero far from it
are found in rounds (Tukey's biweight).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry import FRAME, Size
from ..results import Matches

__all__ = ["REACH", "Transfer", "transferred"]

REACH = 0.25
"""A point farther from every match than this part of the longer side is not estimated."""

_NEIGHBOURS = 20
_HALF = 0.67  # of the neighbours' median distance: where a match counts half
_FEWEST = 8  # of fewer, too many would lie on the similarity that any two of them propose
_AFFINE = 6  # agreeing matches that an affine map needs: twice as many as determine one
_FLATTEST = 0.01  # how flat the agreeing matches may lie, as a ratio of variances
_QUANTILE = 0.4
_CUTS = (8.0, 6.0, 4.0, 3.0, 3.0)
"""Of the scale of the residuals, where weights reach zero. Wide at first, since what is affine lies off the
similarity that was proposed."""
_NORMAL = 1.4826  # from a median of residuals to their standard deviation
_SMALLEST = 0.001  # scale of residuals, in parts of the longer side: a step of the 0-1000 frame
_ZOOM = 8.0  # proposals that enlarge or shrink more than this are chance

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Transfer:
    """Where one point is in the second image.

    Attributes:
        place: (x, y) in pixels of the second image, maybe outside it; None too far from any match.
        spread: how far half of the neighbours' own estimates lie from `place`, in thousandths of the
            frame; more where the point lies beyond the neighbours, so that errors grow. None where a
            single match is all there is.
        share: which part of the neighbours, the nearer ones counting for more, agree; or None likewise.
    """

    place: tuple[float, float] | None = None
    spread: float | None = None
    share: float | None = None


@dataclass(frozen=True)
class _Around:
    """The nearest matches of a point.

    Attributes:
        starts: N×2, from the point to where they begin.
        ends: N×2, where they end.
        weights: N, larger for nearer ones.
        reach: their median distance.
        floor: the smallest scale of residuals, in pixels.
    """

    starts: Floats
    ends: Floats
    weights: Floats
    reach: float
    floor: float


@dataclass(frozen=True)
class _Map:
    """An affine map x -> matrix x + shift, by which the point itself, at 0, goes to `shift`."""

    matrix: Floats
    shift: Floats

    def residuals(self, around: _Around) -> Floats:
        """N×2: from where the map takes each match to where it ends."""
        missed: Floats = around.ends - around.starts @ self.matrix.T - self.shift
        return missed


def transferred(matches: Matches, places: Iterable[tuple[float, float]]) -> list[Transfer]:
    """Each place of the first image in the second.

    Args:
        matches: of the two images. Pairs that are known to be wrong (`inliers`) are left out, unless
            all are.
        places: (x, y) in pixels of the first image.

    >>> grid = [(x, y) for x in range(0, 100, 20) for y in range(0, 100, 20)]
    >>> turned = Matches(grid, [(90 - y, x + 5) for x, y in grid], size1=(100, 100))
    >>> [round(n) for n in transferred(turned, [(33, 44)])[0].place]
    [46, 38]
    """
    rows = np.ones(len(matches), bool)
    if matches.inliers is not None and matches.inliers.any():
        rows = matches.inliers
    starts, ends = (
        np.asarray(points, np.float64)[rows] for points in (matches.points1, matches.points2)
    )
    return [_one(starts, ends, place, matches.size1, matches.size2) for place in places]


def _one(
    starts: Floats, ends: Floats, place: tuple[float, float], size1: Size, size2: Size
) -> Transfer:
    distance = np.hypot(*(starts - place).T)
    nearest = np.argsort(distance, kind="stable")[:_NEIGHBOURS]
    if not len(nearest) or distance[nearest[0]] > REACH * max(size1):
        return Transfer()
    reach = max(float(np.median(distance[nearest])), 1.0)
    around = _Around(
        starts[nearest] - place,
        ends[nearest],
        1 / (1 + (distance[nearest] / (_HALF * reach)) ** 2),
        reach,
        _SMALLEST * max(size2),
    )
    few = len(nearest) < _FEWEST
    found = _displacement(around) if few else _refined(_proposal(around), around)
    x, y = found.shift.tolist()
    if len(nearest) == 1:
        return Transfer((x, y))
    missed = found.residuals(around)
    off = np.hypot(*missed.T)
    agrees = off <= _CUTS[-1] * _scale(off, around)
    share = float(around.weights[agrees].sum() / around.weights.sum())
    votes = np.hypot(*(missed * FRAME / np.array(size2)).T)
    if few:  # no half of so few is safe: all count
        spread = math.sqrt(float(np.average(votes**2, weights=around.weights)))
    else:
        spread = _quantile(votes, around.weights, 0.5) * _leverage(around, agrees)
    return Transfer((x, y), spread, share)


def _quantile(values: Any, weights: Floats, part: float) -> Any:
    """Along the last axis, the least value up to which `part` of the weight lies."""
    order = np.argsort(values, axis=-1)
    heaped = np.cumsum(weights[order], axis=-1)
    at = (heaped >= part * weights.sum()).argmax(axis=-1)
    rank = np.take_along_axis(order, at[..., None], axis=-1)
    return np.take_along_axis(values, rank, axis=-1)[..., 0]


def _typical(off: Floats, around: _Around) -> Any:
    """The residual that `_QUANTILE` of the matches do not exceed, by weight and by number.

    By weight alone, two or three matches close by could be all that counts.
    """
    return np.maximum(
        _quantile(off, around.weights, _QUANTILE),
        _quantile(off, np.ones(off.shape[-1]), _QUANTILE),
    )


def _scale(off: Floats, around: _Around) -> float:
    return max(_NORMAL * float(_typical(off, around)), around.floor)


def _displacement(around: _Around) -> _Map:
    """The weighted median of how far the matches go, along each axis."""
    moves = (around.ends - around.starts).T
    return _Map(np.eye(2), np.asarray(_quantile(moves, around.weights, 0.5), np.float64))


def _proposal(around: _Around) -> _Map:
    """The similarity through two matches, or shift of one, that suits the rest best.

    Points are complex numbers here, so that a similarity is z -> a z + b.
    """
    z, to = (points[:, 0] + 1j * points[:, 1] for points in (around.starts, around.ends))
    first, second = np.triu_indices(len(z), 1)
    apart = abs(z[second] - z[first]) > around.reach / 20
    first, second = first[apart], second[apart]
    a = (to[second] - to[first]) / (z[second] - z[first])
    likely = (abs(a) > 1 / _ZOOM) & (abs(a) < _ZOOM)
    a, first = a[likely], first[likely]
    a, b = np.append(a, np.ones(len(z))), np.append(to[first] - a * z[first], to - z)
    off = abs(to - a[:, None] * z - b[:, None])
    best = int(np.argmin(_typical(off, around)))
    return _Map(_turn(a[best].real, a[best].imag), np.array([b[best].real, b[best].imag]))


def _turn(real: float, imaginary: float) -> Floats:
    return np.array([[real, -imaginary], [imaginary, real]])


def _refined(found: _Map, around: _Around) -> _Map:
    """The map fitted to all matches that agree with it, in rounds."""
    for cut in _CUTS:
        off = np.hypot(*found.residuals(around).T)
        biweight = np.clip(1 - (off / (cut * _scale(off, around))) ** 2, 0, None) ** 2
        found = _fitted(around, around.weights * biweight, found)
    return found


def _fitted(around: _Around, weights: Floats, before: _Map) -> _Map:
    """The affine map of least squares; where the matches do not tell one, the similarity or the shift."""
    start, end = (np.average(p, axis=0, weights=weights) for p in (around.starts, around.ends))
    x, y = around.starts - start, around.ends - end
    spread, shared = (weights * x.T) @ x, (weights * y.T) @ x
    size = np.trace(spread)
    low, high = np.linalg.eigvalsh(spread)
    if size < weights.sum():  # within a pixel of each other, they tell a shift alone
        matrix = before.matrix
    elif (weights > 0).sum() >= _AFFINE and low > _FLATTEST * high:
        matrix = shared @ np.linalg.inv(spread)
    else:
        real = (shared[0, 0] + shared[1, 1]) / size
        matrix = _turn(real, (shared[1, 0] - shared[0, 1]) / size)
    return _Map(matrix, end - matrix @ start)


def _leverage(around: _Around, agrees: npt.NDArray[np.bool_]) -> float:
    """How much larger the error is at the point than among the matches that agree (1 amid them)."""
    weights = around.weights[agrees]
    starts = around.starts[agrees]
    centre = np.average(starts, axis=0, weights=weights)
    covariance = np.cov(starts.T, aweights=weights, bias=True)
    covariance += np.eye(2)  # a pixel, so that it is never singular
    return math.sqrt(1 + float(centre @ np.linalg.solve(covariance, centre)))
