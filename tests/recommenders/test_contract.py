"""Every recommender keeps the same promises; a new module in the folder is held to them without an edit here."""

import ast
import importlib
import inspect
import re
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

import pytest

from models.domain.money import SavingsRange
from models.domain.recommendation import Chosen, Decision, Proposal, Rejection
from optimizer import recommenders
from optimizer.facts import Facts
from optimizer.manifest import TargetVersions
from optimizer.recommender import Recommender
from optimizer.sql_models import LAYERS, sql_models

ROOT = Path(__file__).parents[2]
MARTS = {model.name for model in sql_models() if model.layer == LAYERS[-1]}
UNITS = (
    "_seconds", "_minutes", "_hours", "_days", "_ratio", "_quantile", "_gib", "_watts", "_usd", "_usd_per_hour",
    "_usd_per_month",
)  # fmt: skip
COUNT = re.compile(r"(min|max)_\w+s")  # max_alternatives
BUILT_ELSEWHERE = {"yaml", "ruamel", "highspy", "optimizer.solver"}  # manifests, packing and the plan do that
PROMISES = ("Claim", "Saves", "Gate", "Risk", "Undo")

each_recommender = pytest.mark.parametrize("name", recommenders.names())


def module_of(name):
    return importlib.import_module(f"optimizer.recommenders.{name}")


def recommender_of(name):
    return module_of(name).RECOMMENDER


def doubting_models(name):
    """Return the modules of `models` whose reasons a recommender hands on."""
    tree = ast.parse(inspect.getsource(module_of(name)))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return [importlib.import_module(each) for each in sorted(imported) if each.startswith("models.")]


@pytest.fixture
def fleet(new_marts):
    """Give marts with an idle, a busy and a partly idle workload, two small servers, a notebook and a spare node."""
    marts = new_marts().node("n1", 8).node("n2", 8).node("n3", 1)
    for name, workload_class, busy in (("idle", "batch", 0.0), ("busy", "training", 0.9), ("pad", None, 0.0)):
        marts.pod(f"{name}-0", workload=name).described(name, workload_class=workload_class)
        marts.held(f"gpu-{name}", workload=name, pod=f"{name}-0", activity_max=busy, sm_active_ratio_max=busy)
    marts.pod("some-0", workload="some", devices=2.0).described("some", workload_class="training")
    marts.held("gpu-s0", workload="some", activity_max=0.5).held("gpu-s1", workload="some")
    for name in ("ner", "ocr"):
        marts.pod(f"{name}-0", "n2", workload=name).described(name, workload_class="inference")
        marts.held(f"gpu-{name}", workload=name, activity_max=0.3, sm_active_ratio_max=0.05, memory_used_gib_max=6.0)
    marts.pod("ada-0", "n2", workload="ada", kind="Notebook").described("ada", "Notebook", workload_class="notebook")
    return marts.held("gpu-ada", workload="ada", kind="Notebook").seen("gpu-spare", node="n3")


def outcomes(name, facts):
    recommender = recommender_of(name)
    settings = recommender.settings()
    return {
        candidate.subject: recommender.evaluate(candidate, facts, settings)
        for candidate in recommender.find(facts, settings)
    }


@each_recommender
def test_is_named_after_its_module(name):
    assert isinstance(recommender_of(name), Recommender)
    assert recommender_of(name).name == name


@each_recommender
def test_has_a_page_and_a_test(name):
    assert (ROOT / "docs" / "recommenders" / f"{name}.md").is_file()
    assert (ROOT / "tests" / "recommenders" / f"test_{name}.py").is_file()


@each_recommender
def test_the_page_names_every_setting_and_every_reason_code(name):
    page = (ROOT / "docs" / "recommenders" / f"{name}.md").read_text(encoding="utf-8")
    source = "".join(inspect.getsource(module) for module in (module_of(name), *doubting_models(name)))
    words = [field.name for field in fields(recommender_of(name).settings)] if "## Settings" in page else []
    words += re.findall(r'\bDoubt\(\s*"(\w+)"', source)
    assert [word for word in words if f"`{word}`" not in page] == []


@each_recommender
def test_reads_only_marts_and_says_which(name):
    source = inspect.getsource(module_of(name))
    read = set(re.findall(r'\b(?:facts\.of\(|facts\.marts\[)"(\w+)"', source))
    assert set(recommender_of(name).reads) <= MARTS
    assert read <= set(recommender_of(name).reads)


@each_recommender
def test_settings_have_defaults_and_carry_their_units(name):
    kind = recommender_of(name).settings
    assert is_dataclass(kind)
    assert kind.__dataclass_params__.frozen
    for field in fields(kind):
        assert field.default is not MISSING or field.default_factory is not MISSING, field.name
        if isinstance(field.default, (int, float)) and not isinstance(field.default, bool):
            assert field.name.endswith(UNITS) or COUNT.fullmatch(field.name), field.name


@each_recommender
def test_says_what_it_claims_saves_needs_risks_and_how_to_undo_it(name):
    text = inspect.getdoc(module_of(name)) or ""
    assert [word for word in PROMISES if not re.search(rf"^{word}\b", text, re.MULTILINE)] == []


@each_recommender
def test_builds_no_yaml_and_no_solver_model_itself(name):
    tree = ast.parse(inspect.getsource(module_of(name)))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imported |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    roots = {name.split(".")[0] for name in imported}
    assert (imported | roots) & BUILT_ELSEWHERE == set()


@each_recommender
def test_an_empty_warehouse_gives_no_advice(name, marts):
    assert [each for each in outcomes(name, marts.facts()).values() if isinstance(each, Proposal)] == []


@each_recommender
def test_the_order_of_rows_does_not_matter(name, fleet):
    facts = fleet.facts()
    expected = outcomes(name, facts)
    for seed in (1, 2):
        shuffled = {mart: rows.sample(fraction=1.0, shuffle=True, seed=seed) for mart, rows in facts.marts.items()}
        again = outcomes(name, Facts(facts.window, shuffled))
        assert again == expected
        assert list(again) == list(expected)  # and candidates come in one order


@each_recommender
def test_asking_twice_gives_the_same_answer(name, fleet):
    facts = fleet.facts()
    assert outcomes(name, facts) == outcomes(name, facts)


@each_recommender
def test_every_outcome_can_be_read_and_checked(name, fleet):
    reads = set(recommender_of(name).reads)
    for subject, outcome in outcomes(name, fleet.facts()).items():
        assert (outcome.recommender, outcome.subject) == (name, subject)
        if isinstance(outcome, Rejection):
            assert re.fullmatch(r"[a-z]+(_[a-z0-9]+)*", outcome.code)
            assert outcome.reason
            assert "\n" not in outcome.reason
            continue
        assert outcome.step is recommender_of(name).step
        for alternative in outcome.alternatives:
            assert alternative.evidence
            for evidence in alternative.evidence:
                assert evidence.mart in reads
                assert f"from {evidence.mart} " in evidence.query


@each_recommender
def test_what_it_writes_can_be_undone(name, fleet):
    for subject, outcome in outcomes(name, fleet.facts()).items():
        if isinstance(outcome, Rejection):
            continue
        chosen = (Chosen(subject, outcome.alternatives[0]),)
        nothing = SavingsRange(0.0, 0.0, 0.0)
        decision = Decision(name, outcome.step, subject, chosen, nothing, 0.0, 0.0, 1.0, ("c/n1",))
        change = recommender_of(name).write(decision, TargetVersions())
        assert change.manifests or change.runbook.steps
        assert bool(change.runbook.steps) == bool(change.runbook.undo_steps)
        for manifest in change.manifests:
            assert manifest.apply["metadata"]["name"] == manifest.undo["metadata"]["name"]
            assert manifest.written_for


def test_there_are_recommenders():
    assert {"idle_gpus", "mig_consolidation"} <= set(recommenders.names())
