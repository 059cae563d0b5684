"""Completion of commands, options, topics and groups in bash, zsh and fish.

  bash:  echo 'eval "$(ottla completion bash)"' >> ~/.bashrc
  zsh:   echo 'eval "$(ottla completion zsh)"' >> ~/.zshrc
  fish:  ottla completion fish > ~/.config/fish/completions/ottla.fish

Names of topics and groups are asked of the cluster that -b or OTTLA_BOOTSTRAP name.
"""

import argparse
import sys
from typing import Final

_BASH: Final = """\
_ottla_complete() {
    local IFS=$'\\n'
    COMPREPLY=($(ottla completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _ottla_complete ottla
"""
_ZSH: Final = """\
_ottla_complete() {
    local -a found
    local line
    while IFS= read -r line; do
        line=${line//\\\\/\\\\\\\\}
        found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
    done < <(ottla completion words -- "${words[@]:1:$((CURRENT-1))}" 2>/dev/null)
    (( $#found )) && _describe ottla found || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _ottla_complete ottla
"""
_FISH: Final = """\
function __ottla_complete
    set -l given (commandline -opc)
    set -l found (ottla completion words -- $given[2..-1] (commandline -ct) 2>/dev/null)
    if set -q found[1]
        string join \\n -- $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c ottla -f -a '(__ottla_complete)'
"""
SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


class _Shells(tuple[str, ...]):
    """The shells, and beside them `words`, which is for their scripts: an error does not list it."""

    __slots__ = ()

    def __contains__(self, word: object) -> bool:
        return word == "words" or super().__contains__(word)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    # `words` is for the scripts: what could stand in place of the last of the words given.
    parser.add_argument("shell", choices=_Shells(SCRIPTS), metavar="{bash,zsh,fish}", help="the shell")
    words = parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    words.required = False


def run(options: argparse.Namespace) -> int:
    """Prints a script, or what completes a line; the exit code."""
    if options.shell in SCRIPTS:
        sys.stdout.write(SCRIPTS[options.shell])
        return 0
    from ottla.cli.commands.completion_word import candidates

    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    for word, meaning in candidates(words):
        print(f"{word}\t{meaning}")
    return 0
