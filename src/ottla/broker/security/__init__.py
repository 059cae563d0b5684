"""Access control on this node: the authorizer, the decisions that connections remember, and the audit log."""
