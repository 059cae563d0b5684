"""Logs in by kafka-python and writes a record, in a process of its own: a client that is refused leaves sockets open.

`python -m tests.integration.security.kafka_python_login BROKER CA TOPIC MECHANISM USER PASSWORD-OR-TOKEN`
"""

import sys
from typing import Any

import kafka.errors
import kafka.net.sasl.oauth

import kafka


class _Tokens(kafka.net.sasl.oauth.AbstractTokenProvider):  # type: ignore[misc]
    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def token(self) -> str:
        return self._text


def main() -> int:
    """0 if it was let in, 1 if not."""
    broker, authority, topic, mechanism, user, secret = sys.argv[1:]
    settings: dict[str, Any] = {
        "bootstrap_servers": broker,
        "security_protocol": "SASL_SSL",
        "ssl_cafile": authority,
        "sasl_mechanism": mechanism,
    }
    if mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = _Tokens(secret)
    else:
        settings |= {"sasl_plain_username": user, "sasl_plain_password": secret}
    try:
        producer = kafka.KafkaProducer(**settings)
        producer.send(topic, b"hello").get(60)
        producer.close()
    except kafka.errors.KafkaError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
