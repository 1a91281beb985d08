"""Blocks of CSV: every record whole, every line with its number."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.billing.focus.csv_blocks import line_of_record, parse_block, read_blocks
from models.domain.errors import InputError

FIELDS = st.text(st.sampled_from('ab,"\n\r é'), max_size=8)
RECORDS = st.lists(st.tuples(FIELDS.filter(str.strip), FIELDS), max_size=12)


def written(records, line_end):
    """Return RFC 4180 text; Python's csv.writer would leave a CR unquoted."""
    rows = [("first", "second"), *records]
    return "".join(",".join(quoted(field) for field in row) + line_end for row in rows).encode()


def quoted(field):
    return '"' + field.replace('"', '""') + '"' if set(field) & set(',"\r\n') else field


@settings(deadline=None, max_examples=60)
@given(RECORDS, st.sampled_from(["\n", "\r\n"]), st.integers(16, 200))
def test_any_block_size_gives_the_records_that_were_written(records, line_end, block_bytes):
    content = written(records, line_end)
    tables = [
        parse_block(block, "bill", (0, 1)).to_pylist()
        for block in read_blocks(io.BytesIO(content), "bill", block_bytes)
    ]
    assert [(row["0"], row["1"]) for rows in tables for row in rows] == records


@settings(deadline=None, max_examples=60)
@given(RECORDS, st.sampled_from(["\n", "\r\n"]), st.integers(16, 200))
def test_any_block_size_gives_every_record_its_line(records, line_end, block_bytes):
    content = written(records, line_end)
    lines, line = [], 2
    for record in records:
        lines.append(line)
        text = written([record], line_end).decode().split(line_end, 1)[1]
        line += len(io.StringIO(text, newline=None).readlines())  # LF, CRLF and CR alone each end a line
    found = []
    for block in read_blocks(io.BytesIO(content), "bill", block_bytes):
        rows = parse_block(block, "bill", (0,)).num_rows
        found += [line_of_record(block, row) for row in range(rows)]
    assert found == lines


def test_takes_only_the_columns_asked_for():
    (block,) = read_blocks(io.BytesIO(b"a,b,c\n1,2,3\n"), "bill", 1000)
    assert parse_block(block, "bill", (2, 0)).to_pylist() == [{"2": "3", "0": "1"}]


def test_reads_a_header_that_is_longer_than_a_block_and_spans_lines():
    (block,) = read_blocks(io.BytesIO(b'"a\nb",' + b"c" * 100 + b"\n1,2\n"), "bill", 16)
    assert block.header.columns == ("a\nb", "c" * 100)
    assert (block.first_line, line_of_record(block, 0)) == (3, 3)


def test_a_record_of_another_width_is_named_by_its_line():
    (block,) = read_blocks(io.BytesIO(b'a,b\n"x\ny",1\n\n1,2,3\n'), "bill", 1000)
    with pytest.raises(InputError, match="bill, line 5: 3 fields where the header has 2"):
        parse_block(block, "bill", (0,))
