"""`kafka-delegation-tokens`: creates, renews, ends and lists delegation tokens. Flags and output are Kafka's."""

import base64
import binascii
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ChosenOptions,
    Option,
    OptionTable,
    ToolError,
)
from ottla.cli.kafka.session.tool_main import plainly, tool_main, with_java_class

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.admin.value.token import DelegationToken, KafkaPrincipal

_ACTIONS: Final = ("create", "renew", "expire", "describe")
_NEEDED: Final = {
    "create": ("max-life-time-period",),
    "renew": ("hmac", "renew-time-period"),
    "expire": ("hmac", "expiry-time-period"),
    "describe": (),
}
_FORBIDDEN: Final = {
    "create": ("hmac", "renew-time-period", "expiry-time-period"),
    "renew": ("renewer-principal", "max-life-time-period", "expiry-time-period", "owner-principal"),
    "expire": ("max-life-time-period", "renew-time-period", "owner-principal"),
    "describe": ("renew-time-period", "max-life-time-period", "hmac", "expiry-time-period"),
}
_HEADER: Final = ("TOKENID", "HMAC", "OWNER", "REQUESTER", "RENEWERS", "ISSUEDATE", "EXPIRYDATE", "MAXDATE")
_WIDTHS: Final = (15, 30, 15, 15, 25, 15, 15, 15)

OPTIONS: Final = OptionTable(
    "This tool helps to create, renew, expire, or describe delegation tokens.",
    (
        BOOTSTRAP_SERVER._replace(argument=""),
        COMMAND_CONFIG._replace(
            argument="", help="REQUIRED: a properties file that says how to log in; without log-in there are no tokens."
        ),
        Option("create", "Create a token for who logs in, or for --owner-principal."),
        Option("renew", "Let a token live longer."),
        Option("expire", "End a token, now or later."),
        Option("describe", "List one's own tokens and those one may see, or only those of --owner-principal."),
        Option("owner-principal", "Whose token, as in User:alice; with --describe it may be repeated.", "",
               is_optional=True),
        Option("renewer-principal", "Who else may renew the token, as in User:bob; may be repeated.", "",
               is_optional=True),
        Option("max-life-time-period", "The token's longest life in ms; -1 for the server's.", "", "Long",
               is_optional=True),
        Option("renew-time-period", "How long the token lives from now, in ms; -1 for the server's time.", "", "Long",
               is_optional=True),
        Option("expiry-time-period", "How long the token still lives, in ms; -1 ends it at once.", "", "Long",
               is_optional=True),
        Option("hmac", "The token's HMAC, in base64.", "", is_optional=True),
    ),
)  # fmt: skip


def _tell(error: OttlaError) -> None:
    from ottla.base.config import ConfigError

    if isinstance(error, ConfigError):
        plainly(error)
    else:
        with_java_class(error)


@tool_main(_tell)
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = OPTIONS.parse(arguments)
    _check(options)
    from ottla.cli.kafka.session.admin_session import run_work

    run_work(options, lambda admin: _run(admin, options))


def _check(options: ChosenOptions) -> None:
    if sum(options.has(action) for action in _ACTIONS) != 1:
        options.fail("Command must include exactly one action: --create, --renew, --expire or --describe")
    action = options.one_of(*_ACTIONS)
    options.require("bootstrap-server", "command-config", *_NEEDED[action])
    options.forbid(action, *_FORBIDDEN[action])


async def _run(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    action = options.one_of(*_ACTIONS)
    if action == "create":
        await _create(admin, options)
    elif action == "describe":
        await _describe(admin, options)
    else:
        await _prolong(admin, options, action)


async def _create(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    renewers = _principals(options, "renewer-principal")
    lifetime_ms = _milliseconds(options, "max-life-time-period")
    print(f"Calling create token operation with renewers :{_listed(renewers)} , max-life-time-period :{lifetime_ms}")
    owners = _principals(options, "owner-principal")
    owner = owners[0] if owners else None
    token = await admin.create_delegation_token(owner=owner, renewers=renewers, max_lifetime_ms=lifetime_ms)
    print(f"Created delegation token with tokenId : {token.information.token_id}")
    _print_tokens([token])


async def _describe(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    owners = _principals(options, "owner-principal")
    whose = f"owners: {_listed(owners)}" if owners else "current user."
    print(f"Calling describe token operation for {whose}")
    tokens = await admin.describe_delegation_tokens(owners or None)
    print(f"Total number of tokens : {len(tokens)}", end="")
    _print_tokens(tokens)


async def _prolong(admin: "AsyncAdmin", options: ChosenOptions, action: str) -> None:
    """Renews or ends a token: both say when it ends now."""
    hmac, period = options.required_text("hmac"), "renew-time-period" if action == "renew" else "expiry-time-period"
    period_ms = _milliseconds(options, period)
    shown = period if action == "renew" else "expire-time-period"
    print(f"Calling {action} token operation with hmac :{hmac} , {shown} :{period_ms}")
    change = admin.renew_delegation_token if action == "renew" else admin.expire_delegation_token
    moment_ms = await change(_decoded(hmac), period_ms=period_ms)
    print(f"Completed {action} operation. New expiry date : {_date(moment_ms)}", end="")


def _print_tokens(tokens: Iterable["DelegationToken"]) -> None:
    print(f"\n{_row(_HEADER)}")
    for token in tokens:
        about = token.information
        times = (about.issue_timestamp, about.expiry_timestamp, about.max_timestamp)
        words = (about.token_id, base64.b64encode(token.hmac).decode(), str(about.owner), str(about.requester))
        print(f"\n{_row((*words, _listed(about.renewers), *map(_date, times)))}")


def _row(words: Iterable[str]) -> str:
    return " ".join(f"{word:<{width}}" for word, width in zip(words, _WIDTHS, strict=True))


def _date(moment_ms: int) -> str:
    from ottla.cli.kafka.output.java_date import DateFormat

    return DateFormat("yyyy-MM-dd'T'HH:mm").text(moment_ms)


def _listed(principals: Iterable["KafkaPrincipal"]) -> str:
    return f"[{', '.join(map(str, principals))}]"


def _milliseconds(options: ChosenOptions, name: str) -> int:
    number = options.integer(name)
    if number is None:
        options.fail(f'Missing required argument "[{name}]"')
    return number


def _principals(options: ChosenOptions, name: str) -> list["KafkaPrincipal"]:
    from ottla.client.admin.value.token import KafkaPrincipal

    found = []
    for text in options.texts(name):
        kind, colon, who = text.strip().partition(":")
        if not colon:
            raise ToolError(f"expected a string in format principalType:principalName but got {text.strip()}")
        found.append(KafkaPrincipal(kind, who))
    return found


def _decoded(hmac: str) -> bytes:
    try:
        return base64.b64decode(hmac, validate=True)
    except binascii.Error as error:
        raise ToolError(f"the HMAC is not base64: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
