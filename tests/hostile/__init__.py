"""Hostile texts, each at every place where text comes in: they change no permission, no gate and no mark.

:mod:`.texts` reads the table (``texts.toml``). The checks (:mod:`.prompts`, :mod:`.pages`) return what is wrong as
sentences; ``test_self_check.py`` proves that each finds what it is there for.
"""
