"""What is decided with the index is what is decided by looking at every entry."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.metadata.acl.decision import AclSettings, Question, decide
from ottla.metadata.acl.index import AclIndex
from ottla.metadata.image.acl import Acl

_NAMES = st.sampled_from(["a", "ab", "abc", "b", "*"])
_PRINCIPALS = st.sampled_from(["User:x", "User:y", "User:*"])
_HOSTS = st.sampled_from(["*", "h", "i"])
_ACLS = st.builds(
    Acl,
    resource_type=st.sampled_from([2, 3]),
    resource_name=_NAMES,
    pattern_type=st.sampled_from([3, 4]),
    principal=_PRINCIPALS,
    host=_HOSTS,
    operation=st.integers(2, 12),
    permission_type=st.sampled_from([2, 3]),
)
_QUESTIONS = st.builds(
    Question,
    principal=st.sampled_from(["User:x", "User:y"]),
    host=st.sampled_from(["h", "i"]),
    operation=st.integers(3, 12),
    resource_type=st.sampled_from([2, 3]),
    resource_name=st.sampled_from(["a", "ab", "abc", "abcd", "b", "c"]),
)
_IMPLYING = {8: {3, 4, 6, 7}, 10: {11}}


def _is_about(acl: Acl, question: Question) -> bool:
    name = question.resource_name
    same = name.startswith(acl.resource_name) if acl.pattern_type == 4 else acl.resource_name in (name, "*")
    return acl.resource_type == question.resource_type and same


def _plainly(acls: list[Acl], settings: AclSettings, question: Question) -> bool:
    about = [acl for acl in acls if _is_about(acl, question)]
    mine = [
        acl for acl in about if acl.principal in (question.principal, "User:*") and acl.host in (question.host, "*")
    ]
    if any(acl.permission_type == 2 and acl.operation in (2, question.operation) for acl in mine):
        return False
    enough = {2, question.operation} | _IMPLYING.get(question.operation, set())
    if any(acl.permission_type == 3 and acl.operation in enough for acl in mine):
        return True
    return not about and settings.allow_everyone_if_no_acl_found


@given(st.lists(_ACLS, unique=True, max_size=12), st.data(), _QUESTIONS, st.booleans())
def test_the_index_leaves_nothing_out(acls: list[Acl], data: st.DataObject, question: Question, open_: bool) -> None:
    settings = AclSettings(allow_everyone_if_no_acl_found=open_)
    index = AclIndex(acls)
    gone = data.draw(st.lists(st.sampled_from(acls), unique=True)) if acls else []
    for acl in gone:
        index.remove(acl)
    left = [acl for acl in acls if acl not in gone]
    assert decide(index, settings, question).is_allowed is _plainly(left, settings, question)
