"""Joining red rings and letter tags into markers, by what all markers of a picture share.

Whoever drew the markers drew them all alike: one radius, one line width, one letter size, the tag
always at the same place beside its ring, the letters A, B, C, … once each. A ring or a tag that is
doubtful by itself is therefore believed where it fits the others, and a striking one that does not
fit (a road sign, a caption) is left out.

Coordinates are pixel indices (x right, y down).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ._covered import covered_by, look_under
from ._glyphs import LETTERS, assign_letters
from ._rings import Image, Ring, closeness, measure, propose, redness
from ._tags import Tag, find_tags

__all__ = ["Marker", "find_markers", "find_rings"]

_WEAK_RING, _FAIR_RING, _STRONG_RING, _ALONE_RING = 0.35, 0.45, 0.6, 0.66
_WEAK_TAG, _FAIR_TAG, _STRONG_TAG, _SURE_TAG = 0.25, 0.4, 0.5, 0.7


@dataclass(frozen=True)
class Marker:
    """One ring with its label.

    Attributes:
        x: Centre of the ring, pixels.
        y: Centre of the ring, pixels.
        radius: Radius of the ring's line, pixels.
        label: "A", "B", … or "REF".
        tagged: Whether a tag was read; otherwise the label follows from the other labels.
        seen: Whether the ring shows; otherwise it lies under a tag and its place follows from
            where the tag of a ring is drawn in this picture.
    """

    x: float
    y: float
    radius: float
    label: str
    tagged: bool
    seen: bool


@dataclass(frozen=True)
class _Style:
    """What the markers of one picture share, in pixels: the tag's place, radius, letter height."""

    dx: float
    dy: float
    radius: float
    height: float

    def fits(self, ring: Ring, tag: Tag) -> bool:
        """Says whether a ring and a tag stand to each other as this style draws them."""
        dx, dy = _offset(ring, tag)
        if tag.cut == "top":  # what is left of the letter is its lower part
            dy = tag.box[3] - (self.height - 1) / 2 - ring.y
        slack = max(2.0, 0.3 * self.height)
        # Tags may be set flush left or centred, so a wide letter moves its middle sideways.
        return (
            abs(dx - self.dx) <= slack + 0.15 * self.height
            and abs(dy - self.dy) <= slack
            and self.suits(ring)
            and self.matches(tag)
        )

    def suits(self, ring: Ring) -> bool:
        """Says whether a ring has this style's radius."""
        return abs(ring.radius - self.radius) <= max(0.9, 0.18 * self.radius)

    def matches(self, tag: Tag) -> bool:
        """Says whether a tag has this style's letter height; a cut-off letter may be lower."""
        if tag.cut in ("top", "bottom"):
            return tag.height <= self.height + 1.5
        return abs(tag.height - self.height) <= max(1.5, 0.2 * self.height)


def _offset(ring: Ring, tag: Tag) -> tuple[float, float]:
    """Gives where the middle of a tag's ink lies from a ring's centre, pixels."""
    x, y = tag.centre
    return x - ring.x, y - ring.y


def find_rings(rgb: Image) -> list[Ring]:
    """Finds everything ring-like and red, best first.

    Args:
        rgb: H×W×3 RGB picture.

    Returns:
        Rings with a score of at least 0.35, of which no two share a place.
    """
    red = redness(rgb)
    largest = max(24.0, 0.07 * max(rgb.shape[:2]))
    rings = measure(rgb, red, propose(red, largest))
    return _distinct([r for r in rings if r.score >= _WEAK_RING and r.visible >= 0.3])


def _distinct(rings: Sequence[Ring]) -> list[Ring]:
    """Keeps the best of the rings that share a place, best first."""
    kept: list[Ring] = []
    for ring in sorted(rings, key=lambda r: -r.score):
        apart = all(
            np.hypot(ring.x - k.x, ring.y - k.y) > 0.6 * min(ring.radius, k.radius) for k in kept
        )
        if apart:
            kept.append(ring)
    return kept


def _near(ring: Ring, tag: Tag) -> bool:
    """Says whether a tag may belong to a ring at all, going by sizes and distance."""
    dx, dy = _offset(ring, tag)
    reach = 4.0 * ring.radius + 3.0 * tag.height
    in_proportion = 0.6 * ring.radius <= tag.height <= 6.0 * ring.radius or bool(tag.cut)
    apart = max(abs(dx), abs(dy)) > ring.radius
    return in_proportion and apart and np.hypot(dx, dy) <= reach


def _fit_pairs(
    rings: Sequence[Ring], tags: Sequence[Tag], style: _Style
) -> list[tuple[int, int, float]]:
    """Lists the pairs that fit a style, one to one, as (ring, tag, worth), best first."""
    options = []
    for i, ring in enumerate(rings):
        for j, tag in enumerate(tags):
            if style.fits(ring, tag):
                dx, dy = _offset(ring, tag)
                off = np.hypot(dx - style.dx, dy - style.dy) / max(2.0, 0.5 * style.height)
                options.append((ring.score * _tag_score(tag) * (1 - 0.3 * min(off, 1.0)), i, j))
    pairs: list[tuple[int, int, float]] = []
    for worth, i, j in sorted(options, reverse=True):
        if all(i != p[0] and j != p[1] for p in pairs):
            pairs.append((i, j, worth))
    return pairs


def _tag_score(tag: Tag) -> float:
    """How good a tag is, 0..1."""
    return tag.frame if tag.word else tag.score


def _best_style(
    rings: Sequence[Ring], tags: Sequence[Tag]
) -> tuple[_Style, list[tuple[int, int, float]]] | None:
    """Finds the style that explains most rings and tags; None where no pair is believable."""
    best: tuple[float, _Style, list[tuple[int, int, float]]] | None = None
    for ring in rings:
        for tag in tags:
            if not _near(ring, tag):
                continue
            dx, dy = _offset(ring, tag)
            style = _Style(dx, dy, ring.radius, float(tag.height))
            pairs = _fit_pairs(rings, tags, style)
            names = [tags[j].word or _top(tags[j]) for _, j, _ in pairs]
            # Pairs that repeat a letter are coincidences rather than support.
            support = sum(
                max(w for (_, _, w), n in zip(pairs, names, strict=True) if n == name)
                for name in set(names)
            )
            support -= 0.02 * float(np.hypot(dx, dy)) / (ring.radius + tag.height)
            if best is None or support > best[0]:
                best = (support, style, pairs)
    if best is None:
        return None
    _, style, pairs = best
    style = _average(style, rings, tags, pairs)
    taken = {i for i, _, _ in pairs}, {j for _, j, _ in pairs}
    others = _nearest_pairs(
        [r for i, r in enumerate(rings) if i not in taken[0]],
        [t for j, t in enumerate(tags) if j not in taken[1]],
        style,
    )
    joined = [(rings[i], tags[j]) for i, j, _ in pairs] + others
    return (style, pairs) if _believable(joined) else None


def _nearest_pairs(
    rings: Sequence[Ring], tags: Sequence[Tag], style: _Style
) -> list[tuple[Ring, Tag]]:
    """Pairs rings and tags of one style whose place beside each other differs from the style's.

    At the picture border a tag may have been moved along, or to the other side.
    """
    usual = float(np.hypot(style.dx, style.dy))
    options = []
    for i, ring in enumerate(rings):
        for j, tag in enumerate(tags):
            far = float(np.hypot(*_offset(ring, tag)))
            good = ring.score >= _STRONG_RING and tag.score >= _STRONG_TAG
            fits = style.suits(ring) and style.matches(tag) and _near(ring, tag)
            if good and fits and abs(far - usual) < 0.35 * usual + 3:
                options.append((abs(far - usual), i, j))
    pairs: list[tuple[int, int]] = []
    for _, i, j in sorted(options):
        if all(i != a and j != b for a, b in pairs):
            pairs.append((i, j))
    return [(rings[i], tags[j]) for i, j in pairs]


def _believable(pairs: Sequence[tuple[Ring, Tag]]) -> bool:
    """Says whether pairs of one style are more than a coincidence."""
    good = [(r, t) for r, t in pairs if r.score >= _FAIR_RING and _tag_score(t) >= _STRONG_TAG]
    sure = [(r, t) for r, t in good if r.score >= _STRONG_RING]
    if sure and len({_top(t) for _, t in good}) >= 2:
        return True
    # One pair must stand by itself: nobody letters a single ring anything but A or REF.
    return any(
        (t.word or (_top(t) == "A" and t.score >= 0.65 and t.frame >= 0.9 and not t.cut))
        and r.visible >= 0.6
        for r, t in sure
    )


def _average(
    style: _Style,
    rings: Sequence[Ring],
    tags: Sequence[Tag],
    pairs: Sequence[tuple[int, int, float]],
) -> _Style:
    """Takes the middle of the pairs of a style, leaving out cut-off letters if others exist."""
    whole = [(i, j) for i, j, _ in pairs if not tags[j].cut] or [(i, j) for i, j, _ in pairs]
    offsets = np.array([_offset(rings[i], tags[j]) for i, j in whole])
    dx, dy = np.median(offsets, axis=0)
    return replace(
        style,
        dx=float(dx),
        dy=float(dy),
        radius=float(np.median([rings[i].radius for i, _ in whole])),
        height=float(np.median([tags[j].height for _, j in whole])),
    )


def _top(tag: Tag) -> str:
    """Names the marker letter that fits a tag best."""
    return max(LETTERS, key=tag.letters.__getitem__)


def find_markers(rgb: Image) -> list[Marker]:
    """Finds the ring markers of a picture.

    Args:
        rgb: H×W×3 RGB picture.

    Returns:
        The markers in the order of their labels; none where no ring is credible.
    """
    rings = find_rings(rgb)
    if not rings:
        return []
    tags = [t for t in find_tags(rgb) if t.word or t.score >= _WEAK_TAG]
    answer = _best_style(rings, tags)
    if answer is None:
        return _alone(rings)
    style, pairs = answer
    rings = [_steady(rgb, r, style) for r in rings]
    found: list[tuple[Ring | None, Tag | None, float, float]] = [
        (rings[i], tags[j], rings[i].x, rings[i].y) for i, j, _ in pairs
    ]
    if any(tag is not None and tag.word for _, tag, _, _ in found):
        return _label(found[:1], style)  # a picture has one REF and no other marker
    found += _leftovers(rgb, rings, tags, style, pairs)
    return _label(found, style)


def _steady(rgb: Image, ring: Ring, style: _Style) -> Ring:
    """Fits a ring that the picture border cuts off again, with the radius of the others.

    A short arc fixes radius and centre together only poorly.
    """
    if ring.visible > 0.8 or not style.suits(ring):
        return ring
    start = np.array([[ring.x, ring.y, style.radius]])
    again = measure(rgb, redness(rgb), start, rounds=6, keep_radius=True)
    return again[0] if again and again[0].score >= 0.8 * ring.score else ring


_Found = tuple[Ring | None, Tag | None, float, float]


def _leftovers(
    rgb: Image,
    rings: Sequence[Ring],
    tags: Sequence[Tag],
    style: _Style,
    pairs: Sequence[tuple[int, int, float]],
) -> list[_Found]:
    """Finds the markers of which only the ring or only the tag was found so far.

    Returns:
        (ring or None, tag or None, x, y) per further marker, x and y in pixels.
    """
    paired_rings, paired_tags = {i for i, _, _ in pairs}, {j for _, j, _ in pairs}
    colour = np.median([rings[i].colour for i in paired_rings], axis=0)
    free_rings = [
        r
        for i, r in enumerate(rings)
        if i not in paired_rings
        and style.suits(r)
        and r.score >= _STRONG_RING
        and np.linalg.norm(np.subtract(r.colour, colour)) < 60
    ]
    free_tags = [
        t for j, t in enumerate(tags) if j not in paired_tags and style.matches(t) and not t.word
    ]
    found: list[_Found] = []
    for ring, tag in _nearest_pairs(free_rings, free_tags, style):
        found.append((ring, tag, ring.x, ring.y))
        free_rings.remove(ring)
        free_tags.remove(tag)
    if not free_tags and not free_rings:
        return found
    like = closeness(rgb, (float(colour[0]), float(colour[1]), float(colour[2])))
    # Thin lines never quite have their own colour once compressed.
    usual = [_likeness(like, rings[i]) for i in paired_rings]
    like = np.asarray(np.clip(like / max(float(np.median(usual)), 0.3), 0, 1), np.float32)
    # Only what surely is a marker's tag counts as a cover: near a caption all is black.
    sure = [t for t in free_tags if t.alone and t.score >= _SURE_TAG]
    covered = covered_by(rgb, [*(tags[j] for j in paired_tags), *sure])
    taken = [(rings[i].x, rings[i].y) for i in paired_rings] + [(f[2], f[3]) for f in found]
    for tag in free_tags:
        place = look_under(
            like,
            covered,
            (tag.centre[0] - style.dx, tag.centre[1] - style.dy),
            style.radius,
            max(2.0, 0.25 * style.height),
        )
        if place is None:
            continue
        cx, cy, seen = place
        free = all(np.hypot(cx - a, cy - b) > style.radius for a, b in taken)
        if free and (tag.score >= _FAIR_TAG if seen else tag in sure):
            found.append((None, tag, cx, cy))
            taken.append((cx, cy))
    for ring in free_rings:
        free = all(np.hypot(ring.x - a, ring.y - b) > style.radius for a, b in taken)
        if free and _may_lack_tag(rgb, ring, style, [tags[j] for j in paired_tags]):
            found.append((ring, None, ring.x, ring.y))
            taken.append((ring.x, ring.y))
    return found


def _may_lack_tag(rgb: Image, ring: Ring, style: _Style, tags: Sequence[Tag]) -> bool:
    """Says why a ring's tag may not have been read: off the picture, hidden, or illegible."""
    height, width = rgb.shape[:2]
    x, y, half = ring.x + style.dx, ring.y + style.dy, 0.5 * style.height
    if min(x, y, width - 1 - x, height - 1 - y) < half:
        return True
    if any(
        t.box[0] - 2 * half < x < t.box[2] + 2 * half
        and t.box[1] - 3 * half < y < t.box[3] + 3 * half
        for t in tags
    ):
        return True
    top, left = max(round(y - 1.5 * half), 0), max(round(x - 1.5 * half), 0)
    panel = rgb[top : round(y + 1.5 * half) + 1, left : round(x + 1.5 * half) + 1]
    black = float((panel.max(axis=2) < 60).mean())
    return 0.5 <= black < 0.98 and int(panel.min(axis=2).max()) > 90


def _likeness(like: NDArray[np.float32], ring: Ring) -> float:
    """Gives the median of a map along a ring's line."""
    angles = np.arange(32) * (2 * np.pi / 32)
    x = np.clip(np.round(ring.x + ring.radius * np.cos(angles)), 0, like.shape[1] - 1).astype(int)
    y = np.clip(np.round(ring.y + ring.radius * np.sin(angles)), 0, like.shape[0] - 1).astype(int)
    return float(np.median(like[y, x]))


def _label(found: Sequence[_Found], style: _Style) -> list[Marker]:
    """Gives every marker its letter: each letter once, without gaps if at all possible."""
    words = [f for f in found if f[1] is not None and f[1].word]
    others = [f for f in found if f[1] is None or not f[1].word][: len(LETTERS)]
    fits = np.zeros((len(others), len(LETTERS)))
    for i, (_, tag, _, _) in enumerate(others):
        if tag is not None:
            fits[i] = [tag.letters[name] for name in LETTERS]
    labels = [LETTERS[k] for k in assign_letters(fits)]
    markers = [
        Marker(x, y, style.radius, name, tag is not None, ring is not None)
        for (ring, tag, x, y), name in zip(others, labels, strict=True)
    ]
    markers += [Marker(x, y, style.radius, "REF", True, True) for _, _, x, y in words[:1]]
    return sorted(markers, key=lambda m: m.label)


def _alone(rings: Sequence[Ring]) -> list[Marker]:
    """Takes the one ring without a tag as "REF", if it looks drawn beyond doubt."""
    sure = [r for r in rings if _drawn(r) and not _among_like(r, rings)]
    if not sure:
        return []
    ring = max(sure, key=lambda r: r.score)
    return [Marker(ring.x, ring.y, ring.radius, "REF", False, True)]


def _among_like(ring: Ring, rings: Sequence[Ring]) -> bool:
    """Says whether ring-like things crowd around a ring, as the letters of red lettering do."""
    near = [
        r
        for r in rings
        if r is not ring
        and r.score >= 0.5
        # Pieces of the ring's own line do not count.
        and ring.radius + ring.stroke + r.radius
        < np.hypot(r.x - ring.x, r.y - ring.y)
        < 5 * ring.radius
    ]
    return len(near) >= 2


def _drawn(ring: Ring) -> bool:
    """Says whether a ring looks drawn even though no tag vouches for it."""
    red, green, blue = ring.colour
    saturated = red >= 140 and red - max(green, blue) >= 0.5 * red
    return (
        ring.score >= _ALONE_RING
        and ring.coverage >= 0.9
        and ring.visible >= 0.5
        and ring.hollow >= 0.12
        and ring.crowd <= 0.12
        and saturated
    )
