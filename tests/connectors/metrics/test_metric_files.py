import datetime as dt
import gzip
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.connector import Unreadable
from connectors.load import load
from connectors.metrics.metric_files import CONNECTOR, Settings, fetch
from models.domain.errors import ConfigError, InputError
from models.domain.window import EVERYTHING

START_SECONDS = 1_790_812_800  # 2026-10-01T00:00:00Z
SCRAPED = dt.datetime(2026, 10, 1, 0, 1, tzinfo=dt.UTC)
LINE = 'DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",Hostname="node-a"} '


class Rows:
    """A raw store that keeps what it is given."""

    def __init__(self):
        self.tables = {}
        self.kept = []

    def replace_window(self, _source_id, _tables, _window):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def append(self, table, rows):
        self.tables.setdefault(table, []).append(rows)

    def keep(self, source_object):
        self.kept.append(source_object)

    def rows(self, table):
        return [row for rows in self.tables.get(table, []) for row in rows.to_pylist()]


@pytest.fixture
def loaded(tmp_path):
    def run(**settings):
        store = Rows()
        location = settings.pop("location", str(tmp_path))
        outcome = load(store, "s1", CONNECTOR, Settings(location, "c1", **settings), EVERYTHING)
        return store, [part.reason for part in outcome.unreadable]

    return run


def maxima(store):
    return [row["gr_engine_active_ratio_max"] for row in store.rows("gpu_5m")]


def metric(**labels):
    return {"__name__": "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "UUID": "GPU-a", "Hostname": "node-a"} | labels


def json_line(values, seconds=None, **labels):
    at = [1000 * (START_SECONDS + 60 * n) for n in range(len(values))] if seconds is None else seconds
    return json.dumps({"metric": metric(**labels), "values": values, "timestamps": at}) + "\n"


def test_exposition_text_has_milliseconds(tmp_path, loaded):
    (tmp_path / "a.prom").write_text(f"# HELP x y\n{LINE}0.5 {START_SECONDS}000\n{LINE}0.7 {START_SECONDS}999\n")
    store, unreadable = loaded()
    assert (maxima(store), unreadable) == ([0.7], [])
    assert store.rows("gpu_5m")[0]["bucket_start"] == dt.datetime(2026, 10, 1)  # noqa: DTZ001, raw tables hold naive UTC


def test_openmetrics_text_has_seconds_and_exemplars(tmp_path, loaded):
    text = f'{LINE}0.5 {START_SECONDS}.5\n{LINE}0.7 {START_SECONDS + 300} # {{trace_id="a}}b"}} 0.7\n# EOF\n'
    (tmp_path / "a.om").write_text(text)
    store, unreadable = loaded()
    assert (maxima(store), unreadable) == ([0.5, 0.7], [])


def test_text_without_timestamps_needs_to_know_when_it_was_scraped(tmp_path, loaded):
    (tmp_path / "a.prom").write_text(f"\n{LINE}0.5\n")
    store, unreadable = loaded()
    assert store.rows("gpu_5m") == []
    assert "a.prom: line 2 has no timestamp" in unreadable[0]
    assert "--sampled-at" in unreadable[0]
    store, unreadable = loaded(sampled_at=SCRAPED)
    assert (maxima(store), unreadable) == ([0.5], [])


def test_sampled_at_needs_a_time_zone():
    with pytest.raises(ConfigError, match="no time zone"):
        Settings("x", "c1", dt.datetime(2026, 10, 1))  # noqa: DTZ001, the fault to see


def test_json_lines_of_victoriametrics_are_read_and_null_is_no_value(tmp_path, loaded):
    (tmp_path / "a.jsonl").write_text(json_line([0.5, None, 0.7, "Infinity"]))
    store, _ = loaded()
    (row,) = store.rows("gpu_5m")
    assert (row["gr_engine_active_ratio_samples"], row["gr_engine_active_ratio_max"]) == (2, 0.7)
    assert [finding["code"] for finding in store.rows("finding")] == ["dropped_infinite", "much_dropped"]


def parquet(path, metrics, kind):
    values, times = [[0.5, None, 0.7]], [[1000 * (START_SECONDS + 60 * n) for n in range(3)]]
    pq.write_table(
        pa.table(
            {
                "metric": pa.array(metrics, kind),
                "values": pa.array(values, pa.list_(pa.float64())),
                "timestamps": pa.array(times, pa.list_(pa.int64())),
            }
        ),
        path,
    )


@pytest.mark.parametrize("is_json", [True, False])
def test_parquet_of_the_same_shape_gives_the_same_rows(tmp_path, loaded, is_json):
    if is_json:
        parquet(tmp_path / "a.parquet", [json.dumps(metric())], pa.string())
    else:
        parquet(tmp_path / "a.parquet", [list(metric().items())], pa.map_(pa.string(), pa.string()))
    (tmp_path / "b.jsonl").write_text(json_line([0.5, None, 0.7]))
    store, unreadable = loaded()
    first, second = ({**row, "source_object": ""} for row in store.rows("gpu_5m"))
    assert (first, unreadable) == (second, [])


def test_a_staleness_marker_in_parquet_is_no_value(tmp_path, loaded):
    stale = np.array([0x7FF0000000000002], np.uint64).view(np.float64)
    values = pa.ListArray.from_arrays([0, 2], pa.array(np.append(stale, 0.5)))
    times = pa.array([[1000 * START_SECONDS, 1000 * START_SECONDS + 1]], pa.list_(pa.int64()))
    pq.write_table(
        pa.table({"metric": [json.dumps(metric())], "values": values, "timestamps": times}), tmp_path / "a.parquet"
    )
    store, unreadable = loaded()
    assert (maxima(store), store.rows("finding"), unreadable) == ([0.5], [], [])


def test_gzip_is_undone(tmp_path, loaded):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(json_line([0.5]).encode()))
    (tmp_path / "b.prom.gz").write_bytes(
        gzip.compress(f"{LINE.replace('GPU-a', 'GPU-b')}0.5 {START_SECONDS}\n".encode())
    )
    store, unreadable = loaded()
    assert (maxima(store), unreadable) == ([0.5, 0.5], [])


def test_a_small_page_limit_changes_no_sample(tmp_path, loaded):
    lines = [
        json_line([0.1 * n] * 7, UUID=f"GPU-{n}", __name__=name)
        for n in range(6)
        for name in ("DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_FB_USED")
    ]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    assert len(list(fetch(Settings(str(tmp_path), "c1", max_samples_per_page=10), EVERYTHING))) > 3
    whole, parts = loaded()[0].rows("gpu_5m"), loaded(max_samples_per_page=10)[0].rows("gpu_5m")

    def watts(rows):
        return sum(row["power_watts_mean"] * row["power_watts_samples"] for row in rows if row["power_watts_samples"])

    assert watts(parts) == pytest.approx(watts(whole)) == pytest.approx(7 * 0.1 * (0 + 1 + 2 + 3 + 4 + 5))


def test_the_series_of_one_gpu_stay_on_one_page(tmp_path):
    lines = [json_line([0.5] * 4, UUID=f"GPU-{gpu}", __name__=f"m{number}") for gpu in range(3) for number in range(2)]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    pages = list(fetch(Settings(str(tmp_path), "c1", max_samples_per_page=7), EVERYTHING))
    assert [{labels["UUID"] for labels in page.series} for page in pages] == [{"GPU-0"}, {"GPU-1"}, {"GPU-2"}]


def test_a_label_may_hold_braces_quotes_and_line_ends(tmp_path):
    (tmp_path / "a.prom").write_text(
        'm{a="x}\\"\\\\y\\n z # {",b="ü"} 1 1790812800\nm 2 1790812800\n', encoding="utf-8"
    )
    (page,) = fetch(Settings(str(tmp_path), "c1"), EVERYTHING)
    assert page.series == ({"__name__": "m", "a": 'x}"\\y\n z # {', "b": "ü"}, {"__name__": "m"})
    assert page.values.tolist() == [1.0, 2.0]


BAD_FILES = {
    "word.prom": (f"{LINE}ERROR - FAILED TO CONVERT 1\n", "line 1 expected a number.*ERROR - FAILED"),
    "comma.prom": (f"\n{LINE}0,5 {START_SECONDS}\n", "line 2 expected a number.*0,5"),
    "cut.prom": (f"{LINE}0.5 {START_SECONDS}\n{LINE}0.", "line 2 has no line end.*cut off"),
    "cut.om": (f"{LINE}0.5 {START_SECONDS}\n", "line 1 is the last.*# EOF"),
    "two.om": (f"{LINE}0.5 {START_SECONDS}\n# EOF\nm 1 {START_SECONDS}\n", "line 3 comes after '# EOF'"),
    "clock.prom": (f"{LINE}0.5 {START_SECONDS}\n{LINE}0.5 {START_SECONDS}000\n", "line 2 has timestamp.*seconds"),
    "early.prom": (f"{LINE}0.5 17\n", "line 1 has timestamp 17"),
    "brace.prom": ('m{a="b" 0.5 1790812800\n', "line 1 has broken labels"),
    "json.prom": (json_line([0.5]), "line 1 does not begin with a metric name.*jsonl"),
    "cut.jsonl": (json_line([0.5]) + json_line([0.5])[:-9], "line 2 is not a series.*cut off"),
    "list.jsonl": ("[1, 2]\n", "line 1 is not a series"),
    "length.jsonl": (json_line([0.5, 0.6], seconds=[1_790_812_800_000]), "line 1.*2 values, 1 timestamps"),
    "word.jsonl": (json_line(["high"]), "line 1 is not a series.*high"),
    "seconds.jsonl": (json_line([0.5], seconds=[START_SECONDS]), "line 1 has timestamps.*milliseconds"),
    "empty.prom": ("", "has no samples"),
    "text.parquet": ("PAR", "cannot be read as Parquet"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_named_with_its_line_and_does_not_stop_the_others(tmp_path, loaded, name):
    text, reason = BAD_FILES[name]
    (tmp_path / name).write_text(text)
    (tmp_path / "z_good.jsonl").write_text(json_line([0.5], UUID="GPU-good"))
    store, unreadable = loaded()
    assert [row["gpu_uuid"] for row in store.rows("gpu_5m")] == ["GPU-good"]
    assert store.kept == [str(tmp_path / name)]
    assert len(unreadable) == 1
    assert re.search(f"{name}: .*{reason}", unreadable[0])


def test_wrong_bytes_are_named_with_their_line(tmp_path, loaded):
    (tmp_path / "a.prom").write_bytes(b'm{a="\xff"} 1 1790812800\n')
    (tmp_path / "b.prom").write_bytes("\ufeffm 1 1790812800\n".encode("utf-16-le"))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(json_line([0.5] * 500).encode())[:-20])
    _, unreadable = loaded()
    assert "a.prom: line 1 is not UTF-8" in unreadable[0]
    assert "b.prom: line 1 begins a UTF-16 file" in unreadable[1]
    assert "c.jsonl.gz: truncated gzip" in unreadable[2]


def test_parquet_with_other_columns_says_which_are_missing(tmp_path, loaded):
    pq.write_table(pa.table({"metric": ["{}"], "value": [1.0]}), tmp_path / "a.parquet")
    assert "columns values, timestamps are missing" in loaded()[1][0]


def test_a_byte_order_mark_and_mixed_line_ends_are_let_pass_and_said(tmp_path, loaded):
    text = f"\ufeff{LINE}0.5 {START_SECONDS}\r\n\r\n{LINE}0.7 {START_SECONDS + 60}\n"
    (tmp_path / "a.prom").write_bytes(text.encode())
    store, unreadable = loaded()
    assert (maxima(store), unreadable) == ([0.7], [])
    findings = {(row["code"], row["occurrences"]) for row in store.rows("finding")}
    assert findings == {("byte_order_mark", 1), ("mixed_line_ends", 2)}


def test_an_empty_folder_says_what_it_looked_for(tmp_path):
    (answer,) = fetch(Settings(str(tmp_path), "c1"), EVERYTHING)
    assert isinstance(answer, Unreadable)
    assert ".prom" in answer.reason


def test_a_folder_that_is_not_there_stops_the_source(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        list(fetch(Settings(str(tmp_path / "nowhere"), "c1"), EVERYTHING))


def test_the_settings_name_what_is_out_of_range():
    with pytest.raises(ConfigError, match="max_samples_per_page is 0"):
        Settings("x", "c1", max_samples_per_page=0)
    with pytest.raises(ConfigError, match="scrape_interval_seconds is 0"):
        Settings("x", "c1", scrape_interval_seconds=0)
