"""A page of HTML around what is on it."""

from __future__ import annotations

import importlib.resources

from ._inline import escape

__all__ = ["SEALED", "document", "page_style"]

SEALED = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
    "style-src 'unsafe-inline'; {}form-action 'none'; base-uri 'none'\">\n"
)
"""What keeps a page from fetching anything and from running what a model wrote; in its blank, what may run."""


def document(title: str, style: str, body: str, *, head: str = "") -> str:
    """A page: its title and style, and what stands in its head and body, as HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{head}<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{body}</body>\n</html>\n"
    )


def page_style() -> str:
    """The style that all pages have."""
    return importlib.resources.files(__package__).joinpath("page.css").read_text("utf-8")
