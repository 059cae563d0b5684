"""The DSL: streams, tables and what can be done with them."""
