"""Records as the console tools and `kafka-dump-log` read and print them."""
