"""Calls about settings, quotas and telemetry."""
