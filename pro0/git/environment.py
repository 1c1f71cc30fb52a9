"""The argv and the environment of a call of git: no program of a repository runs, and nothing is asked."""

import os
import re
from collections.abc import Mapping

_EVENTS = (
    *("pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update", "push-to-checkout"),
    *("reference-transaction", "post-index-change", "post-checkout"),
)
"""The hooks of the commands that pro0 calls. Git also takes hooks from settings, which no folder of hooks replaces."""
_OFF = {
    "core.hooksPath": "/dev/null",
    **{f"hook.{event}.enabled": "false" for event in _EVENTS},
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.splitIndex": "false",
    "core.pager": "cat",
    "core.editor": "false",
    "core.sshCommand": "false",
    "core.askPass": "false",
    "core.gitProxy": "false",
    "core.alternateRefsCommand": "false",
    "credential.helper": "",
    "diff.external": "false",
    "interactive.diffFilter": "false",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "log.showSignature": "false",
    "merge.verifySignatures": "false",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "submodule.recurse": "false",
    "protocol.allow": "never",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "safe.bareRepository": "all",  # else git 3 refuses ours for guests; the danger is its programs, which are off
}
ALWAYS = ("--no-pager", *(word for name, value in _OFF.items() for word in ("-c", f"{name}={value}")))
_QUIET = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1",
}
_THEIRS = re.compile(r"GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))")
"""Git variables set by the person: their name, and the place of their settings."""
_OF_HOOKS = frozenset(
    f"GIT_{name}"
    for name in ("DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "NAMESPACE", "PREFIX")
)


def outside_hooks(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the variables of git's own hooks, which lead git into the hook's checkout."""
    return {name: value for name, value in environment.items() if name not in _OF_HOOKS}


def environment() -> dict[str, str]:
    """Return git's environment: of the git variables only the person's own and ours."""
    theirs = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _THEIRS.fullmatch(name)
    }
    return {**theirs, **_QUIET}


def as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings as git's configuration variables. The settings turned off stay off."""
    pairs = list(settings.items())
    names = {f"GIT_CONFIG_KEY_{at}": name for at, (name, _) in enumerate(pairs)}
    values = {f"GIT_CONFIG_VALUE_{at}": value for at, (_, value) in enumerate(pairs)}
    return {"GIT_CONFIG_COUNT": str(len(pairs)), **names, **values}
