"""The cluster's truth: an image of the metadata log, the controller that writes it, the loader that follows it."""
