"""The endpoints of Kafka Connect's REST API, a module for each kind of resource."""
