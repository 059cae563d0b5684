"""The host of the coordinators in a broker: their shards, logs, timers and peers."""
