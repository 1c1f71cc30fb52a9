"""Decode JSON into typed values. Only one thread at a time prepares a type.

msgspec reads the fields of a struct when it first meets it and evaluates their annotations meanwhile. A second thread
that meets the same struct then finds it half prepared, and the process crashes. A type that is prepared is safe.
"""

import os
from threading import RLock
from typing import Any, TypeVar, cast

import msgspec

T = TypeVar("T")

_preparing = RLock()
_DECODERS: dict[object, "msgspec.json.Decoder[Any]"] = {}


def decoder(kind: type[T]) -> "msgspec.json.Decoder[T]":
    """Return the decoder of a type, made once."""
    if (made_decoder := _DECODERS.get(kind)) is None:
        with _preparing:
            made_decoder = _DECODERS.get(kind) or _DECODERS.setdefault(kind, msgspec.json.Decoder(kind))
    return cast("msgspec.json.Decoder[T]", made_decoder)


def decode(data: bytes | str | msgspec.Raw, kind: type[T]) -> T:
    """Return a value of this type from JSON; raises msgspec.DecodeError for any other text."""
    return decoder(kind).decode(data)


def convert(value: object, kind: type[T], *, from_attributes: bool = False) -> T:
    """Return a value of this type, made of mappings, lists and scalars; raises msgspec.ValidationError."""
    decoder(kind)
    return msgspec.convert(value, kind, from_attributes=from_attributes)


# A forked child has one thread only: a type that another thread was preparing would stay half prepared there.
os.register_at_fork(before=_preparing.acquire, after_in_parent=_preparing.release, after_in_child=_preparing.release)
