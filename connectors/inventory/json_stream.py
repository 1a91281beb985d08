"""Kubernetes objects out of JSON text of any size: a List, one object, objects one after another."""

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from models.domain.errors import InputError

JsonObject = dict[str, Any]

_CHUNK_BYTES = 1 << 20
_LONGEST_VALUE = 64 << 20  # characters of one object; etcd refuses more than 1.5 MB
_BLANK = " \t\r\n"
_LONGEST_LITERAL = 16  # an error this close to the end of what was read may only be a cut word, such as "tru"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),  # what PowerShell makes of "kubectl ... > file"
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def encoding_of(head: bytes) -> str:
    """Return the encoding the first bytes of a file show."""
    return next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), "utf-8")


def read_objects(stream: BinaryIO, path: str) -> Iterator[JsonObject]:
    """
    Yield each object of a dump, with the items of lists on their own; memory stays at one object.

    Items of a typed list (PodList), which do not repeat their kind, get it from the list where it comes first.

    Raises:
        InputError: broken JSON, wrong encoding, or an object beyond 64 Mi characters; names file, line and column.
    """
    text = _JsonText(stream, path)
    if not text.peek():
        text.fail("the file is empty")
    while opening := text.peek():
        if opening == "{":
            yield from _object_or_items(text)
        elif opening == "[":
            yield from _elements(text, "", "")
        else:
            text.fail(f"expected a JSON object or list, found {opening!r}")


def _object_or_items(text: "_JsonText") -> Iterator[JsonObject]:
    members: JsonObject = {}
    is_list = False
    text.take("{")
    while text.peek() != "}":
        key = text.value()
        text.take(":")
        if key == "items" and text.peek() == "[":
            is_list = True
            yield from _elements(text, str(members.get("kind", "")), str(members.get("apiVersion", "")))
        else:
            members[str(key)] = text.value()
        if text.peek() != "}":
            text.take(",")
    text.take("}")
    if not is_list:
        yield members


def _elements(text: "_JsonText", list_kind: str, api_version: str) -> Iterator[JsonObject]:
    item_kind = list_kind.removesuffix("List")
    text.take("[")
    while text.peek() != "]":
        element = text.value()
        if not isinstance(element, dict):
            text.fail(f"expected an object in the list, found {type(element).__name__}")
        if item_kind and item_kind != list_kind:
            element.setdefault("kind", item_kind)
            element.setdefault("apiVersion", api_version)
        yield element
        if text.peek() != "]":
            text.take(",")
    text.take("]")


class _JsonText:
    """The text of a file, read no further than the next value needs."""

    def __init__(self, stream: BinaryIO, path: str) -> None:
        self._stream = stream
        self._path = path
        self._parser = json.JSONDecoder()
        self._buffer = ""
        self._position = 0
        self._lines_before = 0
        self._columns_before = 0  # characters of the current line that the buffer no longer holds
        self._is_at_end = False
        head = stream.read(_CHUNK_BYTES)
        self._text_decoder = codecs.getincrementaldecoder(encoding_of(head))("strict")
        self._append(head)

    def peek(self) -> str:
        """Return the next character that is no blank, or "" at the end."""
        while True:
            while self._position < len(self._buffer) and self._buffer[self._position] in _BLANK:
                self._position += 1
            if self._position < len(self._buffer) or self._is_at_end:
                return self._buffer[self._position : self._position + 1]
            self._fill()

    def take(self, expected: str) -> None:
        """Step over one character."""
        found = self.peek()
        if found != expected:
            self.fail(f"expected {expected!r}, found {found!r}" if found else "it ends in the middle of an object")
        self._position += 1

    def value(self) -> Any:  # noqa: ANN401, any JSON value
        """Return the next value, reading on until it is whole."""
        self.peek()
        while True:
            try:
                value, end = self._parser.raw_decode(self._buffer, self._position)
            except json.JSONDecodeError as error:
                if self._is_at_end or not self._may_be_cut(error):
                    is_cut = self._is_at_end and self._may_be_cut(error)
                    self.fail("it ends in the middle of an object" if is_cut else error.msg, error.pos)
            except RecursionError:
                self.fail("objects are nested too deeply")
            else:
                if end < len(self._buffer) or self._is_at_end:
                    self._position = end
                    return value
            if len(self._buffer) - self._position > _LONGEST_VALUE:
                self.fail(f"one object is longer than {_LONGEST_VALUE} characters")
            self._fill()

    def fail(self, reason: str, position: int | None = None) -> NoReturn:
        """Raise with file, line and column."""
        before = self._buffer[: self._position if position is None else position]
        line = self._lines_before + before.count("\n") + 1
        column = len(before) - before.rfind("\n") + (0 if "\n" in before else self._columns_before)
        message = f"{self._path}, line {line}, column {column}: {reason}; take the dump again with kubectl get -o json"
        raise InputError(message)

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._buffer) - _LONGEST_LITERAL

    def _fill(self) -> None:
        used = self._buffer[: self._position]
        if "\n" in used:
            self._lines_before += used.count("\n")
            self._columns_before = len(used) - used.rfind("\n") - 1
        else:
            self._columns_before += len(used)
        self._buffer = self._buffer[self._position :]
        self._position = 0
        self._append(self._stream.read(_CHUNK_BYTES))

    def _append(self, chunk: bytes) -> None:
        self._is_at_end = not chunk
        try:
            self._buffer += self._text_decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            self.fail(f"the text is not {error.encoding} ({error.reason})", len(self._buffer))
