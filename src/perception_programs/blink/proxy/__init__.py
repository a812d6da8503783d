"""An OpenAI-compatible endpoint that adds perception programs to the questions passing through."""

from __future__ import annotations

from .programs import STYLES, Programs
from .recognition import Recogniser
from .server import HEADER, MAX_BYTES, Proxy

__all__ = ["HEADER", "MAX_BYTES", "STYLES", "Programs", "Proxy", "Recogniser"]
