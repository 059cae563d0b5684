"""A Connect cluster as values: records of its topics, the state that they make, what requests come to. Pure."""
