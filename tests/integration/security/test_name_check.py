"""What users are told whose broker has a certificate for somebody else, or for no name at all."""

import asyncio
import ssl
from pathlib import Path

import pytest

from tests.integration.client.certificate import Authority, require_openssl
from tests.integration.client.test_security import trouble


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        (
            (),
            ["no subject alternative name (SAN), only the subject CN=elsewhere", "identification.algorithm where"],
        ),
        (("DNS:a.example", "IP:10.0.0.1"), ["is for DNS:a.example, IP:10.0.0.1", "identification.algorithm="]),
    ],
)
def test_names(tmp_path: Path, names: tuple[str, ...], texts: list[str]) -> None:
    require_openssl()
    authority = Authority(tmp_path, "authority")
    certificate = authority.sign("elsewhere", *names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.both)

    async def main() -> str:
        server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
        async with server:
            address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            given = {"security_protocol": "SSL", "ssl_truststore_location": authority.certificate}
            return await asyncio.to_thread(trouble, address, **given)

    said = asyncio.run(main())
    assert "certificate is not for 127.0.0.1" in said
    assert all(text in said for text in texts), said
