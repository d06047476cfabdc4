"""Logs of runs: what one start of one agent was asked, printed, did and cost, kept on the runner.

``jobs/<job>/`` is one job's folder (:mod:`runner.report`), mode 0700, never shown to an agent. Each run of an agent has
its own in it, ``<Unit>-<n>/``, written once and only added to while the run lasts, read-only afterwards:

``prompt.md``     what the agent was asked
``stdout``        the raw stream, as it came
``stderr``        the same
``events.jsonl``  what happened, one of :mod:`runner.logs.events` a line, the same for every agent
``log.md``        the short log that people read (:mod:`runner.logs.story`)

Everything passes the redaction (:mod:`runner.steps.redact`, :mod:`runner.steps.sieve`) before it is written.
"""

PROMPT_FILE = "prompt.md"
STDOUT_FILE = "stdout"
STDERR_FILE = "stderr"
EVENTS_FILE = "events.jsonl"
LOG_FILE = "log.md"
