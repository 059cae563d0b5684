"""Which of several instances is the primary: decided by Kafka's group protocol, as Confluent's registry does it."""
