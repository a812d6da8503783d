"""Code that nobody vouches for, run in a process of its own, shut in, within limits."""

from __future__ import annotations

from .isolation import Isolation
from .limits import Limits
from .session import Outcome, Sandbox, Session

__all__ = ["Isolation", "Limits", "Outcome", "Sandbox", "Session"]
