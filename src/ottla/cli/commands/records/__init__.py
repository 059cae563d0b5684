"""Records in and out: `ottla produce`, `consume`, `offsets` and `records`."""
