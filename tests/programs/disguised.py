"""A person's program that shows another's arguments, or sits on a socket, and waits. Python reads it from stdin.

Its own arguments are as long as those that it is to show, which stand in DISGUISE, a line each, or a path in LISTEN.
"""

import ctypes
import os
import signal
import socket

if "LISTEN" in os.environ:
    listener = socket.socket(socket.AF_UNIX)
    os.chdir(os.path.dirname(os.environ["LISTEN"]))
    listener.bind(os.path.basename(os.environ["LISTEN"]))
    listener.listen()
if "DISGUISE" in os.environ:
    wanted = os.environb[b"DISGUISE"].replace(b"\n", b"\0") + b"\0"
    with open("/proc/self/stat") as file:
        begin, end = map(int, file.read().rpartition(")")[2].split()[45:47])
    if end - begin != len(wanted):
        raise SystemExit(f"{end - begin} bytes are there, {len(wanted)} wanted")
    ctypes.memmove(begin, wanted, len(wanted))
print("here", flush=True)
signal.pause()
