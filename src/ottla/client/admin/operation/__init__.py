"""What the admin client can do, a module per area: each builds requests, reads answers and says whom to ask."""
