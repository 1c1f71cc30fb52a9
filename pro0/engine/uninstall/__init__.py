"""Find everything that pro0 has put on this machine, and remove it."""

from pro0.engine.uninstall.removing import uninstall
from pro0.engine.uninstall.trace import Trace, TraceFate
from pro0.engine.uninstall.traces import by_fate, traces

__all__ = ["Trace", "TraceFate", "by_fate", "traces", "uninstall"]
