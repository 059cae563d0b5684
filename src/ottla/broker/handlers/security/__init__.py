"""Calls about users, rights and tokens, and log-ins."""
