"""docs/REST.md: its commands run, and its settings exist."""

from pathlib import Path

from ottla.cli.kafka.kafka_rest_start import SCRIPT
from ottla.cli.kafka.service_script import processes
from ottla.web.rest.config import REST_KEYS
from tests.integration.web.page import check_settings, run, scripts_of
from tests.integration.web.rest_process import RestProcess
from tests.kafka.server import Server


def test_the_commands_of_the_page(rest: RestProcess, kafka: Server, tmp_path: Path) -> None:
    said = [
        run(script, {"localhost:8082": rest.port}, tmp_path, OTTLA_BOOTSTRAP=kafka.bootstrap)
        for script in scripts_of("REST.md")
    ]
    produced, streamed, managed, consumed, shown = said
    assert produced.count('"error_code":null') == 3
    assert '"value_schema_id":' in produced
    assert streamed.count('"error_code":200') == 4
    assert streamed.count('"id":') == 2
    assert '"name":"retention.ms","value":"86400000"' in managed
    assert '"partitions_count":3' in managed
    assert '"instance_id":"c1"' in consumed
    assert '"key":"a","value":{"total":7}' in consumed
    assert '"orders"' in shown


def test_the_settings_of_the_page() -> None:
    check_settings("REST.md", REST_KEYS)


def test_the_stop_script_finds_what_runs(rest: RestProcess) -> None:
    assert rest.pid in set(processes(SCRIPT))
