"""The verdict PIN: what is kept of it, and of wrong tries."""

from datetime import datetime

from pro0.model.stored import Document


class Pin(Document, frozen=True, kw_only=True):
    """pin.json: the hash of the PIN that a person's verdicts ask for, "" for none."""

    salt: str = ""
    hash: str = ""
    """scrypt of the PIN with the salt, both as hex."""
    wrong: int = 0
    """Wrong tries since the last right one."""
    locked_until: datetime | None = None
