"""One module for each API: `handle(parts, context, request)` answers it."""
