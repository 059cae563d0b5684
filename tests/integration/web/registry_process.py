"""`ottla registry` as a process of its own."""

from typing import Final

from tests.integration.web.service_process import ServiceProcess, eventually

TYPE: Final = "application/vnd.schemaregistry.v1+json"


class RegistryProcess(ServiceProcess):
    """One instance; it is up once it answers and knows a primary."""

    command = "registry"
    content_type = TYPE

    def wait_until_elected(self) -> None:
        """Returns once it answers and knows a primary."""
        eventually(self.is_up, self)

    def is_up(self) -> bool:
        return "The primary is" in self.log.read_text() and self.is_ready()
