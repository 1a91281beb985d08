"""CSV as blocks of whole records, so that memory stays at a block and every line keeps its number."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa
from pyarrow import csv as arrow_csv

from models.domain.errors import InputError
from models.domain.units import BYTES_PER_MIB

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_DELIMITERS = (",", ";", "\t", "|")
_MAX_HEADER_BYTES = BYTES_PER_MIB
_MAX_BLOCKS_PER_RECORD = 4  # a record longer than that is a quote nobody closed


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """The first record of a file."""

    columns: tuple[str, ...]
    delimiter: str


@dataclass(frozen=True, slots=True)
class CsvBlock:
    """Whole records, as they stand in the file."""

    header: CsvHeader
    content: bytes
    first_line: int  # line of the file on which `content` begins


def read_blocks(stream: BinaryIO, origin: str, max_block_bytes: int) -> Iterator[CsvBlock]:
    """
    Yield a file in blocks of whole records, at least one; a file with a header alone gives one empty block.

    Raises:
        InputError: the file is empty, is no UTF-8 text, or a record never ends.
    """
    header, line = _read_header(stream, origin)
    pending, is_first, is_last = b"", True, False
    while not is_last:
        more = stream.read(max_block_bytes)
        is_last = not more
        content = pending + more
        end = len(content) if is_last else _end_of_last_record(content)
        if end or (is_last and is_first):
            block = CsvBlock(header, content[:end], line)
            line += _count_lines(block.content)
            is_first = False
            yield block
        pending = content[end:]
        if len(pending) > _MAX_BLOCKS_PER_RECORD * max_block_bytes:
            message = (
                f"{origin}, line {line}: no record ends within {len(pending)} bytes; a quotation mark is probably "
                "opened there and never closed"
            )
            raise InputError(message)


def parse_block(block: CsvBlock, origin: str, positions: Sequence[int]) -> pa.Table:
    """
    Return the columns at `positions` as text; each is named by its position.

    Raises:
        InputError: a record has another number of fields than the header, or is no UTF-8; names its line.
    """
    names = [str(position) for position in positions]
    if not block.content or block.content.isspace():
        return pa.table({name: pa.array([], pa.string()) for name in names})
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(block.content),
            arrow_csv.ReadOptions(
                column_names=[str(position) for position in range(len(block.header.columns))], use_threads=False
            ),
            arrow_csv.ParseOptions(delimiter=block.header.delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                include_columns=names, column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise InputError(_explain(block, origin, str(error))) from error


def line_of_record(block: CsvBlock, record: int) -> int:
    """Return the line of the file on which the record with that index in the block begins."""
    for index, (line, _) in enumerate(_records(block)):
        if index == record:
            return line
    return block.first_line


def _read_header(stream: BinaryIO, origin: str) -> tuple[CsvHeader, int]:
    """Return the header and the line on which the records begin."""
    content = stream.readline(_MAX_HEADER_BYTES)
    if content.startswith(_UTF16_MARKS):
        message = f"{origin}, line 1: text in UTF-16; save the file as UTF-8"
        raise InputError(message)
    while content.startswith(_UTF8_MARK):  # Azure writes two
        content = content.removeprefix(_UTF8_MARK)
    lines = 1
    while content.endswith(b"\n") and (not content.strip() or content.count(b'"') % 2):
        more = stream.readline(_MAX_HEADER_BYTES)
        if not more:
            break
        content, lines = content + more, lines + 1
    try:
        text = content.decode().strip("\r\n")
    except UnicodeDecodeError as error:
        message = f"{origin}, line 1: no UTF-8 text ({error.reason}); is it a CSV or Parquet file at all?"
        raise InputError(message) from error
    if not text.strip():
        message = f"{origin}: empty, not even a header; fetch the file again"
        raise InputError(message)
    if "\0" in text or "\r" in text.replace("\r\n", "\n"):
        message = f"{origin}, line 1: no lines of text that end in LF or CRLF; is it a CSV or Parquet file at all?"
        raise InputError(message)
    delimiter = max(_DELIMITERS, key=text.count)
    columns = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return CsvHeader(tuple(column.strip() for column in columns), delimiter), lines + 1


def _end_of_last_record(content: bytes) -> int:
    """Return the length of the whole records in front; a line end between quotation marks ends no record."""
    end = content.rfind(b"\n") + 1
    quotes_before = content.count(b'"', 0, end)
    while end and quotes_before % 2:
        previous = content.rfind(b"\n", 0, end - 1) + 1
        quotes_before -= content.count(b'"', previous, end)
        end = previous
    return end


def _count_lines(content: bytes) -> int:
    """Return the number of line ends: LF, CRLF or a CR alone."""
    returns = content.count(b"\r")
    return content.count(b"\n") + (returns - content.count(b"\r\n") if returns else 0)


def _records(block: CsvBlock) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with its line, as far as they can be read; blank lines are none."""
    text = io.StringIO(block.content.decode(errors="replace"), newline="")
    reader = csv.reader(text, delimiter=block.header.delimiter)
    line = block.first_line
    try:
        for record in reader:
            if record:
                yield line, record
            line = block.first_line + reader.line_num
    except csv.Error:  # a field above csv's limit: the records before it were read
        return


def _explain(block: CsvBlock, origin: str, reason: str) -> str:
    expected = len(block.header.columns)
    for line, record in _records(block):
        if len(record) != expected:
            return (
                f"{origin}, line {line}: {len(record)} fields where the header has {expected}; the file is cut off "
                "there, or a field with a comma or quotation mark is not quoted: fetch or export it again"
            )
        if any("\ufffd" in field for field in record):
            return f"{origin}, line {line}: no UTF-8 text; save the file as UTF-8"
    return f"{origin}, line {block.first_line} or later: not readable as CSV ({reason}); export the file again"
