"""`python -m perception_programs.cli`: the command `p2` where its script is not on the path."""

from __future__ import annotations

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
