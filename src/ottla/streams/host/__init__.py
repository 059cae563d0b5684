"""What every host of a topology needs: tasks and their partitions, internal topics, and the run of one batch."""
