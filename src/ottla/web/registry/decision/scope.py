"""Which settings and which mode are in force for a subject: its own, else its context's, else the global ones.

In the default context the registry's own settings are the context's. Those of `:.__GLOBAL:` come last.
"""

from ottla.web.registry.state.config_value import COMPATIBILITY, INHERITED, ConfigValue, ordered
from ottla.web.registry.state.mode import Mode
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.subject_name import DEFAULT_CONTEXT, GLOBAL_CONTEXT, SubjectName, parse_subject

_LAST: str = SubjectName(GLOBAL_CONTEXT, "").qualified


def own_config(state: RegistryState, subject: str | None, default_level: str) -> ConfigValue | None:
    """The setting of exactly this scope; the registry itself always has a level."""
    found = state.configs.get(subject)
    if found is not None:
        return _with_level(found, default_level)
    is_top = subject is None or parse_subject(subject).context == GLOBAL_CONTEXT
    return {COMPATIBILITY: default_level} if is_top else None


def config_in_scope(state: RegistryState, subject: str | None, default_level: str) -> ConfigValue:
    """The settings in force. A subject's own ones take some fields from the global ones where they say nothing."""
    if subject is None:
        return _fallback(state, None, default_level)
    own = own_config(state, subject, default_level)
    if own is None:
        return _fallback(state, subject, default_level)
    top = own_config(state, None, default_level) or {}
    inherited = {name: top[name] for name in INHERITED if name in top and name not in own}
    return ordered({**own, **inherited})


def own_mode(state: RegistryState, subject: str | None) -> Mode | None:
    """The mode that was set for exactly this scope; the registry itself always has one."""
    found = state.modes.get(subject)
    if found is not None:
        return found
    is_top = subject is None or parse_subject(subject).context == GLOBAL_CONTEXT
    return Mode.READWRITE if is_top else None


def mode_in_scope(state: RegistryState, subject: str | None) -> Mode:
    """The mode in force."""
    for scope in _scopes(subject):
        found = state.modes.get(scope)
        if found is not None:
            return found
    return Mode.READWRITE


def _fallback(state: RegistryState, subject: str | None, default_level: str) -> ConfigValue:
    for scope in _scopes(subject):
        found = state.configs.get(scope)
        if found is not None:
            return _with_level(found, default_level)
    return {COMPATIBILITY: default_level}


def _scopes(subject: str | None) -> tuple[str | None, ...]:
    """From the narrowest to the widest."""
    if subject is None:
        return (None, _LAST)
    name = parse_subject(subject)
    return (subject, None if name.context == DEFAULT_CONTEXT else name.prefix, _LAST)


def _with_level(config: ConfigValue, default_level: str) -> ConfigValue:
    return config if COMPATIBILITY in config else ordered({**config, COMPATIBILITY: default_level})
