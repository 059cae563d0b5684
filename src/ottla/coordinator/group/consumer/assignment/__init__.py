"""Who is to have what: subscriptions and topics, the target, and the way there."""
