"""The API's version 3: resources of the cluster with links between them, and streamed records."""
