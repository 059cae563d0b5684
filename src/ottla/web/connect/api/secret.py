"""Hides in a validation what placeholders stand for: neither values nor errors may tell a secret."""

from dataclasses import replace

from ottla.connect.worker.config_record import Properties
from ottla.connect.worker.definition_view import ConfigInfo, Examined


def unresolved(info: ConfigInfo, config: Properties, resolved: Properties) -> ConfigInfo:
    """A validation of `resolved` as one of `config`, which has the placeholders.

    >>> from ottla.connect.config.definition import ConfigValue
    >>> info = ConfigInfo("c", (), (Examined(None, ConfigValue("key", "hunter2", ("hunter2 is bad",))),))
    >>> shown = unresolved(info, {"key": "${env:X}"}, {"key": "hunter2"}).settings[0].value
    >>> shown.value, shown.errors
    ('${env:X}', ('${env:X} is bad',))
    """
    hidden = {
        str(resolved[name]): str(value)
        for name, value in config.items()
        if value is not None and resolved.get(name) not in (None, "", value)
    }
    if not hidden:
        return info

    def shown(setting: Examined) -> Examined:
        value = setting.value
        text = value.value if value.value is None else hidden.get(value.value, value.value)
        return Examined(setting.key, replace(value, value=text, errors=tuple(_masked(each) for each in value.errors)))

    def _masked(sentence: str) -> str:
        for secret, placeholder in hidden.items():
            sentence = sentence.replace(secret, placeholder)
        return sentence

    return ConfigInfo(info.name, info.groups, tuple(map(shown, info.settings)))
