"""Programs to look at: drawn on their pictures, in a notebook, and as a page of HTML."""

from .html import ImageSrc, Section, page, to_html
from .overlay import overlay
from .tool_pictures import completed_picture, tool_caption, tool_picture

__all__ = [
    "ImageSrc",
    "Section",
    "completed_picture",
    "overlay",
    "page",
    "to_html",
    "tool_caption",
    "tool_picture",
]
