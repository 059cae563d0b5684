"""Compaction: of each key only the last record stays, offsets and order never change.

`cleanable` chooses a log, `log_cleaner` orders the work and swaps in what comes back, `process` is the child that does
it with `compaction`, `batch_filter`, `transaction` and the key map; `work_order` is what the two say to each other.
"""
