"""Assignment in consumer groups: subscriptions and topics, the target, and the steps to it."""
