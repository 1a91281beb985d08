"""
The SQL in sql/ stays in the subset that DuckDB and Spark run alike, states its grain, and turns no null into zero.

A line may end in `-- zero: <reason>` where zero is what the absence means (a count of no rows).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokens import Token, TokenType

from connectors.raw_tables import RAW_TABLES

ROOT = Path(__file__).parents[1]
LAYERS = ("1_staging", "2_intermediate", "3_marts", "checks")
SQL_FILES = sorted(path for layer in LAYERS for path in (ROOT / "sql" / layer).glob("*.sql"))

# Same name and same answer in DuckDB 2.0 and Spark 4.3; unix_timestamp, explode, sequence and percentile are
# macros in DuckDB. Before adding one, look at nulls, rounding, index base and the type it gives in both.
PORTABLE_FUNCTIONS = frozenset(
    """
    abs any_value avg bool_and bool_or cast ceil coalesce contains count count_if cume_dist date_trunc dense_rank exists
    exp explode first_value floor greatest instr lag last_value lead least length ln lower ltrim max max_by median min
    min_by ntile nullif percent_rank percentile percentile_cont position power rank replace round row_number rtrim
    sequence sign sqrt stddev substring sum trim try_cast unix_timestamp upper
    """.split()  # noqa: SIM905, one name a line would be sixty lines
)
TYPES_WITH_ARGUMENTS = frozenset({"decimal", "varchar"})
BANNED_TOKENS = {
    TokenType.ASOF: "ASOF joins exist in DuckDB alone; join on a range",
    TokenType.DIV: "`//` is `div` in Spark; use floor(a / b)",
    TokenType.L_BRACKET: "a list index counts from 1 in DuckDB and from 0 in Spark; explode or join instead",
    TokenType.L_BRACE: "struct literals differ between engines",
    TokenType.IDENTIFIER: "Spark reads a double-quoted name as text; rename the column",
    TokenType.QUALIFY: "not every Spark server has QUALIFY; filter row_number() in an outer query",
    TokenType.TILDE: "regular expressions differ between engines; use like",
    TokenType.ARROW: "JSON operators differ between engines; unpack JSON in the connector",
    TokenType.DARROW: "JSON operators differ between engines; unpack JSON in the connector",
    TokenType.CURRENT_DATE: "models read no clock; use run_window",
    TokenType.CURRENT_TIMESTAMP: "models read no clock; use run_window",
    TokenType.CURRENT_TIME: "models read no clock; use run_window",
}
FOCUS_COLUMNS = frozenset(name for table in RAW_TABLES.values() for name in table.columns.names)
NULL_AS_ZERO = re.compile(
    r"coalesce\s*\([^()]*(?:\([^()]*\)[^()]*)*,\s*0(?:e0|\.0)?\s*\)|\b(?:ifnull|zeroifnull|nvl)\s*\("
)
ZERO_MEANS_ABSENCE = re.compile(r"--\s*zero:\s*\S")

Rule = Callable[[str, Sequence[Token]], Iterator[str]]


def faults(text: str, *, layer: str) -> list[str]:
    """Return what the lint objects to in one file, in the order of the rules."""
    tokens = sqlglot.Dialect.get_or_raise("duckdb").tokenize(text)
    rules: tuple[Rule, ...] = (
        first_line,
        lower_case,
        banned_tokens,
        functions,
        bare_decimals,
        orders_without_nulls,
        nulls_made_zero,
        structure,
    )
    found = [fault for rule in rules for fault in rule(text, tokens)]
    return found + (list(stars(text)) if layer == "3_marts" else [])


def first_line(text: str, _tokens: Sequence[Token]) -> Iterator[str]:
    if not re.match(r"-- (grain|promise): \S", text):
        yield "line 1: expected `-- grain: ...` (a check: `-- promise: ...`)"


def lower_case(text: str, tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        written = text[token.start : token.end + 1]  # the tokenizer itself puts words like ORDER BY in upper case
        is_word = token.token_type not in {TokenType.STRING, TokenType.NUMBER} and written not in FOCUS_COLUMNS
        if is_word and written != written.lower():
            yield f"line {token.line}: write {written} in lower case"


def banned_tokens(_text: str, tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.token_type in BANNED_TOKENS:
            yield f"line {token.line}: {token.text}: {BANNED_TOKENS[token.token_type]}"


def functions(_text: str, tokens: Sequence[Token]) -> Iterator[str]:
    for token, after in pairwise(tokens):
        if token.token_type not in CALLABLE or after.token_type is not TokenType.L_PAREN:
            continue
        if token.text.lower() not in PORTABLE_FUNCTIONS | TYPES_WITH_ARGUMENTS:
            yield f"line {token.line}: {token.text}() is not on the list of portable functions"


CALLABLE = frozenset(
    {TokenType.VAR, TokenType.FIRST, TokenType.REPLACE, TokenType.LEFT, TokenType.RIGHT, TokenType.ROW, TokenType.MAP}
    | {TokenType.STRUCT, TokenType.DATE, TokenType.TIMESTAMP, TokenType.FORMAT, TokenType.UNNEST, TokenType.RANGE}
)


def bare_decimals(_text: str, tokens: Sequence[Token]) -> Iterator[str]:
    for position, token in enumerate(tokens):
        if token.token_type is not TokenType.NUMBER or not re.fullmatch(r"\d*\.\d*", token.text):
            continue
        is_cast = [before.text.lower() for before in tokens[max(0, position - 2) : position]] == ["cast", "("]
        if not is_cast:
            yield f"line {token.line}: {token.text}: Spark makes it DECIMAL and rounds; write {token.text}e0 or cast it"


def orders_without_nulls(_text: str, tokens: Sequence[Token]) -> Iterator[str]:
    for position, token in enumerate(tokens):
        if token.token_type is TokenType.ORDER_BY:
            for key in order_keys(tokens[position + 1 :]):
                if "nulls" not in {part.text.lower() for part in key}:
                    yield f"line {key[0].line}: order by {key[0].text}: say nulls first or nulls last"


def order_keys(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    depth = 0
    key: list[Token] = []
    for token in tokens:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        ends = depth < 0 or (depth == 0 and token.token_type in {TokenType.ROWS, TokenType.RANGE, TokenType.LIMIT})
        if ends:
            break
        if depth == 0 and token.token_type is TokenType.COMMA:
            yield key
            key = []
        else:
            key.append(token)
    if key:
        yield key


def nulls_made_zero(text: str, _tokens: Sequence[Token]) -> Iterator[str]:
    lines = text.splitlines()
    for match in NULL_AS_ZERO.finditer(text.lower()):
        first, last = (text.count("\n", 0, place) for place in (match.start(), match.end()))
        if not ZERO_MEANS_ABSENCE.search("\n".join(lines[first : last + 1])):
            yield f"line {first + 1}: {match[0]} makes a null zero; keep the null, or end the line in -- zero: <reason>"


def structure(text: str, _tokens: Sequence[Token]) -> Iterator[str]:
    for dialect in ("duckdb", "spark"):
        try:
            statements = sqlglot.parse(text, dialect=dialect)
        except ParseError as error:
            yield f"{dialect} cannot parse it: {error}"
            return
        if len(statements) != 1 or not isinstance(statements[0], exp.Query):
            yield f"expected one select, got {len(statements)} statement(s)"
            return
        for join in statements[0].find_all(exp.Join):
            is_named = join.args.get("on") or join.args.get("using") or join.kind == "CROSS"
            if not is_named:
                yield f"a join with {join.this.alias_or_name} has no condition; write cross join where that is meant"


def stars(text: str) -> Iterator[str]:
    if sqlglot.parse_one(text, dialect="duckdb").is_star:
        yield "a mart lists its columns; no `*` in its last select"


@pytest.mark.parametrize("path", SQL_FILES, ids=lambda path: path.stem)
def test_sql_keeps_to_the_portable_subset(path):
    assert faults(path.read_text(encoding="utf-8"), layer=path.parent.name) == []


def test_there_is_sql_to_look_at():
    assert len(SQL_FILES) > 10


def test_names_of_models_are_unique():
    stems = [path.stem for path in SQL_FILES]
    assert len(stems) == len(set(stems))


GOOD = """-- grain: node x hour
with usage as (
    select node, date_trunc('hour', sampled_at) as hour_start, sum(seconds) / 3600e0 as hours
    from raw.sample
    group by node, date_trunc('hour', sampled_at)
)

select usage.node, usage.hours, row_number() over (order by usage.hours desc nulls last, usage.node asc nulls last) as n
from usage
cross join run_window
"""


def test_accepts_portable_sql():
    assert faults(GOOD, layer="3_marts") == []


@pytest.mark.parametrize(
    ("smell", "complaint"),
    [
        ("select a from t", "grain"),
        ("-- grain: x\nSELECT a FROM t", "lower case"),
        ("-- grain: x\nselect a.v from a asof join b on a.t >= b.t", "ASOF"),
        ("-- grain: x\nselect a // 2 as half from t", "//"),
        ("-- grain: x\nselect a[1] as first_one from t", "list index"),
        ('-- grain: x\nselect "Name" from t', "double-quoted"),
        ("-- grain: x\nselect a from t qualify row_number() over (order by a nulls first) = 1", "QUALIFY"),
        ("-- grain: x\nselect a from t where b < now()", "portable functions"),
        ("-- grain: x\nselect a from t where b < current_date", "clock"),
        ("-- grain: x\nselect concat(a, b) as ab from t", "concat"),
        ("-- grain: x\nselect time_bucket(interval '1 hour', a) as h from t", "time_bucket"),
        ("-- grain: x\nselect list_sum(a) as s from t", "list_sum"),
        ("-- grain: x\nselect a / 3600.0 as hours from t", "3600.0e0"),
        ("-- grain: x\nselect a from t order by a", "nulls first"),
        (
            "-- grain: x\nselect sum(a) over (order by c desc, d nulls last rows 1 preceding) as s from t",
            "c:",
        ),
        ("-- grain: x\nselect coalesce(a, 0) as a from t", "zero"),
        ("-- grain: x\nselect coalesce(sum(a), 0e0) as a from t", "zero"),
        ("-- grain: x\nselect nvl(a, b) as a from t", "zero"),
        ("-- grain: x\nselect a.x from a, b", "no condition"),
        ("-- grain: x\nselect * from t", "lists its columns"),
        ("-- grain: x\nselect t.*, 1 as one from t", "lists its columns"),
        ("-- grain: x\nselect a from t where b ~ 'x'", "regular expressions"),
        ("-- grain: x\ndelete from t", "one select"),
    ],
)
def test_objects_to_each_smell(smell, complaint):
    assert any(complaint in fault for fault in faults(smell, layer="3_marts"))


def test_a_zero_with_its_reason_passes():
    text = "-- grain: x\nselect coalesce(a.pods, 0) as pods -- zero: no pod is no row\nfrom a"
    assert faults(text, layer="3_marts") == []


def test_a_decimal_under_cast_passes():
    assert faults("-- grain: x\nselect cast(0.5 as decimal(38, 15)) as half from t", layer="3_marts") == []
