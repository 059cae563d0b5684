"""What the worker that leads does: asks connectors for their tasks, and tells runners and users what follows."""
