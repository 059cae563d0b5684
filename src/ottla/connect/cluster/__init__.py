"""What of Connect reaches a cluster or a registry itself; the rest of `ottla.connect` only computes."""
