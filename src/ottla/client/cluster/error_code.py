"""The error codes of an answer, wherever its layout has them."""

from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.describe_transactions import DescribeTransactionsResponse
from ottla.protocol.messages.offset_fetch import OffsetFetchResponse


def error_codes(response: Response) -> set[int]:
    """All errors in an answer of a coordinator."""
    return _found(response) - {int(ErrorCode.NONE), int(ErrorCode.OPERATION_NOT_ATTEMPTED)}


def _found(response: Response) -> set[int]:
    if isinstance(response, DescribeTransactionsResponse):
        return {state.error_code for state in response.transaction_states}
    if isinstance(response, OffsetFetchResponse):
        parts = [part for group in response.groups for topic in group.topics for part in topic.partitions]
        return {group.error_code for group in response.groups} | {part.error_code for part in parts}
    found = {getattr(response, "error_code", 0)}
    for topic in (*getattr(response, "results_by_topic_v3_and_below", ()), *getattr(response, "topics", ())):
        for result in getattr(topic, "results_by_partition", ()):
            found.add(result.partition_error_code)
        for partition in getattr(topic, "partitions", ()):
            found.add(partition.error_code)
    return found
