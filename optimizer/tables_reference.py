"""The list of tables in `docs/tables.md`, from the first lines of the SQL files and the raw schemas."""

import sys
from pathlib import Path

from connectors.raw_tables import RAW_TABLES
from optimizer.sql_models import LAYERS, sql_checks, sql_models

_TITLES = dict(zip(LAYERS, ("Staging", "Intermediate", "Marts"), strict=True))


def tables_reference() -> str:
    """Return Markdown: every raw table, model and check, with its grain or promise."""
    lines = [
        "# Tables",
        "",
        "Written by `make reference` from the files themselves. Instants are UTC without a zone; money is",
        "`DECIMAL(38,15)` in the billing currency, US dollars where a name ends in `_usd`.",
        "",
        "## Raw, written only by loads",
        "",
    ]
    lines += [f"- `raw.{name}`: {', '.join(RAW_TABLES[name].columns.names)}" for name in sorted(RAW_TABLES)]
    for layer in LAYERS:
        lines += ["", f"## {_TITLES[layer]} (`sql/{layer}`)", ""]
        models = sorted((model for model in sql_models() if model.layer == layer), key=lambda model: model.name)
        lines += [f"- `{model.name}` ({model.kept}): {_first_comment(model.sql)}" for model in models]
    lines += ["", "## Checks (`sql/checks`), run before any advice", ""]
    lines += [f"- `{check.name}`: {_first_comment(check.sql)}" for check in sql_checks()]
    return "\n".join(lines) + "\n"


def _first_comment(sql: str) -> str:
    return sql.partition("\n")[0].removeprefix("-- ").partition(": ")[2]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(tables_reference(), encoding="utf-8")
