"""The leading worker: asks connectors for their tasks, and passes the results to runners and users."""
