"""The version of Ottla, said once: the package's metadata is made from it.

Asking the installed metadata instead means to search the path and to parse a file, 20 ms in every start of a tool.
"""

from typing import Final

VERSION: Final = "0.1.0"
