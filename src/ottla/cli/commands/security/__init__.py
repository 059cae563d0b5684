"""`ottla security`, `users` and `acls`: who is who, and who may do what."""
