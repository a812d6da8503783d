"""How the camera moved between pictures of one scene."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._arrays import describe, to_numpy
from ..._plain import plain_number
from ...errors import InputError, ToolError
from ...images import RGB
from ...results import DepthMap, Matches
from ..capability import Capability, Finding, New, unusable
from ..kinds import Cameras
from ..memory import Memory
from ._backend import Backend, expert_backend

if TYPE_CHECKING:
    from ._two_views import Step

__all__ = ["CameraTrajectory"]

Array = npt.NDArray[np.float64]

_MOST = 32  # pictures
_SMALL = (
    0.05  # of a movement: what goes less far than this share of it sideways is not worth a word
)


class CameraTrajectory(Capability):
    """Works out each picture's camera from spots that neighbouring pictures share.

    Between two neighbours it is an essential matrix, or a rotation alone where nothing shows that the camera moved;
    motions are chained. What does not hold is refused: too few spots, agreement that chance may give, a scene in
    one plane, two motions that explain the spots as well.

    Args:
        matcher: `affine-sift`; a correspondence expert by its name; or a callable that takes two pictures and
            returns `Matches`.
        depth: metres for the scale: a depth expert by its name, or a callable that takes a picture and returns a
            metric `DepthMap`. None for none: then only directions are known.
        intrinsics: the focal length in pixels, or a 3×3 matrix, of all pictures. None: it is assumed from
            `field_of_view`, and the finding says so.
        field_of_view: degrees across the longer side, where nothing is known.
        geometry: a model that does all of this: a callable that takes the list of pictures and returns `Cameras`
            (whose `images` may be empty). Then the arguments before it have no meaning.

    Raises:
        InputError: no such expert, or no such intrinsics.

    >>> import asyncio, tempfile
    >>> poses = np.stack([np.eye(4), np.eye(4)])
    >>> poses[1, :3, :3] = [[0, 0, -1], [0, 1, 0], [1, 0, 0]]
    >>> def model(pictures):
    ...     return Cameras((), poses, np.stack([np.eye(3)] * 2), True, np.ones(1))
    >>> memory = Memory(tempfile.mkdtemp())
    >>> names = [
    ...     memory.add("image", np.zeros((60, 80, 3), np.uint8), made_by="user").handle for _ in poses
    ... ]
    >>> turned = asyncio.run(CameraTrajectory(geometry=model).call(memory, names))
    >>> print(turned.passages["passage"].splitlines()[0])
    input_image_2, from input_image_1: turned by 90.0°: 90.0° to the right (pan); no movement shows.
    """

    name = "camera_trajectory"

    def __init__(
        self,
        matcher: str | Callable[..., Matches] = "affine-sift",
        depth: str | Callable[..., DepthMap] | None = None,
        *,
        intrinsics: Any = None,
        field_of_view: float = 60.0,
        geometry: Callable[[list[RGB]], Cameras] | None = None,
    ) -> None:
        self._matcher = _matcher(matcher)
        self._depth = None if depth is None else expert_backend(depth, "depth", {})
        self._geometry = None if geometry is None else Backend.given(geometry)
        self._given = None if intrinsics is None else _intrinsics(intrinsics)
        if not 1 <= plain_number(field_of_view, "field_of_view") <= 170:
            raise InputError(f"field_of_view: expected 1 to 170 degrees, got {field_of_view!r}")
        self._view = float(field_of_view)

    def settings(self) -> dict[str, Any]:
        """The backends, and the intrinsics or what they are assumed from."""
        if self._geometry is not None:
            return {"geometry": self._geometry.facts}
        given = self._given
        return {
            "matcher": self._matcher.facts,
            "depth": None if self._depth is None else self._depth.facts,
            "intrinsics": given if given is None or isinstance(given, float) else given.tolist(),
            "field_of_view": self._view,
        }

    async def call(self, memory: Memory, images: list[str]) -> Finding:
        """Work out how the camera moved.

        Args:
            memory: what was gathered.
            images: the handles of two or more pictures of one scene, in order.
        """
        if not 2 <= len(images) <= _MOST:
            raise InputError(f"images: expected 2 to {_MOST} handles, got {len(images)}")
        if len(set(images)) < len(images):
            raise InputError("images: expected different pictures, got one of them twice")
        pictures = [memory.image(handle) for handle in images]
        from ._two_views import Undetermined

        try:
            if self._geometry is not None:
                answer = await self._geometry.run(pictures)
                return _finding(_checked(answer, images), ["Worked out by a geometry model."], [])
            return await self._measured(images, pictures)
        except (Undetermined, ToolError) as why:
            return unusable(str(why), images=", ".join(images))

    async def _measured(self, images: list[str], pictures: list[RGB]) -> Finding:
        from ._chain import chained, metric_length
        from ._two_views import step_of

        cameras = [self._camera(picture) for picture in pictures]
        steps = []
        for n, (first, second) in enumerate(pairwise(pictures)):
            matches = await self._matcher.run(first, second)
            if not isinstance(matches, Matches):
                raise ToolError(f"matcher: expected Matches, got {describe(matches)}")
            about = f"{images[n]} and {images[n + 1]}"
            steps.append(await asyncio.to_thread(self._step, step_of, matches, cameras, n, about))
        depths = [await self._metres(picture) for picture in pictures]
        lengths = [
            metric_length(step, depths[n], depths[n + 1]) if step.moved else 0.0
            for n, step in enumerate(steps)
        ]
        found = Cameras(
            tuple(images),
            chained(steps, cameras, lengths),
            np.stack(cameras),
            self._depth is not None and None not in lengths,
            np.array([step.overlap for step in steps]),
        )
        return _finding(found, self._focal_said(steps, cameras), steps)

    def _step(
        self,
        step_of: Callable[..., Step],
        matches: Matches,
        cameras: list[Array],
        n: int,
        about: str,
    ) -> Step:
        from ._two_views import Undetermined

        try:
            return step_of(matches, cameras[n], cameras[n + 1], assumed=self._given is None)
        except Undetermined as why:
            raise Undetermined(f"between {about}: {why}") from None

    async def _metres(self, picture: RGB) -> DepthMap | None:
        """The picture's depth, if it is in metres."""
        if self._depth is None:
            return None
        try:
            depth = await self._depth.run(picture)
        except (InputError, ToolError):  # then there is no scale, and the finding says so
            return None
        if not isinstance(depth, DepthMap):
            raise ToolError(f"depth: expected a DepthMap, got {describe(depth)}")
        return depth if depth.kind == "metric" else None

    def _camera(self, picture: RGB) -> Array:
        height, width = picture.shape[:2]
        if self._given is not None and not isinstance(self._given, float):
            return self._given
        wide = max(width, height) / 2
        focal = self._given or wide / math.tan(math.radians(self._view / 2))
        return np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1.0]])

    def _focal_said(self, steps: Sequence[Step], cameras: Sequence[Array]) -> list[str]:
        focal = f"Focal length: {cameras[0][0, 0]:.0f} pixels"
        if self._given is not None:
            return [f"{focal}, as given."]
        said = f"{focal}, assumed: {self._view:g}° across the longer side. Angles are off as far as that is."
        better = [step.focal for step in steps if step.focal != 1]
        if better:
            said += (
                f" For a turn {better[0] * cameras[0][0, 0]:.0f} pixels fit better and were used."
            )
        return [said]


def _matcher(matcher: str | Callable[..., Matches]) -> Backend:
    if matcher != "affine-sift":
        return expert_backend(matcher, "correspondence", {})

    def make() -> Callable[..., Matches]:
        from .affine_sift import AffineSIFT

        return AffineSIFT()

    return Backend({"name": matcher, "checkpoint": None}, make)


def _intrinsics(given: Any) -> float | Array:
    """A focal length, or a matrix.

    Raises:
        InputError: it is neither.
    """
    if np.ndim(given) == 0:
        focal = float(plain_number(given, "intrinsics"))
        if focal <= 0:
            raise InputError(f"intrinsics: expected a focal length above 0, got {given!r}")
        return focal
    matrix = to_numpy(np.asarray(given, np.float64))
    good = matrix.shape == (3, 3) and np.isfinite(matrix).all() and matrix[2].tolist() == [0, 0, 1]
    if not good or matrix[0, 0] <= 0 or matrix[1, 1] <= 0 or matrix[1, 0] != 0:
        raise InputError(
            f"intrinsics: expected a focal length or [[fx, s, cx], [0, fy, cy], [0, 0, 1]], got {describe(given)}"
        )
    return matrix


def _checked(answer: Any, images: list[str]) -> Cameras:
    """What a geometry model returned, of these pictures.

    Raises:
        ToolError: it is no `Cameras`, or not of so many pictures.
    """
    if not isinstance(answer, Cameras):
        raise ToolError(f"geometry: expected Cameras, got {describe(answer)}")
    n = len(images)
    poses, intrinsics = (
        np.asarray(array, np.float64) for array in (answer.poses, answer.intrinsics)
    )
    if poses.shape != (n, 4, 4) or intrinsics.shape != (n, 3, 3):
        raise ToolError(
            f"geometry: expected {n} poses of 4×4 and {n} intrinsics of 3×3, got {describe(answer.poses)} "
            f"and {describe(answer.intrinsics)}"
        )
    turns = poses[:, :3, :3]
    if not np.isfinite(poses).all() or not np.allclose(
        turns @ turns.transpose(0, 2, 1), np.eye(3), atol=1e-3
    ):
        raise ToolError("geometry: expected poses whose rotations are rotations")
    overlap = np.asarray(answer.overlap, np.float64)
    if overlap.shape != (n - 1,):
        raise ToolError(f"geometry: expected {n - 1} overlaps, got {describe(answer.overlap)}")
    poses = poses @ np.linalg.inv(poses[0])
    return Cameras(tuple(images), poses, intrinsics, bool(answer.metric), overlap)


def _finding(found: Cameras, said: list[str], steps: Sequence[Step]) -> Finding:
    names = ", ".join(found.images)
    raw = {
        "poses": found.poses.tolist(),
        "intrinsics": found.intrinsics.tolist(),
        "metric": found.metric,
        "overlap": found.overlap.tolist(),
    }
    if all(_is_still(pose) for pose in found.poses):
        return Finding("none", {"images": names}, raw=raw)
    moved = any(np.linalg.norm(pose[:3, 3]) > 0 for pose in found.poses)
    unit = "rotation" if not moved else "metres" if found.metric else "no_scale"
    lines = [_pose_said(found, n) for n in range(1, len(found.images))]
    lines += [_step_said(found, n, step) for n, step in enumerate(steps)] + said
    return Finding(
        "found",
        {"images": names},
        {"passage": "\n".join(lines)},
        new={"camera": New("camera", found, found.images)},
        raw=raw,
        phrases={"unit": unit},
    )


def _is_still(pose: Array) -> bool:
    return bool(np.allclose(pose, np.eye(4), atol=1e-9))


def _pose_said(found: Cameras, n: int) -> str:
    """One picture's camera, as the first one's sees it."""
    pose = found.poses[n]
    said = f"{found.images[n]}, from {found.images[0]}: {_turn_said(pose[:3, :3])}"
    length = float(np.linalg.norm(pose[:3, 3]))
    if length < 1e-9:
        return f"{said}; no movement shows."
    place = -pose[:3, :3].T @ pose[:3, 3]
    ways = (("right", "left"), ("down", "up"), ("forward", "backward"))
    parts = [
        f"{abs(part):.2f} {way[0] if part > 0 else way[1]}"
        for part, way in zip(place, ways, strict=True)
        if abs(part) >= _SMALL * length
    ]
    unit = " m" if found.metric else " times the unit"
    return f"{said}; moved {length:.2f}{unit}: {', '.join(parts)}, as the camera of {found.images[0]} looks."


def _turn_said(rotation: Array) -> str:
    """A rotation in words: pan, tilt and roll, each in degrees."""
    facing = (
        rotation.T
    )  # columns: the second camera's right, down and forward, as the first sees them
    ahead = facing[:, 2]
    pan, tilt = math.atan2(ahead[0], ahead[2]), math.asin(float(np.clip(-ahead[1], -1, 1)))
    level = _about_y(pan) @ _about_x(tilt)
    rest = level.T @ facing
    roll = math.atan2(rest[1, 0], rest[0, 0])
    total = math.degrees(math.acos(float(np.clip((np.trace(rotation) - 1) / 2, -1, 1))))
    ways = (
        (pan, "to the right", "to the left", "pan"),
        (tilt, "up", "down", "tilt"),
        (roll, "clockwise", "anticlockwise", "roll"),
    )
    parts = [
        f"{abs(math.degrees(turn)):.1f}° {one if turn > 0 else other} ({name})"
        for turn, one, other, name in ways
        if abs(math.degrees(turn)) >= 0.05
    ]
    return f"turned by {total:.1f}°: {', '.join(parts)}" if parts else "not turned"


def _about_y(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def _about_x(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def _step_said(found: Cameras, n: int, step: Step) -> str:
    said = (
        f"{found.images[n]} and {found.images[n + 1]}: {len(step.points1)} of {step.matched} matched spots agree; "
        f"they span at least {step.overlap:.0%} of either picture."
    )
    if step.unsure >= 1:
        said += f" A rotation {step.unsure:.0f}° from this one explains them about as well."
    return said
