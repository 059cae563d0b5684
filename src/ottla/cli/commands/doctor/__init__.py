"""`ottla doctor`: why a cluster cannot be used."""
