"""The catalog of pipelines on a cluster without a control process."""

import asyncio
from pathlib import Path

import pytest

from ottla.base.errors import OttlaError
from ottla.pipelines.runner.catalog import PipelineCatalog
from ottla.pipelines.runner.control.option import ControlOptions
from ottla.pipelines.runner.spec import PipelineSpec
from ottla.testing import EmbeddedBroker


def test_the_first_pipeline_may_be_defined_before_a_control_process_is_up(
    ottla_broker: EmbeddedBroker, ottla_topic: str, tmp_path: Path
) -> None:
    catalog = PipelineCatalog(
        ControlOptions(
            client={"bootstrap.servers": ottla_broker.bootstrap_servers},
            data=tmp_path,
            specs_topic=f"{ottla_topic}-specs",
            status_topic=f"{ottla_topic}-statuses",
        )
    )
    with pytest.raises(OttlaError, match="there are no pipelines yet"):
        asyncio.run(catalog.entries())

    spec = PipelineSpec(name="eu", kind="copy", definition={"from": "a", "to": "b"})
    assert asyncio.run(catalog.define(spec)).version == 1
    assert asyncio.run(catalog.define(spec)).version == 2
    assert list(asyncio.run(catalog.entries())) == ["eu"]
