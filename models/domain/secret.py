"""A text that must never show: tokens and passwords."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SecretText:
    """
    A secret, read from an environment variable or a file; `text` holds it, and printing shows nothing of it.

    A setting of this type is written as a reference: `token = { env = "NAME" }` or `token = { file = "/path" }`.
    """

    text: str = field(repr=False)
