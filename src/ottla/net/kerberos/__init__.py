"""Kerberos: what stands behind the exchange of GSSAPI. Needs the package `gssapi`."""
