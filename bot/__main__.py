"""``python -m bot`` is ``twogate``."""

from __future__ import annotations

import sys

from bot.entry import main

if __name__ == "__main__":
    sys.exit(main())
