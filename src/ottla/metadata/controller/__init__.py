"""The active controller's decisions: from an image and a request to records and a response, a module per subject."""
