"""One action each of the tools that have several."""
