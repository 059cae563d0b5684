"""The life of a node: its roles, its parts, how it starts and stops."""
