"""Regular expressions of clients, by RE2's rules: read, compiled and matched in linear time."""
