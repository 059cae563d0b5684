"""`ottla pipelines`: its actions."""
