"""Settings: flag > environment > project > user > default, decided in this one place (behaviour 3.14).

A new setting is one more field of `Settings` (`table.py`). Every other module here reads that table.
"""

from pro0.config.editing import setting_named, value_of, with_value, without_value
from pro0.config.files import PROJECT_FILE, SIZE_LIMIT, USER_FILE, text_of
from pro0.config.layers import Chosen, Powers, explain, hooks, load, powers, require_enabled
from pro0.config.table import APPROVERS, MAY, MODES, PERMISSIONS, SETTINGS, Mode, Setting, Settings

__all__ = [
    "APPROVERS",
    "MAY",
    "MODES",
    "PERMISSIONS",
    "PROJECT_FILE",
    "SETTINGS",
    "SIZE_LIMIT",
    "USER_FILE",
    "Chosen",
    "Mode",
    "Powers",
    "Setting",
    "Settings",
    "explain",
    "hooks",
    "load",
    "powers",
    "require_enabled",
    "setting_named",
    "text_of",
    "value_of",
    "with_value",
    "without_value",
]
