"""What the command `siberia` starts with: it imports the command line, and takes Ctrl-C even while that is loading."""

from __future__ import annotations

import sys

INTERRUPTED = 130  #: exit code


def main() -> int:
    """Run the command `siberia`, and return its exit code."""
    try:
        from siberia_experiments.cli import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
