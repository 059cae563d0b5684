"""The root of every exception that Ottla raises on purpose.

A caller that wants "anything of Ottla's" catches `OttlaError`; the packages above add what they need to tell apart.
"""


class OttlaError(Exception):
    """Something that Ottla noticed and can explain."""
