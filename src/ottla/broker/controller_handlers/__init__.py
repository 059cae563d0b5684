"""What the controller listener serves: a module per API, each with `handle(parts, context, request)`."""
