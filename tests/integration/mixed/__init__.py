"""Clusters of Apache Kafka and Ottla side by side: controllers in one quorum, brokers as replicas of each other."""
