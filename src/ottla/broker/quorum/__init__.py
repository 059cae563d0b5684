"""Binds the quorum and the controller, which are pure, to this machine: disk, network, clock, event loop."""
