"""`ottla topics`: what there is, and how it is changed."""
