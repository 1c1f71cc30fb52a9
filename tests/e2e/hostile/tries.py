"""What a hostile machine tries against home, and the harm that must not come of it: one row each."""

from typing import Any

from tests.e2e.hostile.acts import EVENT, HOOK
from tests.e2e.hostile.checks import (
    BEYOND,
    PAINT,
    Try,
    asked,
    drawn,
    few_threads,
    harmless,
    held_back,
    limits_itself,
    merged,
    no_cost,
    not_asked,
    not_over,
    not_over_in_words,
    not_working,
    own_mail,
    painted,
    refused,
    shown,
    silent,
    within_bounds,
)


def sends(*messages: tuple[str, Any]) -> tuple[Any, ...]:
    return ("sends", *messages)


def asks(*commands: Any, given: str = "- title: evil", id: str = "") -> tuple[Any, ...]:
    return ("asks", commands, given, id)


def report(**what: object) -> tuple[str, Any]:
    return ("REPORT", {"state": "idle", "task": None, "note": "", **what})


def odd_words(*first: str) -> list[list[Any]]:
    """Words in which a command line could hide."""
    odd = (
        "\0",
        "a\0--team\0other",
        "a\nb",
        "\ud800",
        "\udcff",
        "--",
        "-",
        "--version",
        "--help",
        "",
        " ",
        "~",
        "*",
        "\x1b[2J",
    )
    return [[*first, word] for word in odd]


COMMANDS = {
    "tasks of its own": Try(
        "a task that nobody at home made", asks("task create evil", "task create -f -", "task add x"), check=refused
    ),
    "programs": Try(
        "a program that runs at home",
        asks(
            "member spawn eve -- touch taken",
            "run",
            "delegate x",
            "rpc team.start",
            "mcp",
            "web",
            "hosted serve x",
            "lead alpha",
            "worker start x",
        ),
        check=refused,
    ),
    "verdicts": Try(
        "a verdict of the person's",
        asks(
            "task approve task-2",
            "task reject task-2 no",
            "plan approve ada",
            "member answer x allow",
            "member env ada",
            "task close task-1",
            "config trust",
        ),
        check=refused,
    ),
    "the end of the team": Try(
        "a team that is stopped or removed",
        asks(
            "team stop",
            "team cleanup alpha --force",
            "member shutdown ada --force",
            "member forget ada",
            "uninstall",
            "store copy x",
            "team archive rm alpha",
        ),
        check=refused,
    ),
    "settings": Try(
        "a setting of the person's",
        asks(
            "config set verdicts scripts",
            "config set ssh evil",
            "role set x y",
            "team cost --limit 0",
            "doctor --repair",
            "doctor --host x",
            "verdict pin",
        ),
        check=refused,
    ),
    "another's work": Try(
        "a claim, a task or a seat of another member",
        asks(
            *(
                "task complete task-1 done",
                "task release task-1",
                "task fail task-1 x",
                "task done task-1 --json",
                "shutdown approve",
            ),
            *("shutdown reject x", "task claim task-1", "task update task-1 --assignee bob", "member interrupt ada"),
        ),
        check=refused,
    ),
    "another team": Try(
        "a look into another team",
        asks(
            "task list -t other",
            "task list --team=other",
            "inbox -t other",
            "send x y -t ../alpha",
            "team status other",
            "-t other task list",
        ),
        check=refused,
    ),
    "another member's name": Try(
        "words in the name of another",
        asks(
            *(
                "send ada hi --as human",
                "send ada hi --from human",
                "--as ada send human hi",
                "PRO0_AGENT_ID=ada send human hi",
            ),
            *(
                "env PRO0_AGENT_ID=ada pro0 inbox",
                "inbox --as ada",
                "inbox --home /",
                "broadcast hi --team=other",
                "send -t other ada x",
            ),
        ),
        check=refused,
    ),
    "a comment as the person": Try(
        "a remark that counts as the person's",
        asks("task comment task-2 yes --from human", ["task", "comment", "task-2", "--from=human", "ok"]),
        check=refused,
    ),
    "options for the interpreter": Try(
        "a program of its own in the place of pro0",
        asks(
            ["-m", "os"],
            ["-c", "print(1)"],
            ["--", "team", "stop"],
            ["-I", "task", "list"],
            ["@/etc/passwd"],
            ["task", "@secret.yaml"],
        ),
        check=refused,
    ),
    "files of the person's": Try(
        "what stands in a file at home",
        asks(
            *(
                ["send", "human", "@secret.yaml"],
                ["send", "human", "-f", "secret.yaml"],
                ["task", "comment", "task-2", "<secret.yaml"],
            ),
            *(
                ["task", "show", "../../secret"],
                ["member", "show", "/etc/passwd"],
                ["inbox", "--with", "../ada"],
                ["send", "../../x", "y"],
            ),
            given=PAINT,
        ),
        check=own_mail,
    ),
    "words of any kind": Try(
        "a word that is taken for something else",
        asks(
            *(
                words
                for first in (("send", "human"), ("task", "show"), ("inbox", "--with"), ("task", "release"))
                for words in odd_words(*first)
            )
        ),
        check=silent,
    ),
    "input that is no text": Try(
        "a command that never ends, or a link that ends",
        sends(
            *(
                ("ASK", {"id": f"no text {n}", "words": words, "input": "\ud800\udfff\ud800"})
                for n, words in enumerate(
                    (["send", "human", "-"], HOOK, ["mcp", "--call", "message"], ["inbox", "--wait", "9"]) * 5
                )
            )
        ),
    ),
    "very long words": Try(
        "a line of megabytes at home",
        asks(["x" * 2_000_000], ["task", "x" * 2_000_000], ["task", "show", "x" * 120_000]),
        check=refused,
    ),
    "tools that are not for others": Try(
        "a task or a member by a tool",
        asks(
            "mcp --call task_create",
            "mcp --call spawn_teammate",
            "mcp --call submit_plan",
            "mcp --call ../x",
            "mcp --call message extra",
            "mcp --call=message",
        ),
        check=refused,
    ),
    "a tool's arguments": Try(
        "a message in another's name, or a fault of a tool",
        asks(
            *(
                ["mcp", "--call", name]
                for name in (
                    "message",
                    "broadcast",
                    "claim_task",
                    "complete_task",
                    "check_messages",
                    "task_comment_create",
                )
            ),
            given='{"to": "ada", "text": "hi", "from": "human", "team": "other", "task_id": "task-1", "id": "task-1"}',
        ),
        check=silent,
    ),
    "deep arguments": Try("a fault of a tool", asks(["mcp", "--call", "message"], given='{"a":' * 5000), check=silent),
    "the id of another's command": Try(
        "an answer for somebody else", asks("send human first", "send human second", id="the same"), check=own_mail
    ),
    "that id again": Try(
        "a command that counts as done, as another member did it",
        asks("send human third", id="the same"),
        check=own_mail,
    ),
    "waits without end": Try(
        "a member that keeps home at work for good",
        ("floods_and_reads", "ASK", {"id": "", "words": ["send", "ada", "x", "--wait", "inf"], "input": ""}, 40),
    ),
}
"""What it asks home to do."""

PERMISSIONS = {
    "its own permission": Try("a permission that the person has not given", ("permits_itself",), check=asked),
    "another's permission": Try(
        "a request in the name of another session",
        (
            "asks_permission",
            '{"tool_name": "Bash", "agent_id": "ada", "incarnation": "x", "tool_use_id": "x", "tool_input": {"a": 1}}',
        ),
        check=asked,
    ),
    "a painted permission": Try(
        "a question that shows other than what it asks",
        (
            "asks_permission",
            '{"tool_name": "B\\u001b[2J\\u202e", "tool_input": {"command": "ls\\u001b[8m; rm\\u202e\\u0007"}}',
        ),
        check=asked,
    ),
    "a huge permission": Try(
        "a file that grows with every look", ("asks_permission", EVENT % ("x" * 3_000_000)), check=harmless
    ),
    "many permissions": Try(
        "a person who sees nothing else",
        ("floods_and_reads", "ASK", {"id": "", "words": HOOK, "input": EVENT % 1}, 400),
        check=harmless,
    ),
    "permissions that are none": Try(
        "a request that cannot be answered",
        sends(
            *(
                ("ASK", {"id": f"{n}", "words": HOOK, "input": text})
                for n, text in enumerate(("", "{", "[]", '{"tool_name": 7}', "\ud800", '{"a":' * 5000))
            )
        ),
        check=not_asked,
    ),
}

MESSAGES = {
    "a forged end": Try(
        "an end that nobody proved",
        sends(report(state="crashed"), report(state="exited"), report(state="shutdown")),
        check=not_working,
    ),
    "another's task": Try(
        "a claim by a report", sends(report(state="working", task="task-1", note="I have it")), check=not_working
    ),
    "odd reports": Try(
        "a state that is none",
        sends(report(state=7, task=[], note={}), report(state=None), report(state="", task="\0"), ("REPORT", {})),
        check=harmless,
    ),
    "states that no agent's files tell": Try(
        "an end, an id that is an option, a painted word",
        sends(
            ("SAID", {"state": "crashed", "source": "transcript"}),
            ("SAID", {"state": 7, "session": "--x", "words": []}),
            ("SAID", {"state": "idle", "source": PAINT, "note": PAINT, "session": "../x"}),
        ),
        check=harmless,
    ),
    "a flood of states": Try(
        "a disk that does nothing else", ("floods", "SAID", {"session": "s", "note": "x" * 500}, 20_000)
    ),
    "a painted screen": Try(
        "commands for the person's terminal",
        sends(("FRAME", {"rows": {"0": PAINT, "1": "x" * 90_000}, "title": PAINT, "modes": [9**9, 1049]})),
        check=drawn,
    ),
    "a painted note": Try(
        "commands for the person's terminal", sends(report(state="waiting", note=PAINT, task=PAINT)), check=harmless
    ),
    "a long note": Try(
        "a screen that is full of it", sends(report(note="x" * 3_000_000), report(note="y" * 16_000)), check=harmless
    ),
    "a rate limit on its screen": Try(
        "no session of that agent at home", ("shows", "codex-api-error-429"), agent="codex", check=limits_itself
    ),
    "many reports": Try(
        "a lead that does nothing else", ("floods", "REPORT", {"state": "idle", "task": None, "note": "n"}, 20_000)
    ),
    "changing reports": Try(
        "a lead that does nothing else",
        ("sends", *(report(state=("idle", "working")[n % 2], note=f"{n}") for n in range(6000))),
    ),
    "before the beginning": Try("a command of a session that has not begun", ("before_hello",)),
    "every field odd": Try("a link that ends", ("every_field_odd",)),
    "deep values": Try("a link that ends", ("deep",)),
    "no text": Try("a link that ends", ("no_text",)),
    "endless numbers": Try(
        "a link that ends",
        sends(
            ("FRAME", {"rows": {"9" * 5000: "x", "²": "y", "٣": "z", "-0": "x"}}),
            ("FRAME", {"rows": {}, "cursor": [10**4299 * 9, 10**4299 * 9]}),
        ),
    ),
    "unknown messages": Try(
        "an act that nobody knows",
        sends(
            ("?", {}),
            ("REFUSED", {"why": "no"}),
            ("BEGUN", {}),
            ("BEGIN", {}),
            ("END", {}),
            ("ANSWER", {"id": "x"}),
            ("INPUT", {}),
            ("WATCH", {}),
        ),
    ),
    "asks that are none": Try(
        "a link that ends",
        sends(
            ("ASK", {"id": 1}),
            ("ASK", {"id": "a", "words": [1], "input": ""}),
            ("ASK", {"id": "b", "words": {}, "input": ""}),
            ("ASK", {"id": "\ud800", "words": ["inbox"], "input": ""}),
        ),
    ),
    "forged receipts": Try("mail that counts as read", ("acknowledges",), check=silent),
    "usage beyond bounds": Try(
        "a cost that nobody had",
        sends(
            *(
                ("USED", {"input_tokens": 5, "output_tokens": 3} | odd)
                for odd in (
                    {"input_tokens": -5},
                    {"cost_usd": float("inf")},
                    {"cost_usd": float("nan")},
                    {"cost_usd": -1.0},
                    {"input_tokens": BEYOND},
                    {"models": ["\x1b[2J"]},
                    {"models": ["x"] * 99},
                    {"cost_usd": "1"},
                )
            )
        ),
        check=no_cost,
    ),
    "an odd end": Try("a guard that fails", ("ends", {"code": "0", "signal": 999999, "reason": ["x"]}), after=harmless),
    "a painted end": Try(
        "commands for the person's terminal", ("ends", {"code": 7, "reason": PAINT * 9000}), after=drawn
    ),
    "an end by a signal that only stops": Try("a link that waits for good", ("ends", {"code": None, "signal": 20})),
    "an end by one that nobody can ignore": Try("a link that waits for good", ("ends", {"code": None, "signal": 19})),
    "an end as if it had not begun": Try("a start without end", ("ends", {"code": 69, "signal": True})),
}

FLOODS = {
    "100,000 asks, none taken": Try(
        "memory without bound", ("floods", "ASK", {"id": "", "words": ["mcp"], "input": ""}), check=held_back
    ),
    "long asks, none taken": Try(
        "memory without bound", ("floods", "ASK", {"id": "", "words": ["x" * 60_000], "input": ""}, 700), soak=True
    ),
    "100,000 greetings": Try("memory without bound", ("greets_again",)),
    "beginnings after a cut": Try("threads without bound", ("begins_again",), check=few_threads),
    "refusals that repeat": Try(
        "memory without bound",
        ("floods_and_reads", "ASK", {"id": "", "words": ["x" * 2_000_000], "input": ""}, 100),
        soak=True,
    ),
    "huge frames": Try("memory without bound", ("huge", "FRAME", "title", 4_000_000), soak=True),
    "huge asks": Try("memory without bound", ("huge", "ASK", "input", 4_000_000), soak=True),
    "wide values": Try("memory without bound", ("wide",)),
    "many frames": Try(
        "a terminal that shows nothing else", ("floods", "FRAME", {"rows": {"0": "x" * 500}}, 20_000), soak=True
    ),
    "a message of 4 GiB": Try("memory without bound", ("too_long",)),
    "a message that is never whole": Try("memory without bound", ("never_whole",)),
    "much that is printed": Try("memory without bound", ("prints_much",), check=within_bounds),
    "much that is remembered": Try("memory without bound", ("remembers",), soak=True),
    "much mail": Try(
        "others who get no mail",
        ("floods_and_reads", "ASK", {"id": "", "words": ["send", "ada", "x"], "input": ""}, 60),
    ),
    "errors without end": Try("memory without bound", ("errors_without_end",), check=drawn, soak=True),
}

CONNECTIONS = {
    "goes on after the end": Try("a command of a session that is over", ("goes_on_after_the_end",)),
    "silence": Try("a start that keeps others waiting", ("silent",), ends_itself=False),
    "deafness": Try("an end that never comes", ("deaf",), ends_itself=False),
    "half open": Try("a link that waits for good", ("half_open",)),
    "garbage first": Try("a login's words that are taken for more", ("garbage",), check=drawn),
    "leaves at once": Try("a link that starts without a pause", ("leaves_at_once", 0), check=harmless, soak=True),
    "a deep version": Try("a link that ends with a fault", ("deep_version",), check=harmless),
    "an end with a deep reason": Try("a link that ends with a fault", ("deep_reason",)),
    "never says whether it is over": Try(
        "an ssh that outlives the team", ("refuses",), end=("never_says_so",), after=not_over
    ),
    "a deep answer": Try("a lead that fails", ("refuses",), end=("says_over", "[" * 200_000), after=not_over_in_words),
    "a long answer": Try(
        "memory without bound",
        ("refuses",),
        end=("says_over", "x" * 6_000_000, PAINT * 90_000),
        after=not_over_in_words,
        soak=True,
    ),
    "a painted answer": Try(
        "commands for the person's terminal",
        ("refuses",),
        end=("says_over", PAINT, PAINT * 9000, 1),
        after=not_over_in_words,
    ),
    "never over": Try(
        "a task that is given to another meanwhile",
        ("refuses",),
        end=("says_over", "no"),
        after=not_over_in_words,
        soak=True,
    ),
}
COMMITS = {
    "honest commits": Try("a test that shows nothing", gives=("honest",), after=merged),
    "other branches, tags and a HEAD elsewhere": Try("a ref of the person's", gives=("everything",)),
    "hooks and settings there": Try("a program of theirs, run here", gives=("programs", "MARK"), after=merged),
    "a path upwards": Try("a file outside of the checkout", gives=("a_path", "../../taken"), comes=False),
    "a path from the root": Try("a file outside of the checkout", gives=("a_path", "/taken"), comes=False, soak=True),
    "settings of git as a file": Try("a program that git is told to run", gives=("a_path", ".git/config"), comes=False),
    "hooks of git as a file": Try(
        "a program that git runs", gives=("a_path", "src/.GIT/hooks/post-checkout", "x", "100755"), comes=False
    ),
    "git's folder by its short name": Try(
        "a program that git runs", gives=("a_path", "git~1/config"), comes=False, soak=True
    ),
    "git's folder with a letter that is none": Try(
        "a program that git runs", gives=("a_path", ".g\u200cit/config"), comes=False
    ),
    "names that are one elsewhere": Try("a file in the place of another", gives=("folded",)),
    "one name twice": Try("a file in the place of another", gives=("twice",), comes=False),
    "painted names": Try("commands for the person's terminal", gives=("names",), check=painted),
    "painted words": Try("commands for the person's terminal", gives=("words",), check=painted),
    "the person's name": Try(
        "a commit that counts as the person's, or cannot be shown", gives=("forges",), check=shown
    ),
    "a link to a secret": Try("what stands in a file of the person's", gives=("a_link", "USER/.ssh/id"), after=merged),
    "a link, and a file through it": Try("a file outside of the checkout", gives=("links", "USER"), after=merged),
    "attributes": Try("a filter or a driver that runs", gives=("attributes",), after=merged),
    "attributes as a link": Try(
        "a file that git reads as its own", gives=("a_path", ".gitattributes", "USER/.ssh/id", "120000"), after=merged
    ),
    "a submodule from a program": Try(
        "a program that git starts to fetch", gives=("modules",), after=merged, comes=False
    ),
    "a submodule in odd places": Try(
        "a repository outside",
        gives=("modules", '[submodule "../../x"]\n\tpath = ../../x\n\turl = -u./x\n'),
        comes=False,
    ),
    "a file for a commit": Try("a branch that is no branch", gives=("no_commit", "blob"), comes=False),
    "a tree for a commit": Try("a branch that is no branch", gives=("no_commit", "tree"), comes=False),
    "a tag for a commit": Try("a tag of theirs", gives=("no_commit", "tag")),
    "a history that is cut off": Try("a repository that is cut off too", gives=("without_history",), comes=False),
    "a history of its own": Try("a fault of the diff", gives=("unrelated",), check=shown),
    "another history": Try("commits that only home had", gives=("rewritten",)),
    "a commit without its files": Try("a broken repository", gives=("lacking",), comes=False),
    "a spoiled pack": Try("a broken repository", gives=("spoiled",), comes=False),
    "the person's own objects": Try("a repository that lends", gives=("borrows", "PROJECT/.git/objects")),
    "8 MiB": Try("memory without bound", gives=("much", 8 << 20, True), soak=True),
    "a gibibyte of nothing": Try("memory without bound", gives=("much", 1 << 30, False), soak=True),
    "many commits and files": Try("a diff without end", gives=("many", 20_000, 20_000), soak=True),
    "no repository": Try("a branch that goes", gives=("says", "hello\n", "\x1b[2Jno\x07\n", 1), comes=False),
    "nothing at all": Try("a branch that goes", gives=("says", "", "", 0), comes=False),
    "an end at once": Try("a branch that goes", gives=("says", "0000", "", 0), comes=False, soak=True),
    "lines without end": Try(
        "memory without bound",
        gives=("says", "003f" + "1" * 40 + " refs/heads/x\0side-band\n", "\x1b[2Jx\n", 1, 100_000),
        comes=False,
    ),
    "remarks": Try("commands for the person's terminal", gives=("remarks",), comes=False),
    "errors that do not end": Try("memory without bound", gives=("without_end",), comes=False),
}

KINDS: dict[str, dict[str, Try]] = {
    "commands that home is asked to do": COMMANDS,
    "permissions": PERMISSIONS,
    "messages of any content and order": MESSAGES,
    "floods": FLOODS,
    "connections and ends": CONNECTIONS,
    "commits, and what git is told": COMMITS,
}
TRIES = {name: row for rows in KINDS.values() for name, row in rows.items()}
