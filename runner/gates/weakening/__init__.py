"""Gate ``weakening``: tests and checks become weaker only where the approved plan names the file under ``weakens``.

A file is read into facts by its language (:mod:`.python`, :mod:`.javascript`, :mod:`.go`, :mod:`.rust`, else
:mod:`.generic`); :mod:`.compare` tells what was lost between base and head over the whole change, so that what merely
moved or got another name is no loss. :mod:`.configuration` judges the settings of checks, :mod:`.commands` what the
repository's own checks run.

``weakens`` holds exact paths, no patterns: a plan that lists a test file under ``files`` asks for edits of it, and an
edit may not skip what it tests. Who approves the plan sees the list.
"""

from runner.gates.weakening.gate import NAME, weakening

__all__ = ["NAME", "weakening"]
