"""The parts of Connect that talk to a cluster or a registry; the rest of `ottla.connect` has no clients."""
