"""Settings, rights, quotas, credentials, features and producer ids."""
