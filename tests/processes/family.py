"""A program with a child of every kind: `family.py FOLDER END KIND...`, standard library only.

Each child writes its pid to FOLDER/KIND once it is what it should be, and stays for ever. When all are there the
program itself ends with the code END, or stays too when END is `stay`.
"""

import os
import resource
import signal
import sys
import time


def settle(folder: str, kind: str) -> None:
    with open(f"{folder}/.{kind}", "w") as new:
        new.write(str(os.getpid()))
    os.rename(f"{folder}/.{kind}", f"{folder}/{kind}")


def stay(folder: str, kind: str) -> None:
    settle(folder, kind)
    while True:
        signal.pause()


def plain(folder: str, kind: str) -> None:
    stay(folder, kind)


def nohup(folder: str, kind: str) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stay(folder, kind)


def setsid(folder: str, kind: str) -> None:
    os.setsid()
    stay(folder, kind)


def double_fork(folder: str, kind: str) -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    stay(folder, kind)


def grandchild(folder: str, kind: str) -> None:
    """As a tool's server of an agent: a child stays, and its child is the one that counts."""
    if os.fork():
        while True:
            signal.pause()
    stay(folder, kind)


def deaf(folder: str, kind: str) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    stay(folder, kind)


def stopped(folder: str, kind: str) -> None:
    settle(folder, kind)
    os.kill(os.getpid(), signal.SIGSTOP)
    stay(folder, kind)


def untagged(folder: str, kind: str) -> None:
    """As by `env -i`: it carries no tag, only its descent tells."""
    os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, folder, "--stay", kind], {})


def forking(folder: str, kind: str) -> None:
    """A supervisor that does not listen and starts another child whenever one ends."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    settle(folder, kind)
    while True:
        if not os.fork():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            while True:
                signal.pause()
        os.wait()


def lead(folder: str, kind: str) -> None:
    """As a lead that an agent started: no tag and no mark, known as a lead, its own session, with a child."""
    os.setsid()
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
        resource.setrlimit(resource.RLIMIT_RTTIME, (hard, hard))
    if os.fork():
        os._exit(0)
    arguments = [sys.executable, "-I", "-S", __file__, folder, "--stay", kind]
    if not os.fork():
        os.execve(sys.executable, [*arguments[:-1], f"{kind}-child"], {})
    os.execve(sys.executable, arguments, {"PRO0_LEAD": "1"})


ALL = (plain, nohup, setsid, double_fork, grandchild, deaf, stopped, untagged, forking, lead)
KINDS = {one.__name__: one for one in ALL}


def main(folder: str, end: str, kinds: list[str]) -> None:
    if end == "--stay":
        stay(folder, kinds[0])
    for kind in kinds:
        if not os.fork():
            KINDS[kind](folder, kind)
    while not all(os.path.exists(f"{folder}/{kind}") for kind in kinds):
        time.sleep(0.005)
    if end == "stay":
        stay(folder, "agent")
    settle(folder, "agent")
    os._exit(int(end))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
