"""Whether code can be shut in on this machine, for the tests that need it."""

from __future__ import annotations

import sys

import pytest

from perception_programs.sandbox import isolation as ways

HERE = [method for method in ("bwrap", "unshare") if ways._works(method, sys.executable)]
"""The methods that work here."""

needs_isolation = pytest.mark.skipif(not HERE, reason="no isolation on this machine")
