"""Interactive queries over HTTP: the stores of an application, answered by the instance that has a key."""
