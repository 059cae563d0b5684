"""The registry's state: an immutable value that each record of `_schemas` turns into the next one."""
