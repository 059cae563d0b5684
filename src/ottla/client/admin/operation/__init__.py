"""The admin client's operations, a module per area: each builds requests, reads answers and chooses the node."""
