"""The clients of the coordinators' world."""
