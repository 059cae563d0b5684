"""What the metadata log adds up to: immutable images that share structure, and deltas from one to the next."""
