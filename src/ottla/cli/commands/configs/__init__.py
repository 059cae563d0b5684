"""`ottla configs`: settings as the cluster has them."""
