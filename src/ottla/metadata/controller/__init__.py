"""What the active controller decides: from an image and a request to records and a response, a module per subject."""
