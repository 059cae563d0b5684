"""The calls of the controller listener: a module per API, each with `handle(parts, context, request)`."""
