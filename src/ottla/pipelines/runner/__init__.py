"""Pipelines that are looked after: specs in topics, a control process, and runners that host Spark queries."""
