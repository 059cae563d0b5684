"""Who may do what on this node: the authorizer, what connections have been found to be allowed, and the audit log."""
