"""The commands as processes of their own, beside Apache Kafka's where there is one."""
