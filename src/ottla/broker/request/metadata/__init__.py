"""The cluster as the clients of a listener see it, in Metadata and in answers that turn them away."""
