"""The topics of a Connect cluster and of the pipelines below it: made, read as tables, and written."""
