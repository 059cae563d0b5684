"""TLS: what settings say, stores of keys and certificates, who a certificate names, and encrypted sockets."""
