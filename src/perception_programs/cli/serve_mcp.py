"""`p2 mcp`: the tools for agents that speak the Model Context Protocol."""

from __future__ import annotations

import argparse

from . import argument_types as types
from .command import Command

__all__ = ["MCP"]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        metavar="DIR",
        help="the folder whose files a call may name (default: none; pictures come in base64)",
    )
    parser.add_argument(
        "--http",
        type=int,
        metavar="PORT",
        help="serve on this port of 127.0.0.1, 0 for any, in place of stdio",
    )
    parser.add_argument(
        "--tool",
        action="append",
        metavar="NAME",
        help="offer this tool and no other; repeat it",
    )
    parser.add_argument(
        "--expert",
        type=types.modality_expert,
        action="append",
        metavar="depth=NAME",
        help="which expert reads a modality (default: the best installed); repeat it",
    )
    group = parser.add_argument_group("limits")
    group.add_argument(
        "--max-pixels", type=int, metavar="N", help="of a picture (default: 25 million)"
    )
    group.add_argument("--max-bytes", type=int, metavar="N", help="of a file (default: 20 MiB)")
    group.add_argument(
        "--timeout",
        type=float,
        metavar="S",
        default=60.0,
        help="seconds a call may take (default: 60)",
    )


def _run(args: argparse.Namespace) -> int:
    from ..integrations import Limits
    from ..integrations.mcp_server import serve

    limits = {"pixels": args.max_pixels, "bytes": args.max_bytes}
    serve(
        root=args.root,
        http=args.http,
        experts=dict(args.expert or ()),
        limits=Limits(**{name: value for name, value in limits.items() if value is not None}),
        timeout=args.timeout,
        only=args.tool,
    )
    return 0


MCP = Command(
    "mcp",
    "a server of all tools for agents (Model Context Protocol)",
    "p2 mcp --root pictures",
    "Speaks over stdin and stdout, as an agent expects that starts it; or over HTTP, to this machine alone.",
    None,
    _options,
    _run,
)
"""The command."""
