"""The settings of connectors: declarations, validators, and the errors of a configuration."""
