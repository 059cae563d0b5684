"""One partition's log on one disk, and the manager of many.

Read it in this order: `disk` (the port that all I/O goes through), `index`, `segment`, `leader_epoch`,
`producer_state`, `log`; then what looks after many logs: checkpoints, log directories, the log manager, retention and
the cleaner. Files are Apache Kafka's, byte for byte.

The package knows nothing of clusters, sockets or event loops: every call is plain and blocking, and the caller
decides on which thread it runs. Each log has one writer at a time (append, roll, truncate, flush, delete); readers may
come from any thread at any moment.
"""
