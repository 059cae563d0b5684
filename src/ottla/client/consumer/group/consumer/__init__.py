"""A member of a group of the consumer protocol (KIP-848): ConsumerGroupHeartbeat."""
