"""The admin client: everything that can be asked of a cluster or changed in it."""
