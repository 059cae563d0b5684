"""How long one client waits while another does something large and legal: `make stalls`."""
