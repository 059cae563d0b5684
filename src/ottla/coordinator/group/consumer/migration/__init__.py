"""Members of the classic protocol in consumer groups, and groups that change their kind (KIP-848)."""
