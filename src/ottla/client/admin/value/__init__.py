"""The admin client's arguments and results: immutable values, a module per kind of thing."""
