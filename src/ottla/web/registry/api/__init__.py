"""The registry over HTTP: one module for each kind of resource, and what their answers look like."""
