"""Keys and values between JSON and the bytes of records."""
