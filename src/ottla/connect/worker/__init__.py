"""A Connect cluster as values: records of its three topics, the state that they make, and what requests come to. Pure."""
