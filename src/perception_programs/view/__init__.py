"""Programs to look at: drawn on their pictures, in a notebook, as a table, and as a page of HTML."""

from ._compare import ComparedProgram, ProgramComparison, compare
from ._results import result_to_html, result_to_markdown
from .html import ImageSrc, Section, page, to_html
from .markdown import to_markdown
from .overlay import overlay
from .tool_pictures import completed_picture, tool_caption, tool_picture

__all__ = [
    "ComparedProgram",
    "ImageSrc",
    "ProgramComparison",
    "Section",
    "compare",
    "completed_picture",
    "overlay",
    "page",
    "result_to_html",
    "result_to_markdown",
    "to_html",
    "to_markdown",
    "tool_caption",
    "tool_picture",
]
