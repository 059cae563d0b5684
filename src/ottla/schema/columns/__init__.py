"""Whole columns of encoded records to Arrow arrays and back, by schema. Needs `pip install ottla[arrow]`."""
