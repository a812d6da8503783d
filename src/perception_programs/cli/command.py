"""A command of `p2`: what it takes, how its part of the command line is read, what runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Command"]


@dataclass(frozen=True)
class Command:
    """One command of `p2`.

    Attributes:
        name: what it is called.
        summary: one line on what it prints.
        example: a command line.
        takes: one paragraph on the files it takes.
        files: the least and the most of them (None: any number), or None when it takes none.
        add: adds its options.
        run: does it; the exit status.
    """

    name: str
    summary: str
    example: str
    takes: str
    files: tuple[int, int | None] | None
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]

    def parser(self) -> argparse.ArgumentParser:
        """What reads its part of the command line."""
        least, most = self.files or (0, 0)
        files = "" if most == 0 else " FILE" if most == 1 else " FILE..." if least else " [FILE...]"
        parser = argparse.ArgumentParser(
            prog=f"p2 {self.name}",
            usage=f"p2 {self.name}{files} [options]",
            description=f"{self.summary[0].upper()}{self.summary[1:]}.\n\n{self.takes}",
            epilog=f"example:\n  {self.example}",
            formatter_class=_Layout,
            allow_abbrev=False,
        )
        if self.files is not None:
            # Each command says above what its files are, so they are not listed once more.
            parser.add_argument("files", nargs="*", metavar="FILE", help=argparse.SUPPRESS)
        self.add(parser)
        return parser

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """The command's arguments; leaves with status 2 where they are wrong."""
        parser = self.parser()
        # Intermixed, so that an option may stand between two files; argparse then loses the --
        # after which everything is a file.
        own, dashes, rest = _split(argv, "--")
        args = parser.parse_intermixed_args(own)
        if self.files is None:
            return args if not dashes else parser.error("expected no FILE")
        args.files += rest
        least, most = self.files
        given = len(args.files)
        if given < least or (most is not None and given > most):
            wanted = {least: f"{least}", None: f"{least} or more"}.get(most, f"{least} to {most}")
            got = f"{given}: {' '.join(args.files)}" if given else "none"
            parser.error(f"expected {wanted} FILE, got {got}")
        if args.files.count("-") > 1:
            parser.error("expected - at most once: there is one stdin")
        return args


def _split(argv: Sequence[str], mark: str) -> tuple[list[str], bool, list[str]]:
    """What stands before the first `mark`, whether there is one, and what stands after it."""
    if mark not in argv:
        return list(argv), False, []
    place = list(argv).index(mark)
    return list(argv[:place]), True, list(argv[place + 1 :])


class _Layout(argparse.RawDescriptionHelpFormatter):
    """Keeps examples as they are and wraps the other paragraphs."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = argparse.HelpFormatter._fill_text
        return "\n\n".join(
            part if "\n  " in part else fill(self, part, width, indent)
            for part in text.split("\n\n")
        )
