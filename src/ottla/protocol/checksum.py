"""CRC-32C, which every record batch carries: the `crc32c` package's compiled function.

Its extension is loaded without the package around it, which looks up its own version and brings a command line along:
more time than all of our protocol takes to import, and tools that people wait for import this.
"""

from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crc32c import crc32c as crc32c
else:
    _package = find_spec("crc32c")
    _spec = PathFinder.find_spec("crc32c._crc32c", _package.submodule_search_locations)
    _extension = module_from_spec(_spec)
    _spec.loader.exec_module(_extension)
    crc32c = _extension.crc32c

__all__ = ["crc32c"]
