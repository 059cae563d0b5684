"""A Kerberos realm for tests: MIT's KDC from Debian's packages, on loopback."""
