"""A certificate is replaced while the node runs: who comes later sees the new one, and slips are refused."""

import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client.admin.admin import AdminClient
from ottla.protocol.errors import ApiError
from tests.integration.security.secured_node import SecuredNode

KEY = "listener.name.tls.ssl.keystore.location"
