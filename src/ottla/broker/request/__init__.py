"""The way of a request, from the connection to its handler and back."""
