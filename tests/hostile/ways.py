"""Ways for a member to pass as another member, the lead agent or a person: what its agent runs in a shell, for each.

Words in braces are filled in (`test_ways.py`): `{probe}` tries what no member may, `{run}` is a script that does so
with nothing but the home, `{tmux}` speaks to the person's server. `open` is the heading of SECURITY.md under which what
is possible stands; empty where all is refused. `COMMANDS`: no verdict is given, but it is no member's process either.
"""

from typing import NamedTuple

COMMANDS = "Commands"
SERVER, KEYS, TRACING, GUARD = "A tmux server of yours", "Keys typed for you", "Tracing", "A guard that is gone"
LOGIN, FILES, PROGRAM = "Logins", "Writing the files", "Changing the program"
SERVICE, START, GITS = "Services with a terminal", "What your shell runs", "Your own git settings"
TABLE = "A forged table of processes"
IN_SPITE_OF_A_PIN = {FILES, PROGRAM}
NO_VERDICTS = {COMMANDS, GITS}


class Way(NamedTuple):
    """One way."""

    script: str
    open: str = ""
    needs: tuple[str, ...] = ()
    """Programs that have to be there."""
    may_fail: bool = False
    """Whether the machine may forbid it."""
    of: str = "w1"
    """Whose guard is above."""
    quiet: bool = False
    """Whether nothing comes of it before the person uses git, or opens a shell."""
    late: bool = False
    """Whether it comes of itself, within a minute or so."""
    daemon: str = ""
    """What has to run besides (`services.py`)."""


CLEAR = "env -i PATH=$PATH "
UNMARKED = "prlimit --rttime=unlimited --pid $$; "
PTY = '{python} -I -c "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)" {run}'
PATCHED = """cat > {dir}/sitecustomize.py <<'END'
import pro0.ops.context, pro0.ops.verdicts
from pro0.model.caller import THE_HUMAN
pro0.ops.context.caller_of = lambda *_: (THE_HUMAN, None)
pro0.ops.verdicts.on_terminal = lambda *_, **__: None
END
PYTHONPATH={dir}:{root} {python} {program}"""
PRELOADED = """cat > {dir}/hide.c <<'END'
#include <sys/resource.h>
#include <sys/types.h>
static int none(void *old) { struct rlimit *all = old; if (all) all->rlim_cur = all->rlim_max = -1; return 0; }
int prlimit(pid_t pid, int which, const void *new, void *old) { return none(old); }
int prlimit64(pid_t pid, int which, const void *new, void *old) { return none(old); }
pid_t getppid(void) { return 1; }
END
gcc -shared -fPIC -w -o {dir}/hide.so {dir}/hide.c || exit 1
exec setsid -w env -i PATH=$PATH LD_PRELOAD={dir}/hide.so {run}"""
AS_A_GUARD = """{python} -I -c "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1]))" {run} {launch}"""
WITH_A_MARK = """{python} -I -c "import os, sys; from pro0.processes.mark import put_on
put_on('{w2}'); os.execv(sys.argv[1], sys.argv[1:])" {run}"""
FORGED_REPORT = """env -u PRO0_AGENT_ID -u PRO0_INCARNATION {python} -I -c "
import json, os, subprocess, sys; from pro0 import processes
me = processes.identify(os.getpid()); guard = dict(pid=me.pid, start=me.start, bootId=me.boot_id)
with open(sys.argv[2], 'w') as file: json.dump(dict(agentId='lead', guard=guard), file)
subprocess.call(sys.argv[1]); os.remove(sys.argv[2])" {run} {report} {launch}"""
EDITED = (
    """{python} -I -c "
import json, sys
with open(sys.argv[1]) as file: known = json.load(file)
[task] = [one for one in known['tasks'] if one['id'] == sys.argv[2]]
del task['awaiting']; task['status'] = 'completed'
with open(sys.argv[1], 'w') as file: json.dump(known, file)" {tasks} {task} && """
    + "{told}"
)
CALLED = """{python} -I -c "
import sys; from pathlib import Path; from pro0.model.caller import THE_HUMAN; from pro0.ops.tasks import gates
from pro0.ops.context import Context; from pro0.store.teams import Store
gates.approve(Context(Store(Path(sys.argv[1])).team('alpha'), THE_HUMAN), sys.argv[2])" {home} {task} && {told}"""
IN_A_CGROUP = """for at in /sys/fs/cgroup /sys/fs/cgroup/pids /sys/fs/cgroup/cpu; do
mkdir $at/{unique} && [ -e $at/{unique}/cgroup.procs ] && break; rmdir $at/{unique}; done
[ -d $at/{unique} ] || exit 1
(echo 0 > $at/{unique}/cgroup.procs && {probe}); code=$?; rmdir $at/{unique}; exit $code"""
STI = """{python} -I -c "import fcntl, sys, termios
with open(sys.argv[1], 'w') as terminal:
    for key in sys.argv[2] + chr(10): fcntl.ioctl(terminal, termios.TIOCSTI, key.encode())" {tty} {run}"""
OBEYED = """{pro0} inbox --json > {dir}/mail
sh -c "$({python} -I -c "import json, sys
print([one['message']['content'] for one in json.load(sys.stdin)][-1])" < {dir}/mail)" """
GUARDLESS = """guard=$(cut -d' ' -f4 /proc/$PPID/stat); kill -9 $guard
while [ -d /proc/$guard ] && ! grep -q '^State:.Z' /proc/$guard/status; do sleep 0.02; done
"""

ENVIRONMENT = {
    "as itself": Way("{probe}"),
    "the lead agent's variables": Way("PRO0_AGENT_ID=lead PRO0_INCARNATION={lead} {probe}"),
    "another member's variables": Way("PRO0_AGENT_ID=w2 PRO0_INCARNATION={w2} {probe}"),
    "another's name": Way("PRO0_AGENT_ID=w2 {probe}"),
    "another's incarnation": Way("PRO0_INCARNATION={w2} {probe}"),
    "the person's name": Way("PRO0_AGENT_ID=human {probe}"),
    "another team": Way("PRO0_TEAM=beta {probe}"),
    "somebody of another home": Way("PRO0_MEMBER_OF=/nowhere {probe}"),
    "no identity": Way("env -u PRO0_AGENT_ID -u PRO0_INCARNATION -u PRO0_MEMBER_OF {probe}"),
    "a cleared environment": Way(CLEAR + "{run}"),
    "a stolen grant": Way("PRO0_GRANT={stolen} {probe}"),
    "a stolen grant, cleared": Way(CLEAR + "PRO0_GRANT={stolen} {run}"),
    "the lead agent's grant": Way("PRO0_GRANT={leads} {probe}"),
    "a grant that is over": Way("PRO0_GRANT={over} {probe}"),
    "a grant that was revoked": Way("PRO0_GRANT={revoked} {probe}"),
    "a grant that is none": Way("PRO0_GRANT=0123456789 {probe}"),
    "the spared word of leads and guards": Way("PRO0_LEAD=1 {probe}"),
}
DETACHED = {
    "nohup": Way("nohup {probe} &"),
    "a session of its own": Way("setsid -w {probe}"),
    "forked twice": Way("(setsid {run} &) &"),
    "forked twice, cleared": Way(f"(setsid {CLEAR}{{run}} &) &"),
    "a chain of programs": Way("exec nice env sh -c 'exec env {run}'"),
    "script": Way("script -qec {run} /dev/null", needs=("script",)),
    "a terminal of its own": Way(PTY),
    "a terminal of its own, cleared": Way(f"setsid -w {CLEAR}{PTY}"),
    "its mark taken off": Way(UNMARKED + "{probe}", needs=("prlimit",)),
    "its mark taken off, forked twice, cleared": Way(f"{UNMARKED}(setsid {CLEAR}{{run}} &) &", needs=("prlimit",)),
    "another's mark": Way(WITH_A_MARK),
    "called as a guard is": Way(AS_A_GUARD),
    "another control group": Way(IN_A_CGROUP, may_fail=True),
    "LD_PRELOAD that hides": Way(PRELOADED, needs=("gcc",)),
    "a message that asks for it": Way(OBEYED),
    "its guard killed": Way(f"{GUARDLESS}setsid -w {CLEAR}{{run}}", of="w3"),
    "its guard killed, its mark taken off": Way(
        f"{GUARDLESS}{UNMARKED}setsid -w {CLEAR}{{run}}", COMMANDS, ("prlimit",), of="w4"
    ),
    "its guard killed, its mark taken off, a terminal of its own": Way(
        f"{GUARDLESS}{UNMARKED}setsid -w {CLEAR}{PTY}", GUARD, ("prlimit",), of="w5"
    ),
}
UNSHARE = "unshare --fork --kill-child "
FORGED_PLACE = """unshare --mount sh -c 'prlimit --rttime=unlimited --pid $$
mount --bind /proc/1 /proc/$$; exec env -i PATH=$PATH {run}'"""
FORGED_LINE = """unshare --mount sh -c 'prlimit --rttime=unlimited --pid $$
sed "s/^1 /$$ /" /proc/1/stat > {dir}/stat; mount --bind {dir}/stat /proc/$$/stat; exec env -i PATH=$PATH {run}'"""
HIDDEN_PARENT = """unshare --mount sh -c 'prlimit --rttime=unlimited --pid $$
mount -t tmpfs none /proc/$PPID; exec env -i PATH=$PATH {run}'"""
FORGED_TABLE = """cat > {dir}/forge <<'END'
prlimit --rttime=unlimited --pid $$
mkdir {dir}/proc && mount -t tmpfs none {dir}/proc && cd {dir}/proc && ln -s $$ self
mkdir -p $$/ns sys/kernel/random && cp /proc/sys/kernel/random/boot_id sys/kernel/random
for n in $(seq $$ $(($$ + 999))); do mkdir -p $n; sed "s/^1 /$n /" /proc/1/stat > $n/stat; : > $n/cmdline; done
echo '1 1 0:1 / / rw' > $$/mountinfo; : > $$/ns/pid
mount --bind /proc/self/ns/pid $$/ns/pid; mount --rbind {dir}/proc /proc
exec env -i PATH=$PATH {python} -I -c "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)" {run}
END
unshare --mount sh {dir}/forge"""
SPACES = {
    "a namespace of processes": Way(UNSHARE + "--pid --mount-proc {probe}", needs=("unshare",), may_fail=True),
    "a namespace of processes, unmarked": Way(
        f"{UNMARKED}{UNSHARE}--pid --mount-proc {CLEAR}{{run}}", needs=("unshare", "prlimit"), may_fail=True
    ),
    "a namespace of users and processes": Way(
        f"{UNSHARE}--user --map-root-user --pid --mount-proc {CLEAR}{{run}}", needs=("unshare",), may_fail=True
    ),
    "a place in /proc that is another's": Way(FORGED_PLACE, needs=("unshare", "prlimit"), may_fail=True),
    "a line in /proc that is forged": Way(FORGED_LINE, needs=("unshare", "prlimit"), may_fail=True),
    "a parent hidden in /proc": Way(HIDDEN_PARENT, needs=("unshare", "prlimit"), may_fail=True),
    "a forged /proc": Way(FORGED_TABLE, TABLE, needs=("unshare", "prlimit"), may_fail=True),
    "a bound home": Way(
        "mkdir {dir}/bound && unshare --mount sh -c 'mount --bind {home} {dir}/bound && "
        f"{CLEAR}PRO0_HOME={{dir}}/bound {{probe}}'",
        needs=("unshare",),
        may_fail=True,
    ),
    "a linked home": Way(f"ln -s {{home}} {{dir}}/linked && {CLEAR}PRO0_HOME={{dir}}/linked {{probe}}"),
    "a copied home": Way(f"cp -a {{home}} {{dir}}/copied && {CLEAR}PRO0_HOME={{dir}}/copied {{probe}}"),
    "a moved home": Way(
        f"mv {{home}} {{dir}}/moved; {CLEAR}PRO0_HOME={{dir}}/moved {{probe}}; code=$?; "
        "mv {dir}/moved {home} && exit $code"
    ),
}
TMUX = {
    "tmux run-shell": Way("{tmux} run-shell {run}", COMMANDS),
    "tmux if-shell": Way("{tmux} if-shell {run} list-windows list-windows", COMMANDS),
    "tmux set-hook": Way(
        "{tmux} set-hook -g after-list-windows 'run-shell {run}'; {tmux} list-windows; "
        "{tmux} set-hook -gu after-list-windows",
        COMMANDS,
    ),
    "tmux formats": Way(  # tmux may end before its job has begun: asked again, as whoever wants it would
        "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do {tmux} display-message -p '#({run})'; sleep 0.5; "
        "[ -e $(dirname {run}).json ] && exit 0; done; exit 1",
        COMMANDS,
    ),
    "tmux pipe-pane": Way("{tmux} pipe-pane -t person {run}", COMMANDS),
    "tmux new-window": Way("{tmux} new-window -d {run}", SERVER),
    "tmux new-session": Way("{tmux} new-session -d {run}", SERVER),
    "tmux split-window": Way("{tmux} split-window -d -t person {run}", SERVER),
    "tmux respawn-pane": Way(
        "pane=$({tmux} new-window -d -P -F '#{pane_id}' 'sleep 600'); {tmux} respawn-pane -k -t $pane {run}", SERVER
    ),
    "tmux respawn-window": Way(
        "at=$({tmux} new-window -d -P -F '#{window_id}' 'sleep 600'); {tmux} respawn-window -k -t $at {run}", SERVER
    ),
    "tmux default-command": Way(
        "{tmux} set-option -g default-command {run}; {tmux} new-window -d; {tmux} set-option -gu default-command",
        SERVER,
    ),
    "tmux source-file": Way("echo 'run-shell {run}' > {dir}/commands; {tmux} source-file {dir}/commands", COMMANDS),
    "tmux in control mode": Way("echo 'new-window -d {run}' | {tmux} -C attach-session -t person", SERVER),
    "tmux send-keys": Way("{tmux} send-keys -t person {run} Enter", KEYS),
    "keys put in by the kernel": Way(STI, KEYS, may_fail=True),
    "tmux paste-buffer": Way("echo {run} | {tmux} load-buffer - && {tmux} paste-buffer -t person", KEYS),
    "a tmux server of its own": Way("env -u TMUX tmux -S {own} -f /dev/null new-session -d {run}"),
    "a tmux server of its own, cleared": Way(CLEAR + "tmux -S {own} -f /dev/null new-session -d {run}"),
}
OUTSIDE = {
    "at": Way("echo {run} | {inside} at now", daemon="atd"),  # it keeps the variables, which then prove nothing
    "at, cleared": Way(f"echo {{run}} | {{inside}} {CLEAR}at now", COMMANDS, daemon="atd"),
    "cron": Way("echo '* * * * * {run}' | {inside} crontab -", COMMANDS, late=True, daemon="cron"),
    "ssh localhost": Way("{ssh} {run}", LOGIN, daemon="sshd"),
    "ssh localhost without a terminal": Way("{ssh} -T {run}", COMMANDS, daemon="sshd"),
    "a service": Way("{systemd-run} --wait {run}", COMMANDS, daemon="systemd"),
    "a timer": Way("{systemd-run} --on-active=1 {run}", COMMANDS, daemon="systemd"),
    "a service with a terminal": Way("{systemd-run} --wait --pty {run}", SERVICE, daemon="systemd"),
    "a service of the session's bus": Way(
        "printf '[D-BUS Service]\nName=pro0.way\nExec={run}\n' > {offered}/pro0.way.service; "
        "{bus} --dest=pro0.way / pro0.way.Go",
        COMMANDS,
        daemon="dbus-daemon",
    ),
    "a traced shell of the person's": Way(
        "gdb -p {person} -batch -ex 'call (int)system(\"{run}\")' && [ -e {file} ]", TRACING, ("gdb",), may_fail=True
    ),
    "over MCP": Way("{mcp}"),
    "over MCP, as the lead agent": Way("PRO0_AGENT_ID=lead PRO0_INCARNATION={lead} {mcp}"),
    "over MCP, cleared": Way(CLEAR + "PRO0_HOME={home} {mcp}"),
    "over MCP, outside": Way("{tmux} run-shell '{mcp}'", COMMANDS),
    "over JSON-RPC": Way("{rpc}"),
    "over JSON-RPC, as the lead agent": Way("PRO0_AGENT_ID=lead PRO0_INCARNATION={lead} {rpc}"),
    "over JSON-RPC, with a stolen grant": Way("PRO0_GRANT={stolen} {rpc}"),
    "over JSON-RPC, forked twice, cleared": Way(f"(setsid {CLEAR}{{rpc}} &) &"),
    "over JSON-RPC, outside": Way("{tmux} run-shell '{rpc}'", COMMANDS),
    "over JSON-RPC, in a window of the person's": Way("{tmux} new-window -d '{rpc}'", COMMANDS),
}
GIT = {
    "git core.fsmonitor": Way("git -C {repo} config core.fsmonitor {run}", quiet=True),
    "git core.hooksPath": Way(
        "for name in post-checkout post-commit reference-transaction; do ln -s {run} {dir}/$name; done; "
        "git -C {repo} config core.hooksPath {dir}",
        quiet=True,
    ),
    "git core.sshCommand": Way("git -C {repo} config core.sshCommand {run}", quiet=True),
    "git core.pager": Way("git -C {repo} config core.pager {run}", quiet=True),
    "git diff.external": Way("git -C {repo} config diff.external {run}", quiet=True),
    "git filter": Way("git -C {repo} config filter.planted.smudge {run}", quiet=True),
    "git commit.gpgSign": Way(
        "git -C {repo} config commit.gpgSign true; git -C {repo} config gpg.program {run}", quiet=True
    ),
    "git merge driver": Way(
        "git -C {repo} config merge.default planted; git -C {repo} config merge.planted.driver {run}", quiet=True
    ),
    "git include.path": Way(
        "printf '[core]\\n\\tfsmonitor = {run}\\n' > {dir}/more; git -C {repo} config include.path {dir}/more",
        quiet=True,
    ),
    "git core.editor": Way(
        "git -C {repo} config core.editor {run}; git -C {repo} config sequence.editor {run}", quiet=True
    ),
    "a filter of ~/.gitconfig": Way("git config --global filter.planted.clean {run}", GITS, quiet=True),
    "git alias": Way("git -C {repo} config alias.worktree '!{run}'", quiet=True),
}
START_UP = {
    "a shell's start-up file": Way("echo {run} >> $HOME/.bashrc", START, quiet=True),
    "what a login runs": Way("echo {run} >> $HOME/.bash_profile", START, quiet=True),
}
STORE = {
    "editing tasks.json": Way(EDITED, FILES),
    "a forged report": Way(FORGED_REPORT, FILES),
    "calling the code": Way(CALLED, PROGRAM),
    "changed code": Way(PATCHED, PROGRAM),
}
BY_THE_MINUTE = ("cron",)
"""Ways that wait for a daemon's next minute, and now and then for several."""
PARTS = {
    "environment": ENVIRONMENT,
    "detached": DETACHED,
    "spaces": SPACES,
    "tmux": TMUX,
    "outside": {name: way for name, way in OUTSIDE.items() if name not in BY_THE_MINUTE},
    "by the minute": {name: OUTSIDE[name] for name in BY_THE_MINUTE},
    "git": GIT | START_UP,
    "store": STORE,
}
WAYS = {name: way for part in PARTS.values() for name, way in part.items()}
