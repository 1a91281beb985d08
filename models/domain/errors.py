"""
Our exception hierarchy, widest first, each with the exit code it leads to.

* EarnkeepError
  + ConfigError              30  a setting is missing, unknown or out of range; never retried
  + InputError               30  a file or answer cannot be read as what it claims to be
  + WarehouseBusyError       30  another process holds the warehouse
  + SchemaDriftError         30  raw rows do not have the agreed columns
  + ConservationError        40  a SQL check found rows that break a promise; nothing downstream is trusted

What should not be acted on is a `Rejection`, which is a value, not an error.
"""


class EarnkeepError(Exception):
    """Base of every error this program raises on purpose."""

    exit_code = 30


class ConfigError(EarnkeepError):
    """A setting is missing, unknown or out of range."""


class InputError(EarnkeepError):
    """A file, line or answer is not what it claims to be."""


class WarehouseBusyError(EarnkeepError):
    """Another process writes to the warehouse."""


class SchemaDriftError(EarnkeepError):
    """Rows do not have the columns we agreed on."""


class ConservationError(EarnkeepError):
    """Parts do not add up to the whole; no advice may follow."""

    exit_code = 40
