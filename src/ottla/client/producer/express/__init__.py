"""The quick way of a thread that sends one record at a time and waits for each."""
