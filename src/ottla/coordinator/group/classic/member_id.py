"""The ids that members are given: who they are for a human, and a random part that can't be guessed."""

from ottla.base.chance import Chance

_VERSION_4 = 0x4000
_VARIANT = 0x8000


def new_member_id(client_id: str, instance_id: str | None, chance: Chance) -> str:
    """The instance id of a static member, or the client id, and a random UUID: `app-1b4e28ba-2fa1-41d2-883f-…`."""
    return f"{client_id if instance_id is None else instance_id}-{_random_uuid(chance)}"


def _random_uuid(chance: Chance) -> str:
    digits = bytearray(chance.randbytes(16))
    digits[6] = digits[6] & 0x0F | _VERSION_4 >> 8
    digits[8] = digits[8] & 0x3F | _VARIANT >> 8
    text = digits.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
