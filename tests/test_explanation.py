"""A recommendation as text holds everything a doubter asks for."""

from datetime import UTC, datetime, timedelta

import pytest
import yaml

from models.domain.money import SavingsRange
from models.domain.recommendation import (
    Alternative,
    Chosen,
    Decision,
    Demand,
    Evidence,
    Risk,
    Step,
    Subject,
    SubjectKind,
)
from models.domain.window import Window
from optimizer.explanation import explanation
from optimizer.manifest import Change, Runbook
from optimizer.manifests.notebook import stop_notebook
from optimizer.state import Advice, RunRecord

AS_OF = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)
RUN = RunRecord(7, Window(AS_OF - timedelta(days=30), AS_OF), "1.0", "abc")
NOTEBOOK = Subject(SubjectKind.WORKLOAD, "prod/research/Notebook/ada")
SQL = "select max(activity_max) from holder_gpu_by_hour where cluster_id = 'prod'"
EVIDENCE = (
    Evidence("busiest five minutes", 0.004, "ratio", "holder_gpu_by_hour", SQL, 0.01),
    Evidence("most memory loaded", 12.25, "GiB", "holder_gpu_by_hour", "select 12.25"),
)
STOP = Alternative("stop", Demand(0.0, replicas=0), "prod/l4", 1, Risk.SLOWER, EVIDENCE)


@pytest.fixture
def advice():
    decision = Decision(
        "idle_gpus", Step.WASTE, NOTEBOOK, (Chosen(NOTEBOOK, STOP),), SavingsRange(900.0, 1460.0, 1500.0),
        2000.0, 700.0, 1.0, ("prod/n1",), formula="2 USD/h x 730 h", notes=("a commitment covers part of it",),
    )  # fmt: skip
    return Advice(decision, Change((stop_notebook("research", "ada"),), Runbook(("cordon n1",), ("uncordon n1",))))


@pytest.fixture
def text(advice):
    return explanation(advice, RUN)


def test_begins_with_what_it_is_about(advice, text):
    assert text.splitlines()[0] == f"{advice.decision.id}  idle_gpus  prod/research/Notebook/ada"


def test_tells_from_when_to_when_it_looked(text):
    assert "Window    2026-10-31 12:30 to 2026-11-30 12:30 UTC\n" in text


def test_tells_the_formula_and_all_three_prices(text):
    assert "Formula   2 USD/h x 730 h\n" in text
    assert "Saves     1,460.00 USD a month in cash (900.00 to 1,500.00); list 2,000.00, effective 700.00\n" in text


def test_shows_each_observation_with_its_limit_and_the_sql_that_shows_it_again(text):
    assert f"  busiest five minutes: 0.004 ratio (limit 0.01)\n    {SQL}\n" in text
    assert "  most memory loaded: 12.25 GiB\n    select 12.25\n" in text


def test_tells_what_is_released_and_what_to_know(text):
    assert "Releases  1 GPUs; nodes: prod/n1\n" in text
    assert "Note      a commitment covers part of it\n" in text


def test_says_none_where_no_node_goes(advice):
    decision = advice.decision
    kept = Decision(
        decision.recommender, decision.step, decision.subject, decision.chosen, decision.savings, 0.0, 0.0, 0.5, ()
    )
    assert "Releases  0.5 GPUs; nodes: none\n" in explanation(Advice(kept, advice.change), RUN)


def test_shows_the_change_and_its_undo_as_yaml(advice, text):
    (manifest,) = advice.change.manifests
    shown, undo = text.split("# undo\n")
    assert yaml.safe_load(shown.split("# Notebook research/ada (kubeflow.org/v1)\n")[1]) == manifest.apply
    assert yaml.safe_load(undo.split("\nSteps\n")[0]) == manifest.undo


def test_numbers_the_steps_there_and_back(text):
    assert text.endswith("\nSteps\n  1. cordon n1\n\nUndo\n  1. uncordon n1\n")


def test_leaves_out_steps_where_none_are_needed(advice):
    without = Advice(advice.decision, Change(advice.change.manifests, Runbook((), ())))
    assert "Steps" not in explanation(without, RUN)


def test_the_same_advice_gives_the_same_text(advice, text):
    assert explanation(advice, RUN) == text
