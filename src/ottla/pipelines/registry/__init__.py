"""Columns of records with a schema registry, inside of Spark."""
