"""The group coordinator as a whole."""
