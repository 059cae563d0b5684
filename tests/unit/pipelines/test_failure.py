"""The sentence in what Spark says."""

from ottla.pipelines.failure import reason

SPARK_SAYS = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Job aborted due to stage failure:
Task 0 in stage 0.0 failed 1 times: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/venv/lib/pyspark/worker.py", line 1, in main
ottla.protocol.errors.NetworkError: refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/venv/lib/ottla/source.py", line 1, in read
ottla.client.errors.KafkaTimeoutError: no broker of 127.0.0.1:1 answers

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
"""


def test_it_is_what_was_raised_in_the_end() -> None:
    assert reason(ValueError(SPARK_SAYS)) == "no broker of 127.0.0.1:1 answers"


def test_lines_that_belong_to_it_stay() -> None:
    said = "no broker could be reached; tried\n  a:1: refused"
    assert reason(ValueError(f"ottla.client.errors.NoBrokersAvailableError: {said}\n SQLSTATE: 38000")) == said


def test_what_is_not_of_python_is_cut_to_its_first_line() -> None:
    assert reason(ValueError("Python worker failed to connect back.\n\tat org.apache")) == (
        "Python worker failed to connect back."
    )
    assert len(reason(ValueError("x" * 5000))) == 500
    assert reason(None)
