"""`ottla.client` in its asyncio form, in the roles that its blocking form plays."""

from functools import partial
from typing import Final

from tests.torture.client import ottla_role as role

producer: Final = partial(role.producer, form=role.ASYNCIO)
transactional: Final = partial(role.transactional, form=role.ASYNCIO)
consumer: Final = partial(role.consumer, form=role.ASYNCIO)
transformer: Final = partial(role.transformer, form=role.ASYNCIO)
