"""``make bench``: print every measure; ``JSON=file`` writes them as well."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import github_calls, lessons, pages, queue_order, runner_work
from bench.measure import show, write


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measures as a JSON list")
    options = parser.parse_args()
    measures = [
        *github_calls.measure(),
        *queue_order.measure(),
        *lessons.measure(),
        *pages.measure(),
        *runner_work.measure(),
    ]
    print(show(measures))
    if options.json:
        write(measures, options.json)


if __name__ == "__main__":
    main()
