"""`frozen` beside the standard library's `dataclass(frozen=True, slots=True)`: a user sees no difference."""

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest

from ottla.base.frozen import frozen


def _classes(decorate: Callable[[type[Any]], type[Any]], by_name: Callable[[type[Any]], type[Any]]) -> Any:
    @decorate
    class Plain:
        """Words."""

        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list)
        d: float = field(default=0.5, compare=False, repr=False)
        e: int = field(init=False, default=9)

        @property
        def double(self) -> int:
            return self.a * 2

    @decorate
    class Checked(Plain):
        f: int | None = None

        def __post_init__(self) -> None:
            if self.f == 0:
                raise ValueError("f")

    @decorate
    class One:
        only: float

    @decorate
    class Own:
        a: int
        b: int = 0

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and other.a == self.a

        def __repr__(self) -> str:
            return "own"

    @decorate
    class Nothing:
        pass

    @by_name
    class Named:
        a: int
        b: int = 2

    return Plain, Checked, One, Own, Nothing, Named


OURS = _classes(frozen, frozen(kw_only=True))
THEIRS = _classes(dataclass(frozen=True, slots=True), dataclass(frozen=True, slots=True, kw_only=True))
BOTH = list(zip(OURS, THEIRS, strict=True))


def _outcome(call: Callable[[], object]) -> object:
    try:
        return call()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error).replace("frozen", "")


def _shown(cls: Any, values: tuple[Any, ...], named: dict[str, Any]) -> object:
    def twice() -> object:
        made, again = cls(*values, **named), cls(*values, **named)
        return repr(made), made == again, asdict(made), cls.__match_args__

    return _outcome(twice)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((), {}),
        ((1,), {}),
        ((1, "x"), {}),
        ((1,), {"c": [3], "d": 7.0}),
        ((), {"a": 1}),
        ((), {"zz": 1}),
        ((1,), {"f": 0}),
    ],
)
def test_instances(number: int, values: tuple[Any, ...], named: dict[str, Any]) -> None:
    shown = [_shown(cls, values, named) for cls in BOTH[number]]
    assert shown[0] == shown[1]


def test_what_is_frozen_stays_so() -> None:
    for made in (OURS[0](1), OURS[1](1), OURS[2](1.0)):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
            made.a = 2
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'a'"):
            del made.a
        with pytest.raises(FrozenInstanceError):
            made.new = 1
        assert not hasattr(made, "__dict__")


def test_equality_and_hashes() -> None:
    plain, checked, one, own, nothing, named = OURS
    assert plain(1, d=1.0) == plain(1, d=2.0)
    assert plain(1) != checked(1)
    assert plain(1) != 1
    assert hash(one(1.5)) == hash(THEIRS[2](1.5))
    assert {named(a=1), named(a=1, b=2), named(a=2)} == {named(a=1), named(a=2)}
    assert nothing() == nothing()
    not_a_number = one(float("nan"))
    assert not_a_number == copy.copy(not_a_number)
    assert own(1, 2) == own(1, 3)
    assert repr(own(1)) == "own"
    with pytest.raises(TypeError, match="unhashable"):
        hash(plain(1))


@frozen
class Shipped:
    """At the module's level, where pickle finds it."""

    a: int
    b: tuple[int, ...] = ()


def test_copies() -> None:
    made = Shipped(1, (2, 3))
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == replace(made) == made
    assert replace(made, a=5) == Shipped(5, (2, 3))
    assert [each.name for each in fields(made)] == ["a", "b"]


def test_values_made_by_a_factory_are_not_shared() -> None:
    plain = OURS[0]
    assert plain(1).c is not plain(1).c


def test_patterns() -> None:
    match Shipped(1, (2,)):
        case Shipped(a, (b,)):
            assert (a, b) == (1, 2)


@pytest.mark.parametrize("number", range(6))
def test_signatures(number: int) -> None:
    @frozen
    class Fresh(BOTH[number][0]):  # type: ignore[misc]
        """Without an instance."""

    ours, theirs = (inspect.signature(cls) for cls in BOTH[number])
    assert str(ours) == str(theirs) == str(inspect.signature(Fresh))
    assert {each.name: each.annotation for each in ours.parameters.values()} == {
        each.name: each.annotation for each in theirs.parameters.values()
    }


def test_a_class_without_words_of_its_own_is_called_by_its_name() -> None:
    assert OURS[0].__doc__ == "Words."
    assert OURS[2].__doc__ == "One"


def test_a_class_in_a_cycle_can_be_shown() -> None:
    made = OURS[0](1)
    made.c.append(made)
    assert "..." in repr(made)
