"""What tasks remember on a local disk: LMDB behind the engine's store port, versioned by batch."""
