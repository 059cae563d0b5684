"""The state that the metadata log adds up to: immutable images that share structure, and deltas between them."""
