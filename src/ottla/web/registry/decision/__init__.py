"""The registry's decisions: functions from a state and a request to records and an answer, or an error."""
