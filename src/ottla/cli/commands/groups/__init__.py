"""`ottla groups`: members, lag, reset."""
