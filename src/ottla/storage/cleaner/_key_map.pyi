from ottla.storage.cleaner.key_map_plain import KeyMap as KeyMap
from ottla.storage.cleaner.key_map_plain import rewrite as rewrite
