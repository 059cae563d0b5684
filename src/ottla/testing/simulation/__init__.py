"""A cluster in one thread and no time: virtual clock, unreliable network, disks that forget, all from one seed.

A run is a `scenario.Scenario` made from a seed, carried out by `cluster.Cluster`, watched by `invariant.Invariant`s.
Nodes are made of parts (`part.Part`); the quorum is one (`raft.raft_part`), others are plugged in beside it with their
own invariants. `python -m ottla.testing.simulation --seed 7` replays a run bit for bit.
"""
