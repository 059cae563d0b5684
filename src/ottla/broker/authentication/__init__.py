"""Who clients and nodes are: what a node's settings say, users and their secrets, certificates that change."""
