"""Identities of clients and nodes: a node's settings, users and their secrets, certificates that change."""
