"""What a connector may be configured with, and what is wrong with a configuration."""
