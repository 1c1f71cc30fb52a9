"""An agent that misbehaves: `agent.py MODE`, standard library only.

hang: never answers, but ends on TERM · deaf: ignores TERM, HUP and INT · crash: ends by itself with code 3 after a
while · abort: the same by a signal · flood: prints without end, a MiB a second.
"""

import os
import random
import signal
import sys
import time


def hang() -> None:
    while True:
        signal.pause()


def deaf() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    hang()


def crash() -> None:
    time.sleep(random.uniform(5, 20))
    sys.exit(3)


def abort() -> None:
    time.sleep(random.uniform(5, 20))
    os.abort()


def flood() -> None:
    line = b"\x1b[31m" + b"x" * 1000 + b"\x1b[0m\r\n"
    while True:
        for _ in range(100):
            os.write(1, line)
        time.sleep(0.1)


MODES = {one.__name__: one for one in (hang, deaf, crash, abort, flood)}

if __name__ == "__main__":
    MODES[sys.argv[1]]()
