"""The options of each command, and the groups of options that several share."""

from __future__ import annotations

import argparse

from . import argument_types as types

__all__ = [
    "STYLES",
    "cache",
    "demo",
    "depth",
    "detect",
    "doctor",
    "experts",
    "flow",
    "jigsaw",
    "match",
    "points",
    "scene",
    "segments",
    "semantic",
    "show",
]

STYLES = ("paper", "compact", "json")
"""The names in `perception_programs.text.STYLES`, known here without importing it."""


def depth(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 depth`."""
    _depth_numbers(parser)
    _key(parser)
    _expert(parser)
    _depth_readings(parser)
    _cells(parser, relations=True, tau=0.15)
    _names(parser, labels=True)
    _pictures(parser)
    _output(parser)


def flow(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 flow`."""
    parser.add_argument(
        "--check",
        action="store_true",
        help="say 'no reliable motion' where the reverse direction does not confirm it",
    )
    _key(parser)
    _expert(parser)
    group = parser.add_argument_group("readings")
    group.add_argument(
        "--reading",
        choices=("direction", "mean"),
        help="what a cell reads: its side, or (u, v, magnitude) in pixels (default: direction)",
    )
    group.add_argument(
        "--still",
        type=float,
        metavar="PIXELS",
        help="a mean of a smaller magnitude reads 'still' (default: 0.5)",
    )
    _asked(group)
    _reliability(group, "which share of the pixels the reverse direction confirms")
    _cells(parser, relations=False, tau=None)
    _names(parser, labels=True)
    _pictures(parser)
    _output(parser)


def match(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 match`."""
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="keep at most so many matches: the surest, or the nearest to --point, 0 for none",
    )
    group = parser.add_argument_group("readings")
    _point(group)
    _reliability(group, "how sure a match is, and which share of the matches around a point agree")
    _expert(parser)
    _pictures(parser, pair=True, also=" and for sizes that the file lacks")
    _output(parser)


def jigsaw(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 jigsaw`."""
    parser.add_argument(
        "--candidate",
        type=types.labelled_file,
        action="append",
        metavar="A=FILE",
        help="a piece with its letter, in place of pieces as files; repeat it",
    )
    _reliability(parser, "how far a candidate is from the best other one")
    _expert(parser)
    _pictures(parser)
    _output(parser)


def detect(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 detect`."""
    parser.add_argument(
        "--size", type=types.pixel_size, metavar="WxH", help="the picture's size, if unknown"
    )
    parser.add_argument("--image-id", metavar="ID", help="which image of a file of several")
    parser.add_argument(
        "--threshold", type=float, metavar="T", help="leave out boxes of less confidence"
    )
    parser.add_argument(
        "--labels", type=types.words, metavar="cat,dog", help="what to look for in a picture"
    )
    _reliability(parser, "how far a label is ahead of the second")
    _expert(parser)
    _names(parser)
    _pictures(parser, also=" and for its size")
    _output(parser)


def semantic(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 semantic`."""
    parser.add_argument(
        "--reference", type=types.point, metavar="X,Y", help="pixel of the first picture"
    )
    parser.add_argument(
        "--candidate",
        type=types.labelled_point,
        action="append",
        metavar="A=X,Y",
        help="a pixel of the second picture with its letter; repeat it",
    )
    _reliability(parser, "how far a candidate is from the best other one")
    _expert(parser)
    _pictures(parser, pair=True, also=" and for sizes that the file lacks")
    _output(parser)


def points(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 points`."""
    parser.add_argument(
        "--size",
        type=types.pixel_size,
        metavar="WxH",
        help="the picture's size, if a file lacks it",
    )
    _expert(parser)
    _pictures(parser, also=" and for sizes that files lack")
    _output(parser)


def segments(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 segments`."""
    _key(parser)
    _cells(parser, relations=True, tau=None)
    _names(parser)
    _pictures(parser)
    _output(parser)


def scene(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 scene`."""
    group = parser.add_argument_group("results")
    group.add_argument("--depth", metavar="FILE", help="a depth map: PNG, TIFF, NPY, NPZ, PFM, EXR")
    _depth_numbers(group)
    group.add_argument("--detections", metavar="FILE", help="detections in JSON, as of `p2 detect`")
    group.add_argument(
        "--size", type=types.pixel_size, metavar="WxH", help="the picture's size, if unknown"
    )
    group.add_argument("--image-id", metavar="ID", help="which image of a file of several")
    group.add_argument("--segmentation", metavar="FILE", help="a label PNG, NPY or NPZ")
    group.add_argument("--flow", metavar="FILE", help="a flow field: .flo, KITTI .png, NPY, NPZ")
    parser.add_argument(
        "--labels", type=types.words, metavar="cat,dog", help="what to detect in a picture"
    )
    parser.add_argument(
        "--threshold", type=float, metavar="T", help="leave out detections of less confidence"
    )
    parser.add_argument(
        "--expert",
        type=types.modality_expert,
        action="append",
        metavar="depth=NAME",
        help="which expert reads depth, detection or flow (default: the best installed); repeat it",
    )
    group = parser.add_argument_group("objects")
    _relations(group, "objects", 0.15)
    group.add_argument(
        "--levels",
        type=int,
        metavar="N",
        help="list objects inside others as their parts, N levels deep",
    )
    group.add_argument(
        "--cells", type=types.grid, metavar="N|ROWSxCOLS", help="cells of depth in each object"
    )
    _names(parser)
    _pictures(parser, also=" and for its size")
    _output(parser)


def experts(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 experts`."""
    parser.add_argument("--modality", metavar="M", help="only those that read it, such as depth")


def doctor(parser: argparse.ArgumentParser) -> None:
    """`p2 doctor` has no options."""


def cache(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 cache`."""
    parser.add_argument("--folder", metavar="DIR", help="where (default: the user's cache folder)")
    parser.add_argument("--clear", action="store_true", help="remove them")


def show(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 show`."""
    _pictures(parser, pair=True)
    _output(parser)


def demo(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 demo`."""
    parser.add_argument(
        "--out", metavar="FOLDER", default="p2-demo", help="where to write (default: %(default)s)"
    )


def _depth_readings(parser: argparse.ArgumentParser) -> None:
    """What is read of a depth map, where, and how surely."""
    group = parser.add_argument_group("readings")
    group.add_argument(
        "--reading",
        choices=("range", "median", "range+median"),
        help="what a cell reads (default: range)",
    )
    _asked(group)
    group.add_argument(
        "--adaptive",
        action="store_true",
        default=None,
        help="cut cells of uneven depth in quarters; at most as many cells as --grid has",
    )
    _reliability(group, "which share of the pixels could be read")


def _asked(group: argparse._ActionsContainer) -> None:
    """Points that are asked about, beside cells or without them."""
    _point(group)
    group.add_argument(
        "--points-only", action="store_true", default=None, help="no cells beside --point"
    )


def _point(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--point",
        dest="points",
        type=types.labelled_point,
        action="append",
        metavar="A=X,Y",
        help="a pixel that is asked about, with its letter; repeat it",
    )


def _reliability(group: argparse._ActionsContainer, what: str) -> None:
    group.add_argument("--reliability", choices=("number", "words"), help=f"also say {what}")


def _key(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--key", metavar="NAME", help="which array of an NPZ that holds several")


def _depth_numbers(parser: argparse._ActionsContainer) -> None:
    """What the numbers of a depth map are, and which to print."""
    parser.add_argument(
        "--kind",
        choices=("normalised", "relative", "metric"),
        help="what the file's numbers are: in [0, 1] with 1 nearest (the default), of unknown scale "
        "with bigger nearer, or metres",
    )
    parser.add_argument(
        "--units",
        choices=("nearness", "m"),
        default="nearness",
        help="what to print: nearness from 0 to 1, or metres, for --kind metric",
    )
    parser.add_argument(
        "--scale", type=float, metavar="S", help="how many units make one: 1000 for millimetres"
    )


def _output(parser: argparse.ArgumentParser) -> None:
    """How and where a program is printed."""
    group = parser.add_argument_group("output")
    style = group.add_mutually_exclusive_group()
    style.add_argument("--style", choices=STYLES, help="how to print it (default: paper)")
    style.add_argument(
        "--json", dest="style", action="store_const", const="json", help="the same as --style json"
    )
    group.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help="make each program fit so many tokens, by an estimate, giving up what matters least",
    )
    group.add_argument("--meta", action="store_true", help="also print where it came from")
    group.add_argument("-o", "--output", metavar="FILE", help="write the text here, not to stdout")
    group.add_argument("--overlay", metavar="OUT.png", help="draw the program on its picture")


def _pictures(parser: argparse.ArgumentParser, *, pair: bool = False, also: str = "") -> None:
    """The pictures that a result file or a program is about, which it does not hold."""
    group = parser.add_argument_group("pictures of a result or program")
    group.add_argument(
        "--image",
        metavar="PICTURE",
        action="append",
        help=f"the picture it is about, for --overlay{also}; repeat it where there are several",
    )
    if pair:
        group.add_argument("--second", metavar="PICTURE", help="the second picture of a pair")


def _cells(parser: argparse.ArgumentParser, *, relations: bool, tau: float | None) -> None:
    """The grid, and what else a program of cells may have."""
    group = parser.add_argument_group("cells")
    group.add_argument(
        "--grid", type=types.grid, metavar="N|ROWSxCOLS", help="how many cells (default: 10)"
    )
    if relations:
        _relations(group, "neighbouring cells", tau)


def _relations(parser: argparse._ActionsContainer, what: str, tau: float | None) -> None:
    """Whether to relate the items, and by which difference."""
    parser.add_argument(
        "--relations",
        action=argparse.BooleanOptionalAction,
        default=None,
        help=f"whether to relate {what} (default: yes)",
    )
    if tau is not None:
        parser.add_argument(
            "--tau",
            type=float,
            metavar="T",
            help=f"the difference that relates two {what} (default: {tau:g})",
        )


def _names(parser: argparse.ArgumentParser, *, labels: bool = False) -> None:
    """What class numbers are called, and a segmentation that names cells."""
    group = parser.add_argument_group("names")
    if labels:
        group.add_argument(
            "--labels", metavar="SEGMENTATION", help="a label PNG, NPY or NPZ that names each cell"
        )
    group.add_argument(
        "--names",
        metavar="NAMES",
        help="what class numbers are called: cat,dog for 0 and 1; 1=cat,17=dog; or a file with a name "
        "a line, a JSON list or object, or COCO's categories",
    )


def _expert(parser: argparse.ArgumentParser) -> None:
    """Which vision tool reads a picture."""
    parser.add_argument(
        "--expert",
        metavar="NAME",
        help="which expert reads the pictures (default: the best installed)",
    )
    parser.add_argument(
        "--weights",
        metavar="PATH",
        help="a folder or file with the expert's weights, in place of a download",
    )
