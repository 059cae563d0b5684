"""A tool's clients, from their start to the signal that ends them."""
