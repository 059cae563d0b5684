"""Replication of the log from the leader: followers pull, the leader tells them where they diverge."""
