"""Functions over a view of a history, each of which finds anomalies of a few related kinds."""
