"""What `ottla schemas` does, an action or two each."""
