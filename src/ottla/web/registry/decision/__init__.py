"""What the registry does with a request: functions from a state and a request to records and an answer, or an error."""
