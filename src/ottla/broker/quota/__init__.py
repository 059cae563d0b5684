"""Quotas of clients: which one applies to a request, what was used of it, and how long its client has to wait."""
