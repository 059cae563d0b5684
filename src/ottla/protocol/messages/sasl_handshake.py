"""SaslHandshake (key 17): chooses the SASL mechanism of a connection.

Sent by clients and by nodes of the cluster on SASL listeners; only ApiVersions may come before it. A mechanism that
isn't enabled gets UNSUPPORTED_SASL_MECHANISM and the list of those that are, then the connection is closed. After v0
the tokens follow bare, each behind an int32 length; after v1 they travel in SaslAuthenticate (KIP-152). Never
flexible, because clients up to 2.4 negotiate its version wrongly (KAFKA-9577).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import array, int16, string


class SaslHandshakeRequest(Request, api=ApiKey.SASL_HANDSHAKE, versions="0-1"):
    mechanism: str = string("0+")


class SaslHandshakeResponse(Response, api=ApiKey.SASL_HANDSHAKE, versions="0-1"):
    error_code: int = int16("0+")
    mechanisms: list[str] = array(string, "0+")
