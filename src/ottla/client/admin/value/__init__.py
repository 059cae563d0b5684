"""What goes into the admin client and comes out of it: immutable values, a module per kind of thing."""
