"""Replicated state machines on internal topics: groups with their offsets, and transactions.

`runtime` writes, replays and answers; `group` and `txn` decide; `ports` is all that they need from outside. Nothing
below here does I/O, keeps time or starts a thread: everything is called from one thread, with the time.
"""
