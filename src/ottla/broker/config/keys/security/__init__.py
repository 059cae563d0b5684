"""Settings of TLS, log-ins and rights."""
