"""A runner: a Spark driver that hosts the streaming queries of many pipelines."""
