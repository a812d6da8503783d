"""What Python code does to pictures, counted in its syntax tree.

| operation | what counts |
|---|---|
| crop | `.crop(…)`, `ImageOps.crop`, a slice of two axes: `a[y0:y1, x0:x1]` |
| resize | `.resize`, `.thumbnail`, `.reduce`, `cv2.resize`, `rescale`, `ImageOps.fit`, `.contain`, `.scale` |
| rotate | `.rotate`, `cv2.rotate`, `rot90`, `warpAffine`, `warpPerspective`, `exif_transpose` |
| flip | `.transpose(… FLIP …)`, `cv2.flip`, `flip`, `fliplr`, `flipud`, `mirror` |
| brightness | `ImageEnhance.Brightness`, `adjust_gamma`, `convertScaleAbs`, `.point` |
| contrast | `ImageEnhance.Contrast`, `autocontrast`, `equalize…`, `createCLAHE`, `rescale_intensity` |
| edit | drawing, pasting, filters, thresholds, colour conversions |
| other | another call of a method of PIL, cv2, skimage or of a picture that saves nothing of the above |
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

__all__ = ["OPERATIONS", "count_operations"]

OPERATIONS = ("crop", "resize", "rotate", "flip", "brightness", "contrast", "edit", "other")
"""What is counted."""

_NAMES: Mapping[str, str] = {
    name: operation
    for operation, names in {
        "crop": "crop",
        "resize": "resize thumbnail reduce rescale fit contain scale downscale_local_mean pyrUp pyrDown",
        "rotate": "rotate rot90 warpAffine warpPerspective exif_transpose warp",
        "flip": "flip fliplr flipud mirror",
        "brightness": "Brightness adjust_gamma convertScaleAbs point",
        "contrast": "Contrast autocontrast equalize equalizeHist equalize_hist equalize_adapthist createCLAHE "
        "rescale_intensity adjust_sigmoid",
        "edit": "paste alpha_composite composite blend putpixel putalpha filter line rectangle ellipse circle "
        "polygon polylines text putText arc Sharpness Color cvtColor grayscale invert bitwise_not threshold "
        "adaptiveThreshold GaussianBlur medianBlur bilateralFilter filter2D Canny inpaint dilate erode posterize "
        "solarize convert rgb2gray gaussian unsharp_mask",
    }.items()
    for name in names.split()
}
_LIBRARIES = (
    "cv2",
    "skimage",
    "Image",
    "ImageOps",
    "ImageFilter",
    "ImageChops",
    "ImageDraw",
    "PIL",
)
_PLUMBING = (
    *(
        "open",
        "save",
        "imread",
        "imwrite",
        "imsave",
        "fromarray",
        "new",
        "Draw",
        "truetype",
        "load_default",
    ),
    *("show", "copy", "load", "close", "getdata", "array", "asarray"),
)


def count_operations(code: str) -> dict[str, int]:
    r"""How often each operation stands in some code; all zero where the code is no Python.

    A name that several libraries share counts wherever it is called.

    >>> count_operations("from PIL import Image\nImage.open('a.png').crop((0, 0, 9, 9)).rotate(90)")[
    ...     "rotate"
    ... ]
    1
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return dict.fromkeys(OPERATIONS, 0)
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        operation = _operation(node)
        if operation is not None:
            found[operation] += 1
    return {operation: found[operation] for operation in OPERATIONS}


def _operation(node: ast.AST) -> str | None:
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        index = node.slice
        pair = isinstance(index, ast.Tuple) and len(index.elts) >= 2
        bounded = pair and all(_is_bounded(part) for part in index.elts[:2])  # type: ignore[attr-defined]
        return "crop" if bounded else None
    if not isinstance(node, ast.Call):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "transpose":
        return (
            "flip"
            if "FLIP" in ast.unparse(node)
            else ("rotate" if "ROTATE" in ast.unparse(node) else None)
        )
    if name in _NAMES:
        return _NAMES[name]
    root = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    library = isinstance(root, ast.Name) and root.id in _LIBRARIES
    return "other" if library and name not in _PLUMBING else None


def _is_bounded(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) and (part.lower is not None or part.upper is not None)
