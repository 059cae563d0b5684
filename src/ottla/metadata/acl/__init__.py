"""What access control entries allow, as Kafka's StandardAuthorizer decides it."""
