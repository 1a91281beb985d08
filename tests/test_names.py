"""
Numbers carry their unit in their name, conversion factors live in one file, and a missing value is never zero.

These close the gaps that ruff leaves (docs/adr/0004-what-linters-miss.md). A line that means zero where nothing is
there, such as a count, ends in `# zero: <reason>`.
"""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("models", "connectors", "optimizer", "reports", "sql")
SOURCES = sorted(path for top in PACKAGES for path in (ROOT / top).rglob("*.py"))
THINKING = sorted(path for path in SOURCES if path.is_relative_to(ROOT / "models")) + sorted(
    path for folder in ("recommenders", "manifests", "packing") for path in (ROOT / "optimizer" / folder).rglob("*.py")
)
QUANTITY = re.compile(
    r"(^|_)(price|cost|savings?|spend|memory|duration|interval|timeout|age|usage|power|energy|size|lag|delay|util)$"
)
NUMBER_TYPES = {"float", "int", "float | None", "int | None", "Decimal", "Decimal | None"}
NUMBERS = r"(?:720|730|744|1024|3600|3_600|86400|86_400|2 ?\*\* ?[1-4]0)(?:\.0)?"
FACTOR = re.compile(
    r"\b24 ?\* ?30\b|\b30 ?\* ?24\b|\b60 ?\* ?60\b"
    rf"|[*/] ?\b{NUMBERS}\b|\b{NUMBERS} ?[*/]"  # multiplied or divided by
    rf"|^\w+(?: : \w+)? = {NUMBERS}$"  # given a name of its own
)
MONTHLY_HOURS = re.compile(r"\b(720|730|744)(\.0|e0)?\b")
FORBIDDEN_STEMS = {
    "base", "common", "core", "helper", "helpers", "manager", "misc", "shared", "stuff", "tools", "util", "utils",
}  # fmt: skip
ZERO_FOR_NULL = re.compile(
    r"fill_null\(\s*(value\s*=\s*)?0|fill_nan\(\s*(value\s*=\s*)?0|\.get\([^()]*,\s*0(\.0)?\s*\)|\bor\s+0(\.0)?\b"
    r"|coalesce\([^()]*,\s*(pl\.lit\()?0(\.0)?\s*\)|zeroifnull"
)
ZERO_MEANS_ABSENCE = re.compile(r"#\s*zero:\s*\S")
MAX_MODULE_LINES = 300


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def nameless_quantities(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.AnnAssign, ast.arg)) or node.annotation is None:
            continue
        name = node.arg if isinstance(node, ast.arg) else getattr(node.target, "id", "")
        if ast.unparse(node.annotation) in NUMBER_TYPES and QUANTITY.search(name):
            yield f"line {node.lineno}: {name}: in what unit? (usd_per_hour, memory_gib, timeout_seconds, ...)"


def code_lines(source: str) -> Iterator[tuple[int, str]]:
    """Yield numbered lines without comments and texts."""
    words: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING and re.match(r"[rR]?[fF]", token.string):  # one token before Python 3.12
            words[token.start[0]] += re.findall(r"\{([^{}]*)\}", token.string)
        if tokenize.tok_name[token.type] not in {"STRING", "COMMENT", "FSTRING_MIDDLE"}:
            words[token.start[0]].append(token.string)
    for number in sorted(words):
        yield number, " ".join(words[number]).strip()


def factors(source: str) -> list[str]:
    return [f"line {number}: {code.strip()}" for number, code in code_lines(source) if FACTOR.search(code)]


def zeros_for_nulls(source: str) -> list[str]:
    return [
        f"line {number}: {line.strip()}"
        for number, line in enumerate(source.splitlines(), start=1)
        if ZERO_FOR_NULL.search(line.split("#")[0]) and not ZERO_MEANS_ABSENCE.search(line)
    ]


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_quantities_carry_a_unit(path):
    assert list(nameless_quantities(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", [path for path in SOURCES if path.name != "units.py"], ids=named)
def test_conversion_factors_live_in_units(path):
    assert factors(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted((ROOT / "sql").rglob("*.sql")), ids=named)
def test_sql_does_not_know_the_length_of_a_month(path):
    assert MONTHLY_HOURS.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", THINKING, ids=named)
def test_thinking_code_never_turns_a_missing_value_into_zero(path):
    assert zeros_for_nulls(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_modules_are_named_after_what_they_hold(path):
    assert path.stem not in FORBIDDEN_STEMS


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_modules_fit_on_a_few_screens(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_MODULE_LINES


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_modules_say_what_they_hold(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("field", ["memory: float", "price: Decimal", "timeout: int | None", "gpu_usage: float"])
def test_sees_a_quantity_without_a_unit(field):
    assert list(nameless_quantities(f"class A:\n    {field}\n"))


@pytest.mark.parametrize("field", ["memory_gib: float", "usd_per_hour: Decimal", "prices: int", "memory: str"])
def test_lets_a_quantity_with_a_unit_pass(field):
    assert list(nameless_quantities(f"class A:\n    {field}\n")) == []


@pytest.mark.parametrize(
    "code", ["x = y * 24 * 30", "x = y / 3600", "x = y * 730", "x = y / 1024**3", "x = 86_400", "f'{y * 1024}Mi'"]
)
def test_sees_a_factor_outside_units(code):
    assert factors(code)


@pytest.mark.parametrize(
    "code", ["x = 'for 730 h'", "# 730 h\nx = 1", '"""\nOf 730 h.\n"""', "x = 17301", "f(maxsize=1024)", "{3: 720}"]
)
def test_lets_a_factor_in_prose_pass(code):
    assert factors(code) == []


@pytest.mark.parametrize(
    "code", ["frame.fill_null(0)", "prices.get(item, 0)", "usd or 0.0", "pl.coalesce(a, pl.lit(0))", "s.fill_nan(0.0)"]
)
def test_sees_a_missing_value_made_zero(code):
    assert zeros_for_nulls(code)


def test_lets_a_zero_with_its_reason_pass():
    assert zeros_for_nulls("pods = counted.get(node, 0)  # zero: a node nobody counted holds no pod") == []
