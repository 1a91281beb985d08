"""Objects out of dumps of any shape and size; a broken one names its place."""

import io
import json

import pytest

from connectors.inventory.json_stream import read_objects
from models.domain.errors import InputError


def read(content):
    return list(read_objects(io.BytesIO(content if isinstance(content, bytes) else content.encode()), "dump.json"))


def pod(name, padding=""):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "x": padding}}


def test_reads_a_list_as_kubectl_prints_it():
    text = json.dumps({"apiVersion": "v1", "items": [pod("a"), pod("b")], "kind": "List", "metadata": {}}, indent=4)
    assert read(text) == [pod("a"), pod("b")]


def test_reads_one_object_json_lines_and_lists_one_after_another():
    assert read(json.dumps(pod("a"))) == [pod("a")]
    assert read(f"{json.dumps(pod('a'))}\n{json.dumps(pod('b'))}\n") == [pod("a"), pod("b")]
    assert read(json.dumps({"items": [pod("a")]}) + json.dumps({"items": [pod("b")]})) == [pod("a"), pod("b")]
    assert read(json.dumps([pod("a")])) == [pod("a")]


def test_items_of_a_typed_list_get_its_kind():
    text = json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]})
    assert read(text) == [{"metadata": {"name": "a"}, "kind": "Pod", "apiVersion": "v1"}]


def test_objects_may_lie_across_the_pieces_that_are_read():
    pods = [pod(f"p{number}", 'é\\u00e9 "{[' * 40_000) for number in range(12)]  # some 4 MB
    assert read(json.dumps({"items": pods}, ensure_ascii=False)) == pods


def test_reads_what_powershell_writes():
    text = json.dumps({"items": [pod("a")]})
    assert read(text.encode("utf-16")) == [pod("a")]
    assert read(b"\xef\xbb\xbf" + text.encode()) == [pod("a")]


def test_names_line_and_column_of_broken_json():
    with pytest.raises(
        InputError, match=r"^dump\.json, line 3, column 12: Expecting ',' delimiter; take the dump again"
    ):
        read('{"items": [\n{"kind": "Pod"},\n{"a": "b"  "c": 1}' + " " * 100 + "\n]}")


def test_counts_lines_over_all_pieces():
    text = "\n".join(json.dumps(pod(f"p{number}")) for number in range(30_000))
    with pytest.raises(InputError, match=r"line 30001, column 2"):
        read(text + "\n{bad: 1}" + " " * 100)


@pytest.mark.parametrize("length", [1, 60, 200])
def test_says_that_a_cut_dump_ends_too_early(length):
    text = json.dumps({"items": [pod("a"), pod("b"), pod("c")]})
    with pytest.raises(InputError, match="it ends in the middle of an object"):
        read(text[:length])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "the file is empty"),
        ("  \n", "the file is empty"),
        ("No resources found", "expected a JSON object or list, found 'N'"),
        ('{"items": [1]}', "expected an object in the list, found int"),
        (b'{"a": "\xff"}', "the text is not utf-8"),
        ('{"a": ' + "[" * 200_000, "nested too deeply"),
    ],
)
def test_refuses_what_is_no_dump(content, reason):
    with pytest.raises(InputError, match=reason):
        read(content)
