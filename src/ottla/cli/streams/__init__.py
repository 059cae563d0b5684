"""`ottla streams`: applications of Kafka Streams' kind, as their groups and topics show them, and their topologies."""
