"""The text form of a dynamic quorum's first voters: `id@host:port:directoryId`, separated by commas (KIP-853)."""

import re
from typing import Final

from ottla.base.ids import Uuid
from ottla.metadata.directory_id import is_reserved
from ottla.metadata.errors import FormatError
from ottla.raft.endpoint import Address, Endpoints
from ottla.raft.identity import ReplicaKey
from ottla.raft.voters.voter_set import VoterNode, VoterSet

_PORT_MAX: Final = 65_535
_ADDRESS: Final = re.compile(r"(?:\[(?P<bracketed>[^\]]*)\]|(?P<plain>[^:\[]*)):(?P<port>[^:]*):(?P<directory>.*)")


def parse_initial_controllers(text: str, listener: str) -> VoterSet:
    """The voters that `text` lists, reached on `listener`; `FormatError` says what is wrong with it.

    >>> voters = parse_initial_controllers("1@c1:9093:AAAAAAAAAAAAAAAAAAAB9A,2@[::1]:9093:AAAAAAAAAAAAAAAAAAAB9Q", "C")
    >>> voters.ids, voters.endpoints(2).address("C")
    ((1, 2), Address(host='::1', port=9093))
    """
    voters = [_voter(part.strip(), listener) for part in text.split(",") if part.strip()]
    if not voters:
        raise FormatError("No voters given.")
    seen: set[int] = set()
    for voter in voters:
        if voter.key.id in seen:
            raise FormatError(f"Node id {voter.key.id} was specified more than once.")
        seen.add(voter.key.id)
    return VoterSet.of(voters)


def _voter(text: str, listener: str) -> VoterNode:
    node_text, at, rest = text.partition("@")
    if not at:
        raise FormatError("No @ found in dynamic voter string.")
    if not node_text:
        raise FormatError("Invalid @ at beginning of dynamic voter string.")
    node_id = _number(node_text, "Failed to parse node id in dynamic voter string.")
    if node_id < 0:
        raise FormatError(f"Invalid negative node id {node_id} in dynamic voter string.")
    found = _ADDRESS.fullmatch(rest)
    if found is None:
        raise FormatError(f"Expected host:port:directoryId after the @, found {rest!r} in dynamic voter string.")
    host = found["plain"] if found["bracketed"] is None else found["bracketed"]
    if not host:
        raise FormatError("No hostname found after node id.")
    port = _number(found["port"], "Failed to parse port in dynamic voter string.")
    if not 0 <= port <= _PORT_MAX:
        raise FormatError(f"Invalid port {port} in dynamic voter string.")
    return VoterNode(ReplicaKey(node_id, _directory_id(found["directory"])), Endpoints({listener: Address(host, port)}))


def _directory_id(text: str) -> Uuid:
    try:
        directory_id = Uuid.parse(text)
    except ValueError as error:
        raise FormatError(f"Failed to parse directory ID in dynamic voter string: {error}") from error
    if is_reserved(directory_id):
        raise FormatError(f"Directory ID {text} in dynamic voter string is reserved.")
    return directory_id


def _number(text: str, complaint: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,10}", text):
        raise FormatError(complaint)
    return int(text)
