"""What the tools read from their command lines and files."""
