"""Python modules of typed classes from schemas."""
