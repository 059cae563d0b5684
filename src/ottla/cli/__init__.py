"""The commands: `ottla` and Kafka's own names. Nothing heavy is imported before a command is known to need it."""
