"""Settings come and go: of brokers, of groups, and the quotas of users, each under a name that is new."""

from ottla.client import Admin
from ottla.client.admin.value.config import AlterConfigOp, AlterConfigOpType, ConfigResource, ConfigResourceType
from ottla.client.admin.value.quota import ClientQuotaAlteration, ClientQuotaEntity
from tests.soak.worker import Worker

_QUOTA = "producer_byte_rate"


class Settings(Worker):
    """Sets one of each kind and takes it back."""

    name = "settings"

    def pause(self) -> float:
        """A few in a second."""
        return self.dice.uniform(0.2, 1)

    def step(self) -> None:
        """All three kinds."""
        with Admin(bootstrap_servers=self.bootstrap) as admin:
            user = ClientQuotaEntity.of(user=f"soak-{self.number}")
            for value in (1e9, None):
                self.attempt(
                    "quotas changed",
                    lambda value=value: admin.alter_client_quotas([ClientQuotaAlteration(user, {_QUOTA: value})]),
                )
            brokers = ConfigResource(ConfigResourceType.BROKER, "")
            self._set_and_delete(admin, brokers, AlterConfigOp("log.cleaner.backoff.ms", str(900 + self.number % 50)))
            group = ConfigResource(ConfigResourceType.GROUP, f"soak-configured-{self.number}")
            self._set_and_delete(admin, group, AlterConfigOp("consumer.session.timeout.ms", "4000"))

    def _set_and_delete(self, admin: Admin, resource: ConfigResource, change: AlterConfigOp) -> None:
        for one in (change, AlterConfigOp(change.name, None, AlterConfigOpType.DELETE)):
            self.attempt(
                f"configs of a {resource.type.name.lower()} changed",
                lambda one=one: admin.incremental_alter_configs({resource: [one]}),
            )
