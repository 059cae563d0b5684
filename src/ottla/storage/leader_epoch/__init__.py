"""Which leader epoch began at which offset: the history that tells replicas where their logs part."""
