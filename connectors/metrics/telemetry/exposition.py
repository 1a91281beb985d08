"""Read Prometheus exposition text and OpenMetrics text, with or without timestamps, as pages of samples."""

import re
from collections.abc import Iterator
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from connectors.metrics.telemetry.labels import Labels
from connectors.metrics.telemetry.series import Note, PageBuilder, SamplePage
from models.domain.errors import InputError
from models.domain.units import BYTES_PER_MIB, MILLISECONDS_PER_SECOND

_BLOCK_BYTES = 4 * BYTES_PER_MIB
_MAX_LINE_BYTES = BYTES_PER_MIB
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NAME = re.compile(r"\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*")
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|(?=\}))')
_ESCAPE = re.compile(r"\\(.)")
_SHOWN_CHARACTERS = 80
_VALUE_AND_TIMESTAMP = 2
_NO_SERIES = b"\n"  # no line begins so

# Exposition text has milliseconds, OpenMetrics seconds, and only a last line tells which it is. Between 1973 and 5138
# no instant can be read both ways.
_FIRST_MILLISECONDS = 1e11
_FIRST_BELIEVED_SECONDS = 1e8  # 1973
_LAST_BELIEVED_MILLISECONDS = 1e14  # 5138


class ExpositionReader:
    """Reads one file; remembers its series, so that a label set is parsed once however often it is scraped."""

    def __init__(self, path: str, sampled_at_ms: int | None, max_samples_per_page: int) -> None:
        """Begin a file; `sampled_at_ms` is when it was scraped, for samples without a timestamp."""
        self._path = path
        self._sampled_at_ms = sampled_at_ms
        self._pages = PageBuilder(path, max_samples_per_page)
        self._index_by_series: dict[bytes, int] = {}
        self._line = 0  # number of the last line read
        self._has_ended = False  # "# EOF" was seen
        self._has_milliseconds: bool | None = None
        self._line_feeds = 0
        self._carriage_returns = 0

    def pages(self, stream: BinaryIO) -> Iterator[SamplePage]:
        """
        Yield the file's samples.

        Raises:
            InputError: a line is none, a value is no number, a timestamp is missing or implausible, or the file
                ends in the middle; the message names the line.
        """
        rest = b""
        is_first = True
        while block := stream.read(_BLOCK_BYTES):
            text = self._without_mark(block) if is_first else rest + block
            is_first = False
            if self._pages.is_over_limit:  # looked at here, so that the last page has samples to go with its notes
                yield self._pages.take()
            cut = text.rfind(b"\n") + 1
            rest = text[cut:]
            if len(rest) > _MAX_LINE_BYTES:
                self._refuse(self._line + 1, f"is longer than {_MAX_LINE_BYTES} bytes: is this exposition text?")
            self._read_lines(text[:cut])
        if rest.strip():
            self._refuse(self._line + 1, f"has no line end, so the file was cut off: {_shown(rest)}; fetch it again")
        if self._path.lower().removesuffix(".gz").endswith(".om") and not self._has_ended:
            self._refuse(self._line, "is the last, but OpenMetrics text ends in '# EOF': cut off; fetch it again")
        if 0 < self._carriage_returns < self._line_feeds:
            message = f"{self._carriage_returns} of {self._line_feeds} lines end in CR LF, the others in LF"
            self._pages.note(Note("mixed_line_ends", message, self._carriage_returns))
        if not self._pages.is_empty:
            yield self._pages.take()

    def _without_mark(self, block: bytes) -> bytes:
        if block.startswith((b"\xff\xfe", b"\xfe\xff")):
            self._refuse(1, "begins a UTF-16 file; save it as UTF-8")
        if block.startswith(_BYTE_ORDER_MARK):
            self._pages.note(Note("byte_order_mark", "the file begins with a byte order mark, which was skipped"))
            return block[len(_BYTE_ORDER_MARK) :]
        return block

    def _read_lines(self, block: bytes) -> None:
        self._line_feeds += block.count(b"\n")
        self._carriage_returns += block.count(b"\r\n")
        indexes: list[int] = []
        values: list[float] = []
        times: list[float] = []
        numbers: list[int] = []
        lines = block.splitlines()
        first = self._line + 1
        index, cut, series = 0, 0, _NO_SERIES
        for number, line in enumerate(lines, first):
            # Dumps often have the samples of a series one below the other: then its labels are only compared.
            fields = line[cut:].split() if line.startswith(series) and line[cut : cut + 1] == b" " else []
            if not 0 < len(fields) <= _VALUE_AND_TIMESTAMP:
                self._line = number
                index, cut, fields = self._series_of(line)
                series = line[:cut] if line[cut - 1 : cut] == b"}" else _NO_SERIES
                if not fields:
                    continue
            try:
                values.append(float(fields[0]))
                times.append(float(fields[1]) if len(fields) > 1 else np.nan)
            except ValueError:
                self._line = number
                self._refuse_value(line[cut:])
            indexes.append(index)
            numbers.append(number)
        self._line = first + len(lines) - 1
        sampled_at_ms = self._milliseconds(np.array(times, np.float64), np.array(numbers, np.int64))
        self._pages.add_samples(np.array(indexes, np.int32), sampled_at_ms, np.array(values, np.float64))

    def _series_of(self, line: bytes) -> tuple[int, int, list[bytes]]:
        """Return the number of the series, where its labels end and the fields behind; no fields for a comment."""
        text = line.strip()
        if not text or text.startswith(b"#"):
            self._has_ended = self._has_ended or text == b"# EOF"
            return 0, 0, []
        if self._has_ended:
            self._refuse(self._line, "comes after '# EOF': several files in one; keep them apart")
        cut = line.rfind(b"}") + 1 or len(line.split(None, 1)[0])
        index = self._index_by_series.get(line[:cut])
        if index is None:
            labels, cut = self._parse_series(line)  # ends elsewhere where an exemplar holds the last brace
            index = self._index_by_series.get(line[:cut])
            if index is None:
                index = self._index_by_series[line[:cut]] = self._pages.add_series(labels)
        fields = line[cut:].partition(b" # ")[0].split()
        if not 0 < len(fields) <= _VALUE_AND_TIMESTAMP:
            self._refuse_value(line[cut:])
        return index, cut, fields

    def _parse_series(self, line: bytes) -> tuple[Labels, int]:
        """Return the labels and the bytes they take."""
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            self._refuse(self._line, f"is not UTF-8 at byte {error.start}; write the file as UTF-8")
        match = _NAME.match(text)
        if match is None:
            hint = "; JSON lines go into files named .jsonl" if line.lstrip().startswith(b"{") else ""
            self._refuse(self._line, f"does not begin with a metric name: {_shown(line)}{hint}")
        labels = {"__name__": match[1]}
        end = match.end()
        if text[end : end + 1] != "{":
            return labels, len(text[: match.end(1)].encode())
        end += 1
        while label := _LABEL.match(text, end):
            labels[label[1]] = _unescaped(label[2])
            end = label.end()
        closing = text[end:].lstrip()
        if not closing.startswith("}"):
            self._refuse(self._line, f"has broken labels at {_shown(text[end:].encode())}")
        end = len(text) - len(closing) + 1
        return labels, len(text[:end].encode())

    def _milliseconds(self, times: NDArray[np.float64], lines: NDArray[np.int64]) -> NDArray[np.int64]:
        is_absent = np.isnan(times)
        if is_absent.any() and self._sampled_at_ms is None:
            line = int(lines[np.argmax(is_absent)])
            self._refuse(line, "has no timestamp; say when the file was scraped (`sampled_at`, --sampled-at)")
        present = times[~is_absent]
        if len(present):
            self._check_times(present, lines[~is_absent])
        if self._has_milliseconds is False:
            times = np.rint(times * MILLISECONDS_PER_SECOND)
        if self._sampled_at_ms is not None:
            times = np.where(is_absent, self._sampled_at_ms, times)
        return times.astype(np.int64)

    def _check_times(self, times: NDArray[np.float64], lines: NDArray[np.int64]) -> None:
        is_strange = ~((times >= _FIRST_BELIEVED_SECONDS) & (times <= _LAST_BELIEVED_MILLISECONDS))
        if is_strange.any():
            first = int(np.argmax(is_strange))
            self._refuse(
                int(lines[first]), f"has timestamp {times[first]:g}, which is neither seconds nor milliseconds"
            )
        is_milliseconds = times >= _FIRST_MILLISECONDS
        if self._has_milliseconds is None:
            self._has_milliseconds = bool(is_milliseconds[0])
        differs = is_milliseconds != self._has_milliseconds
        if differs.any():
            first = int(np.argmax(differs))
            usual = "milliseconds" if self._has_milliseconds else "seconds"
            self._refuse(int(lines[first]), f"has timestamp {times[first]:g}, but lines before have {usual}")

    def _refuse_value(self, text: bytes) -> NoReturn:
        self._refuse(
            self._line,
            f"expected a number and perhaps a timestamp, found {_shown(text)}; Prometheus rejects such a scrape as a "
            "whole, so take the metric out of the exporter's list",
        )

    def _refuse(self, line: int, reason: str) -> NoReturn:
        message = f"{self._path}: line {line} {reason}"
        raise InputError(message)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text) if "\\" in text else text


def _shown(text: bytes) -> str:
    return repr(text.decode(errors="replace").strip()[:_SHOWN_CHARACTERS])
