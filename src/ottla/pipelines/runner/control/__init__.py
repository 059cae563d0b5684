"""The control process: what is wanted and what is, in topics; runners as child processes. Without Spark."""
