"""Avro schemas: parsed as strictly as Java does, printed as Java prints them, compared by Java's rules."""
