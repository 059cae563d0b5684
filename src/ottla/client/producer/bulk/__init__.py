"""Writes batches that are encoded already, as one idempotent or transactional producer."""
