"""Brokers and controllers as the controller knows them: registered, alive, fenced."""
