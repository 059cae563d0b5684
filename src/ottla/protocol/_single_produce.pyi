from ottla.protocol.single_produce_plain import encode as encode
from ottla.protocol.single_produce_plain import parse as parse
