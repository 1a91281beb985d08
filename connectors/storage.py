"""The one door to files: find them by folder or glob, read them as a stream with gzip undone."""

import glob
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from models.domain.errors import ConfigError, InputError
from models.domain.units import BYTES_PER_GIB, BYTES_PER_MIB

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW_BITS = 31  # zlib reads gzip header and checksum itself
_COMPRESSED_CHUNK_BYTES = BYTES_PER_MIB // 16
_DECOMPRESSED_CHUNK_BYTES = BYTES_PER_MIB
_SKIPPED_PREFIXES = (".", "_")  # as Arrow, Spark and Hive do: _SUCCESS, _manifest.json, .part.crc


@dataclass(frozen=True, slots=True)
class ExpansionLimits:
    """How far a compressed file may grow before it is taken for a decompression bomb."""

    max_ratio: float = 400.0  # bills and metric dumps reach 10 to 100; deflate itself ends at 1,032
    ratio_counts_from_bytes: int = 64 * BYTES_PER_MIB  # a small file may be all zeros
    max_bytes: int = 500 * BYTES_PER_GIB


DEFAULT_LIMITS = ExpansionLimits()


def find_files(location: str, suffixes: tuple[str, ...]) -> tuple[str, ...]:
    """
    Return the files at a location, sorted: one file, a folder with all below it, or a glob ("**" crosses folders).

    Names in folders and globs must end in one of `suffixes` (case does not matter) and not begin with "." or "_";
    a file that is named outright is taken as it is. An empty folder and a glob without a match give ().

    Raises:
        ConfigError: the location is an address on a network, which is not supported yet.
        InputError: there is no such file or folder.
    """
    path = _local(location)
    if path.is_file():
        return (str(path),)
    if path.is_dir():
        return tuple(sorted(found for found in _walk(path) if _is_wanted(found, suffixes)))
    if glob.has_magic(location):
        fixed_part = _fixed_part(path)
        if fixed_part.is_dir():
            matches = glob.glob(str(path), recursive=True)  # noqa: PTH207, not Path.glob: it takes no absolute pattern
            return tuple(sorted(found for found in matches if Path(found).is_file() and _is_wanted(found, suffixes)))
        message = (
            f"location {location!r}: there is no folder {str(fixed_part)!r}; correct the path in the configuration"
        )
        raise InputError(message)
    message = f"location {location!r}: there is no such file or folder; correct the path in the configuration"
    raise InputError(message)


@contextmanager
def open_stream(path: str, limits: ExpansionLimits = DEFAULT_LIMITS) -> Iterator[BinaryIO]:
    """
    Open a file for reading; what is gzip by its first bytes is decompressed on the way, member by member.

    A plain file can be sought in, a decompressed one only read forward. Faults in the compressed data are raised
    where they are met, as `InputError` with the file and the compressed byte offset.

    Raises:
        ConfigError: the path is an address on a network, which is not supported yet.
        InputError: the file cannot be opened, is named .gz and is no gzip, is truncated or corrupt, or grows
            beyond `limits`.
    """
    local = _local(path)
    try:
        file = local.open("rb")
    except OSError as error:
        message = f"{path}: cannot be opened ({error.strerror}); check that it exists and may be read"
        raise InputError(message) from error
    with file:
        if file.peek(len(_GZIP_MAGIC))[: len(_GZIP_MAGIC)] == _GZIP_MAGIC:
            yield io.BufferedReader(_GunzipStream(file, path, limits), _DECOMPRESSED_CHUNK_BYTES)
            return
        if path.lower().endswith(".gz"):
            message = (
                f"{path}: named .gz, but does not begin as gzip (compressed byte 0); "
                "fetch it again, or take .gz off the name if it is not compressed"
            )
            raise InputError(message)
        yield file


def _local(location: str) -> Path:
    scheme = _SCHEME.match(location)
    if scheme:
        message = (
            f"location {location!r}: {scheme[0]} is not supported yet; copy the files to a local folder "
            "and give its path"
        )
        raise ConfigError(message)
    return Path(location).expanduser()


def _walk(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(_SKIPPED_PREFIXES))
        yield from (str(Path(parent, name)) for name in names if Path(parent, name).is_file())


def _is_wanted(path: str, suffixes: tuple[str, ...]) -> bool:
    name = Path(path).name
    return name.lower().endswith(suffixes) and not name.startswith(_SKIPPED_PREFIXES)


def _fixed_part(pattern: Path) -> Path:
    """Return the folders of a glob before its first wildcard."""
    fixed = pattern
    while glob.has_magic(str(fixed)):
        fixed = fixed.parent
    return fixed


class _GunzipStream(io.RawIOBase):
    """Decompresses gzip members one after another and knows where in the compressed file it is."""

    def __init__(self, compressed: BinaryIO, path: str, limits: ExpansionLimits) -> None:
        self._compressed = compressed
        self._path = path
        self._limits = limits
        self._member = zlib.decompressobj(_GZIP_WINDOW_BITS)
        self._is_inside_member = False
        self._pending = b""  # compressed bytes read and not yet used
        self._offset = 0  # compressed bytes used
        self._decompressed_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        target = memoryview(buffer).cast("B")
        while True:
            if not self._pending:
                self._pending = self._compressed.read(_COMPRESSED_CHUNK_BYTES)
            if not self._is_inside_member and not self._begin_member():
                return 0
            produced = self._decompress(len(target))
            if produced:
                target[: len(produced)] = produced
                return len(produced)

    def _begin_member(self) -> bool:
        """Return whether another gzip member follows; zero bytes between members are padding."""
        while self._pending:
            stripped = self._pending.lstrip(b"\0") if self._offset else self._pending
            self._offset += len(self._pending) - len(stripped)
            self._pending = stripped or self._compressed.read(_COMPRESSED_CHUNK_BYTES)
            if stripped:
                self._member = zlib.decompressobj(_GZIP_WINDOW_BITS)
                self._is_inside_member = True
                return True
        return False

    def _decompress(self, max_bytes: int) -> bytes:
        given = self._pending
        if not given and not self._member.eof:
            produced = self._member.decompress(b"", max_bytes)
            if not produced:
                message = (
                    f"{self._path}: truncated gzip, it ends at compressed byte {self._offset} in the middle of the "
                    "data; fetch it again"
                )
                raise InputError(message)
            self._count(produced)
            return produced
        try:
            produced = self._member.decompress(given, max_bytes)
        except zlib.error as error:
            message = (
                f"{self._path}: corrupt gzip between compressed bytes {self._offset} and "
                f"{self._offset + len(given)} ({error}); fetch it again"
            )
            raise InputError(message) from error
        self._pending = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
        self._offset += len(given) - len(self._pending)
        self._is_inside_member = not self._member.eof
        self._count(produced)
        return produced

    def _count(self, produced: bytes) -> None:
        self._decompressed_bytes += len(produced)
        limits = self._limits
        is_dense = self._decompressed_bytes > limits.max_ratio * max(self._offset, 1)
        if (is_dense and self._decompressed_bytes > limits.ratio_counts_from_bytes) or (
            self._decompressed_bytes > limits.max_bytes
        ):
            message = (
                f"{self._path}: {self._offset} compressed bytes have grown to {self._decompressed_bytes}, more than "
                f"{limits.max_ratio:g} times or {limits.max_bytes} bytes: refused as a decompression bomb; "
                "decompress it yourself if you trust it"
            )
            raise InputError(message)
