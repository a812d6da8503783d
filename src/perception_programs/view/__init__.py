"""Programs to look at: drawn on their pictures, in a notebook, and as a page of HTML."""

from .html import ImageSrc, Section, page, to_html
from .overlay import overlay

__all__ = ["ImageSrc", "Section", "overlay", "page", "to_html"]
