"""The door to files: what it finds, what it undoes and what it refuses."""

import gzip
from pathlib import Path

import pytest

from connectors.storage import ExpansionLimits, find_files, open_stream
from models.domain.errors import ConfigError, InputError

TEXT = b"".join(b"%d,%d\n" % (number, number * 7919 % 10_007) for number in range(50_000))


def written(path: Path, content: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def read_all(path: Path) -> bytes:
    with open_stream(str(path)) as stream:
        return stream.read()


def test_finds_a_file_that_is_named_whatever_its_suffix(tmp_path):
    bill = written(tmp_path / "bill.txt")
    assert find_files(str(bill), (".csv",)) == (str(bill),)


def test_finds_files_below_a_folder_sorted_and_without_regard_to_case(tmp_path):
    later = written(tmp_path / "b" / "2.CSV")
    earlier = written(tmp_path / "a" / "deep" / "1.csv.gz")
    written(tmp_path / "readme.md")
    assert find_files(str(tmp_path), (".csv", ".csv.gz")) == (str(earlier), str(later))


def test_skips_what_other_readers_of_folders_skip(tmp_path):
    written(tmp_path / "_manifest.csv")
    written(tmp_path / ".1.csv")
    written(tmp_path / "_delta_log" / "1.csv")
    assert find_files(str(tmp_path), (".csv",)) == ()


def test_expands_a_glob_across_folders(tmp_path):
    first = written(tmp_path / "2026-10" / "part.csv")
    second = written(tmp_path / "2026-11" / "part.csv")
    written(tmp_path / "2026-11" / "part.json")
    assert find_files(str(tmp_path / "*" / "part.*"), (".csv",)) == (str(first), str(second))
    assert find_files(str(tmp_path / "**" / "*.csv"), (".csv",)) == (str(first), str(second))


def test_takes_a_file_with_brackets_in_its_name_for_itself(tmp_path):
    bill = written(tmp_path / "bill[1].csv")
    assert find_files(str(bill), (".csv",)) == (str(bill),)


def test_gives_nothing_for_an_empty_folder_and_a_glob_without_a_match(tmp_path):
    assert find_files(str(tmp_path), (".csv",)) == ()
    assert find_files(str(tmp_path / "*.csv"), (".csv",)) == ()


@pytest.mark.parametrize("name", ["absent", "absent/*.csv"])
def test_names_a_location_that_does_not_exist(tmp_path, name):
    with pytest.raises(InputError, match=r"absent.*correct the path"):
        find_files(str(tmp_path / name), (".csv",))


@pytest.mark.parametrize("location", ["s3://bucket/bills", "gs://b/x", "az://c/x", "https://host/bill.csv"])
def test_refuses_addresses_on_a_network_with_what_to_do(location):
    with pytest.raises(ConfigError, match="not supported yet; copy the files to a local folder"):
        find_files(location, (".csv",))
    with pytest.raises(ConfigError, match="not supported yet"), open_stream(location):
        pass


def test_reads_plain_and_compressed_files_alike(tmp_path):
    assert read_all(written(tmp_path / "a.csv", TEXT)) == TEXT
    assert read_all(written(tmp_path / "a.csv.gz", gzip.compress(TEXT))) == TEXT
    assert read_all(written(tmp_path / "no_suffix.csv", gzip.compress(TEXT))) == TEXT


def test_reads_all_members_of_a_gzip_with_zeros_between_and_behind(tmp_path):
    content = gzip.compress(TEXT) + b"\0" * 512 + gzip.compress(b"end") + b"\0" * 100_000
    assert read_all(written(tmp_path / "a.gz", content)) == TEXT + b"end"


def test_reads_a_compressed_file_in_pieces_of_any_size(tmp_path):
    path = written(tmp_path / "a.gz", gzip.compress(TEXT))
    with open_stream(str(path)) as stream:
        pieces = iter(lambda: stream.read(4093), b"")
        assert b"".join(pieces) == TEXT


def test_names_the_byte_at_which_a_truncated_gzip_ends(tmp_path):
    whole = gzip.compress(TEXT)
    path = written(tmp_path / "cut.csv.gz", whole[: len(whole) // 2])
    with pytest.raises(InputError, match=rf"cut\.csv\.gz: truncated gzip.*byte {len(whole) // 2} .*fetch it again"):
        read_all(path)


@pytest.mark.parametrize("missing_bytes", [1, 4, 8])
def test_notices_that_only_the_end_of_the_checksum_is_missing(tmp_path, missing_bytes):
    path = written(tmp_path / "cut.gz", gzip.compress(TEXT)[:-missing_bytes])
    with pytest.raises(InputError, match="truncated gzip"):
        read_all(path)


def test_names_where_a_gzip_is_corrupt(tmp_path):
    content = bytearray(gzip.compress(TEXT))
    content[-6] ^= 0xFF  # a bit of the checksum
    path = written(tmp_path / "bad.gz", bytes(content))
    with pytest.raises(InputError, match=r"bad\.gz: corrupt gzip between compressed bytes \d+ and \d+"):
        read_all(path)


def test_refuses_garbage_behind_a_member(tmp_path):
    path = written(tmp_path / "tail.gz", gzip.compress(b"fine") + b"garbage")
    with pytest.raises(InputError, match=r"tail\.gz: corrupt gzip"):
        read_all(path)


@pytest.mark.parametrize("content", [b"", b"BilledCost\n1\n"])
def test_refuses_a_file_named_gz_that_is_none(tmp_path, content):
    with pytest.raises(InputError, match=r"named \.gz, but does not begin as gzip"):
        read_all(written(tmp_path / "plain.gz", content))


def test_stops_a_decompression_bomb_before_it_is_unpacked(tmp_path):
    path = written(tmp_path / "bomb.gz", gzip.compress(bytes(20_000_000)))
    limits = ExpansionLimits(max_ratio=100, ratio_counts_from_bytes=3_000_000)
    with open_stream(str(path), limits) as stream:
        stream.read(500_000)
        with pytest.raises(InputError, match=r"have grown to 3\d{6}, more than 100 times.*decompression bomb"):
            stream.read()


def test_stops_at_the_greatest_size(tmp_path):
    path = written(tmp_path / "long.gz", gzip.compress(TEXT))
    with (
        pytest.raises(InputError, match="1000 bytes"),
        open_stream(str(path), ExpansionLimits(max_bytes=1000)) as stream,
    ):
        stream.read()


def test_names_a_file_that_cannot_be_opened(tmp_path):
    with (
        pytest.raises(InputError, match=r"gone\.csv: cannot be opened \(No such file"),
        open_stream(str(tmp_path / "gone.csv")),
    ):
        pass


def test_does_not_follow_a_folder_that_leads_back_to_itself(tmp_path):
    bill = written(tmp_path / "bill.csv")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert find_files(str(tmp_path), (".csv",)) == (str(bill),)
