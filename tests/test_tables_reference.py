from pathlib import Path

from optimizer.sql_models import sql_models
from optimizer.tables_reference import tables_reference

PAGE = Path(__file__).parents[1] / "docs/tables.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == tables_reference(), "run `make reference`"


def test_every_model_states_its_grain():
    assert [model.name for model in sql_models() if not model.sql.startswith("-- grain: ")] == []
