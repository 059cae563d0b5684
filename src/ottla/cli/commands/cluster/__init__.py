"""`ottla cluster` and `ottla elect`: what a cluster is like, whether a broker may stop, who leads."""
