"""The database: an inbox, an outbox, and what is known about every plan. The only importer of SQLAlchemy.

:mod:`.engine` opens the store and its transactions; beside it there is one module for each table, whose functions take
the transaction first. :mod:`.migrate` brings a database to the current schema.
"""
