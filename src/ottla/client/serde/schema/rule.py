"""Rules that a schema carries for its clients. None of them runs here, and data is not passed by a rule in silence."""

from ottla.client.errors import SerializationError
from ottla.client.registry.value import SchemaText
from ottla.schema.rule import ExecutionEnvironment, RuleMode


class UnsupportedRuleError(SerializationError):
    """A schema whose rules (encryption, checks, migrations) would have to run. Use a client that runs them."""


def refuse_write_rules(schema: SchemaText) -> None:
    """Raises if something must happen to data before it is written."""
    _refuse(schema, (RuleMode.WRITE, RuleMode.WRITEREAD), "written")


def refuse_read_rules(schema: SchemaText) -> None:
    """Raises if something must happen to data after it was read."""
    _refuse(schema, (RuleMode.READ, RuleMode.WRITEREAD), "read")


def refuse_migration_rules(schema: SchemaText) -> None:
    """Raises if data of another version must be migrated to this one."""
    _refuse(schema, (RuleMode.UPGRADE, RuleMode.DOWNGRADE, RuleMode.UPDOWN), "migrated")


def _refuse(schema: SchemaText, modes: tuple[RuleMode, ...], what: str) -> None:
    rules = schema.rule_set
    if rules is None or rules.enable_at not in (None, ExecutionEnvironment.ALL, ExecutionEnvironment.CLIENT):
        return
    for rule in (*rules.migration_rules, *rules.domain_rules, *rules.encoding_rules):
        if rule.mode in modes and not rule.disabled:
            raise UnsupportedRuleError(
                f"the schema's rule {rule.name} (type {rule.type}) must run before data is {what}, and rules are not "
                "supported here"
            )
