"""A client of a schema registry: Ottla's, or any that speaks Confluent's API."""
