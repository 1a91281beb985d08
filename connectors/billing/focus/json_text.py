"""Tags and price details, however a provider writes them, to one form: a JSON object with sorted keys."""

from dataclasses import dataclass

import orjson
import polars as pl
import pyarrow as pa

from connectors.billing.focus.cells import UnreadableCell

_EXPECTED = 'expected a JSON object such as {"team": "research"}; the cell was taken for absent'
_KEY_NAMES = ("key", "Key")
_VALUE_NAMES = ("value", "Value")


@dataclass(frozen=True, slots=True)
class Objects:
    """A column of JSON objects as text."""

    values: pa.Array  # string; null where absent or unreadable
    unreadable: UnreadableCell | None


def canonical_objects(column: pa.Array) -> Objects:
    """Return a column of text, maps or lists of key and value as JSON objects with sorted keys."""
    if not pa.types.is_string(column.type):
        return Objects(_from_pairs(column), None)
    encoded = column.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    objects = [_canonical(text) for text in texts]
    values = pa.array(objects, pa.string()).take(encoded.indices)
    bad = [index for index, text in enumerate(objects) if text is None]
    if not bad:
        return Objects(values, None)
    rows = [row for row, index in enumerate(encoded.indices.to_pylist()) if index in set(bad)]
    return Objects(values, UnreadableCell(rows[0], texts[bad[0]], _EXPECTED, len(rows)))


def read_object(text: str) -> dict[str, object] | None:
    """Return what a text says as an object; None for a text that is none, {} for an empty one."""
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        if text.startswith("{"):
            return None
        try:
            said = orjson.loads("{" + text + "}")  # Azure leaves the braces away
        except orjson.JSONDecodeError:
            return None
    if isinstance(said, list):
        return _from_list(said)
    return said if isinstance(said, dict) else None


def _canonical(text: str) -> str | None:
    said = read_object(text)
    return None if said is None else orjson.dumps(said, option=orjson.OPT_SORT_KEYS).decode()


def _from_list(pairs: list[object]) -> dict[str, object] | None:
    """Return Google Cloud's [{"key": ..., "value": ...}] as an object."""
    said: dict[str, object] = {}
    for pair in pairs:
        if not isinstance(pair, dict):
            return None
        key = next((pair[name] for name in _KEY_NAMES if name in pair), None)
        if not isinstance(key, str):
            return None
        said[key] = next((pair[name] for name in _VALUE_NAMES if name in pair), None)
    return said


def _from_pairs(column: pa.Array) -> pa.Array:
    """Return a map, or a list of structs of key and value, as JSON objects; all rows at once."""
    if pa.types.is_map(column.type):
        column = column.cast(pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())])))
    if pa.types.is_struct(column.type):
        structs = pl.DataFrame(pa.table({"object": column}))["object"]
        return _canonical_series(structs.struct.json_encode())
    rows = pl.DataFrame(pa.table({"pairs": column})).with_row_index("row")
    exploded = rows.filter(pl.col("pairs").list.len() > 0).explode("pairs").unnest("pairs").rename(str.lower)
    objects = (
        exploded.select("row", "key", "value")
        .with_columns(pl.struct("key").struct.json_encode().str.slice(7).str.strip_suffix("}").alias("key_json"))
        .with_columns(pl.struct("value").struct.json_encode().str.slice(9).str.strip_suffix("}").alias("value_json"))
        .unique(["row", "key"], keep="last", maintain_order=True)
        .sort("row", "key")
        .group_by("row", maintain_order=True)
        .agg((pl.col("key_json") + ":" + pl.col("value_json")).str.join(",").alias("members"))
    )
    joined = rows.join(objects, on="row", how="left", maintain_order="left")
    text = pl.when(pl.col("pairs").is_null()).then(None).otherwise("{" + pl.col("members").fill_null("") + "}")
    return joined.select(text.alias("text"))["text"].to_arrow().cast(pa.string())


def _canonical_series(texts: pl.Series) -> pa.Array:
    return canonical_objects(texts.to_arrow().cast(pa.string())).values
