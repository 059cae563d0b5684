"""The broker: binds storage, quorum and protocol together into one node that Kafka's clients can use."""
