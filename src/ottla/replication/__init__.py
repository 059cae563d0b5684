"""Partitions on this broker: leaders, followers, in-sync replicas, and the requests that wait for them."""
