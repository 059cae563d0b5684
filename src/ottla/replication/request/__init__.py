"""What clients ask of partitions: append, read, delete, look up; and the requests that wait."""
