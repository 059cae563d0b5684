"""Apache Kafka beside ours: its jars, its tools, a server of its own, and what it wrote as fixtures."""
