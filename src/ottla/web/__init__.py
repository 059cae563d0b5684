"""Services over HTTP: one shell, and the services that stand on it without knowing each other."""
