"""Ottla: Apache Kafka and its universe, in Python.

Importing this package imports nothing else: take what you need from its parts, for example `ottla.protocol`.
"""
