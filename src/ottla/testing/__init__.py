"""What users need to test against Ottla: a simulator of whole clusters, and later a broker for unit tests."""
