"""The requests and responses of Kafka's API, a module for each call, named after it.

`ottla.protocol.catalog` finds the classes by key; RequestHeader and ResponseHeader are in `header`.
"""
