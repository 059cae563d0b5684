"""A pipeline from topics to topics, by columns."""
