"""Access control entries and their decisions, as Kafka's StandardAuthorizer makes them."""
