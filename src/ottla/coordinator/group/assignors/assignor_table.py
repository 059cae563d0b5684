"""The assignors by the names that members and `group.consumer.assignors` call them."""

from typing import Final

from ottla.coordinator.group.assignors.group_spec import Assignor
from ottla.coordinator.group.assignors.range import RangeAssignor
from ottla.coordinator.group.assignors.uniform import UniformAssignor

ASSIGNORS: Final[dict[str, Assignor]] = {"uniform": UniformAssignor(), "range": RangeAssignor()}
