"""Whole columns of records with a registry, into Arrow and back. Needs `pip install ottla[arrow,schemas]`."""
