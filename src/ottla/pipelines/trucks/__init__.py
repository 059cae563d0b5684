"""The truck pipeline: positions of trucks to dangerous driving, joined with drivers and counted."""
