"""Measure instructions: a unit of promptware on a fixed set of small cases, two versions of it side by side.

What runs is a runner's own job (:class:`runner.job.Runner`), from the claim to the report, in throw-away folders: a
case (:mod:`~runner.evals.case`) becomes a repository whose base commit holds the version that is measured, as a
repository's own version of a unit would lie there, and a job (:mod:`~runner.evals.trial`). Facts alone decide whether
the unit did well (:mod:`~runner.evals.checks`, :mod:`~runner.evals.hidden`). :mod:`~runner.evals.measure` goes through
cases and versions within a deadline and a sum of dollars, and :mod:`~runner.evals.figures` adds up.
"""
