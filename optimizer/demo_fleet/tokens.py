"""Names, identifiers and dice that depend on the seed and on what they are for, and on nothing else."""

import hashlib

import numpy as np

WORD_BYTES = 8
_WORDS = float(2**64)


def token(length: int, *parts: object) -> str:
    """Return a hexadecimal word of that length for these parts."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:length]


def uuid(*parts: object) -> str:
    """Return an identifier in the form 8-4-4-4-12."""
    word = token(32, *parts)
    return f"{word[:8]}-{word[8:12]}-{word[12:16]}-{word[16:20]}-{word[20:]}"


def between(low: float, high: float, *parts: object) -> float:
    """Return a number between two bounds for these parts."""
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).digest()
    return low + (high - low) * int.from_bytes(digest[:WORD_BYTES]) / _WORDS


def generator(*parts: object) -> np.random.Generator:
    """Return a random generator for these parts."""
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest)))
