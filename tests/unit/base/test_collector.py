"""The garbage collector out of the way, and back."""

import gc

from ottla.base.collector import collector_off, grow_old


def test_what_was_made_meanwhile_is_not_looked_at_again_at_once() -> None:
    gc.unfreeze()  # a server that another test ran may have frozen what there was
    with collector_off():
        made: list[object] = []
        assert not gc.isenabled()
        grow_old()
    assert gc.isenabled()
    assert any(each is made for each in gc.get_objects(generation=2))
    assert not gc.get_freeze_count()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_off():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
