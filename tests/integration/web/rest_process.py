"""`ottla rest` as a process of its own, and the types of its bodies."""

from typing import Any, Final

from tests.integration.web.service_process import ServiceProcess

V2: Final = "application/vnd.kafka.v2+json"


def type_of(kind: str) -> str:
    """The content type of a format: `json`, `binary`, `avro` …"""
    return f"application/vnd.kafka.{kind}.v2+json"


class RestProcess(ServiceProcess):
    """One proxy."""

    command = "rest"
    content_type = V2

    def produce(self, topic: str, kind: str, *records: dict[str, Any], **more: Any) -> tuple[int, Any]:
        """Sends records by version 2; `more` are the schemas."""
        return self.ask("POST", f"/topics/{topic}", {"records": records, **more}, Content_Type=type_of(kind))

    def v3(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """A request below the cluster."""
        cluster = self.ask("GET", "/v3/clusters")[1]["data"][0]["cluster_id"]
        sent = {"Content_Type": "application/json", **headers}
        return self.ask(method, f"/v3/clusters/{cluster}{path}", body, **sent)
