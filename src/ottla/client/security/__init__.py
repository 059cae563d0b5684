"""The client's side of TLS and SASL."""
