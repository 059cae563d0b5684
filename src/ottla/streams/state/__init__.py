"""The state of tasks on a local disk: LMDB behind the engine's store port, versioned by batch."""
