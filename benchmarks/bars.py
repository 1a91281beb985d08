"""
Run the benchmarks that end within a minute each, and repeat their bars at the end.

A bar is a line `BAR <name> <value> <target> <met|missed|skipped>`, computed in that run.
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
QUICK = ("mig",)  # bench_<name>.py
MAX_SECONDS = 60


def bars_of(name: str) -> list[str]:
    """Run one benchmark, pass its output on, and return its bars."""
    command = [sys.executable, str(FOLDER / f"bench_{name}.py")]
    finished = subprocess.run(  # noqa: S603, one of our own scripts
        command, capture_output=True, text=True, check=False, timeout=2 * MAX_SECONDS
    )
    print(finished.stdout, end="")
    print(finished.stderr, end="", file=sys.stderr)
    bars = [line for line in finished.stdout.splitlines() if line.startswith("BAR ")]
    return bars if bars and finished.returncode == 0 else [*bars, f"BAR {name} failed - missed"]


def main() -> int:
    """Return 0 when every bar is met."""
    bars = [bar for name in QUICK for bar in bars_of(name)]
    print("\n".join(bars))
    return int(any(not bar.endswith(" met") for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
