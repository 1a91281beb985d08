"""What a run leaves behind is read back as it was, whoever writes meanwhile."""

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.domain.money import SavingsRange
from models.domain.recommendation import (
    Alternative,
    Chosen,
    Decision,
    Demand,
    Evidence,
    NodeLayout,
    Proposal,
    Rejection,
    Risk,
    Step,
    Subject,
    SubjectKind,
)
from models.domain.window import Window
from optimizer.manifest import Change, Manifest, Runbook
from optimizer.manifests.gpu_request import request_gpus
from optimizer.manifests.mig_parted import mig_config_map
from optimizer.manifests.notebook import stop_notebook
from optimizer.state import Advice, SourceFailure, State

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
WINDOW = Window(NOON - timedelta(days=30), NOON)
POOL = Subject(SubjectKind.POOL, "prod/serving")
SERVER = Subject(SubjectKind.WORKLOAD, "prod/search/Deployment/ner")
LAYOUTS = (NodeLayout("prod/n1", (("1g.10gb", "3g.40gb"), ())),)
EVIDENCE = (
    Evidence("most memory loaded", 0.1 + 0.2, "GiB", "holder_gpu_by_hour", "select 'a ''quoted'' text'", 8.745454),
    Evidence("no limit", 1e-300, "ratio", "holder_gpu_by_hour", "select 1"),
)
SLICE = Alternative(
    "slice 1g.10gb", Demand(0.0, "1g.10gb", 2, 4.0, 16.0), "prod/serving", 2, Risk.SLOWER, EVIDENCE, Demand(2.0), "main"
)


def advice(subject=POOL, expected=100.0):
    decision = Decision(
        "mig_consolidation", Step.FIT, subject, (Chosen(SERVER, SLICE),), SavingsRange(1.5, expected, 1e6), 3.0, 2.0,
        1.0, ("prod/n2", "prod/n3"), LAYOUTS, "2 nodes x 1 USD/h x 730 h", ("a note", "naïve “quotes”"),
    )  # fmt: skip
    manifests = (
        mig_config_map("prod/serving", LAYOUTS),
        request_gpus(("Deployment", "search", "ner"), "main", {"nvidia.com/mig-1g.10gb": 1}, {"nvidia.com/gpu": 1}),
        stop_notebook("research", "ada"),
    )
    return Advice(decision, Change(manifests, Runbook(("cordon", "drain"), ("uncordon",))))


def rejection(key, code="too_young"):
    return Rejection("idle_gpus", Subject(SubjectKind.WORKLOAD, key), code, "holds GPUs for 2.0 days")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "folder" / "state.sqlite"


@pytest.fixture
def state(path):
    with State(path) as opened:
        yield opened


def decided(state, *advice, rejections=()):
    run_id = state.start_run(WINDOW, "1.0", "abc")
    state.keep_advice(run_id, (), rejections, advice)
    state.keep_plan(run_id, {"totals": 1})
    return run_id


@pytest.mark.parametrize(
    "earlier",
    [
        NOON - timedelta(microseconds=1),
        NOON - timedelta(days=400),
        datetime(2026, 11, 30, 12, 30, tzinfo=timezone(timedelta(hours=5))),  # 07:30 UTC
    ],
)
def test_a_watermark_moves_only_forward(state, earlier):
    state.advance("bill", NOON)
    state.advance("bill", earlier)
    assert state.watermarks() == {"bill": NOON}


@pytest.mark.parametrize("later", [NOON + timedelta(microseconds=1), NOON + timedelta(seconds=1)])
def test_a_watermark_moves_forward(state, later):
    state.advance("bill", NOON)
    state.advance("bill", later)
    assert state.watermarks() == {"bill": later}


@given(instants=st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)), min_size=1, max_size=5))  # noqa: DTZ001
@settings(max_examples=25, deadline=None)
def test_a_watermark_is_the_latest_it_was_told(tmp_path_factory, instants):
    with State(tmp_path_factory.mktemp("state") / "s.sqlite") as state:
        for instant in instants:
            state.advance("bill", instant.replace(tzinfo=UTC))
        assert state.watermarks() == {"bill": max(instants).replace(tzinfo=UTC)}


def test_each_source_has_its_own_watermark(state):
    state.advance("b", NOON)
    state.advance("a", NOON - timedelta(days=1))
    assert list(state.watermarks().items()) == [("a", NOON - timedelta(days=1)), ("b", NOON)]


def test_an_instant_without_a_zone_is_refused(state):
    with pytest.raises(ValueError, match="has no time zone"):
        state.advance("bill", NOON.replace(tzinfo=None))


def test_runs_get_numbers_that_grow(state):
    assert [state.start_run(WINDOW, "1.0", "abc") for _ in range(3)] == [1, 2, 3]


def test_before_the_first_decision_there_is_no_latest_run(state):
    state.start_run(WINDOW, "1.0", "abc")
    assert state.latest_run() is None


def test_the_latest_run_is_the_newest_that_decided(state):
    decided(state)
    second = decided(state)
    state.start_run(WINDOW, "1.0", "abc")  # was cut off before it decided
    latest = state.latest_run()
    assert (latest.run_id, latest.window, latest.version, latest.config_fingerprint) == (second, WINDOW, "1.0", "abc")


def test_a_plan_is_never_overwritten(state):
    run_id = decided(state)
    with pytest.raises(sqlite3.IntegrityError):
        state.keep_plan(run_id, {"totals": 2})
    assert state.plan(run_id) == b'{"totals":1}'


def test_advice_comes_back_exactly_as_it_went_in(state):
    run_id = decided(state, advice())
    (read,) = state.advice(run_id)
    assert read == advice()
    assert read.decision.layouts[0].gpu_profiles == (("1g.10gb", "3g.40gb"), ())
    assert isinstance(read.decision.chosen[0].alternative.evidence, tuple)
    assert read.decision.step is Step.FIT
    assert read.decision.id == advice().decision.id


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    usd=st.floats(0, 1e12),
    threshold=st.none() | st.floats(-1e300, 1e300),
)
@settings(max_examples=30, deadline=None)
def test_any_text_and_any_number_come_back(tmp_path_factory, text, usd, threshold):
    base = advice()
    alternative = replace(SLICE, evidence=(replace(EVIDENCE[0], claim=text, threshold=threshold),))
    chosen = (Chosen(Subject(SubjectKind.WORKLOAD, text), alternative),)
    decision = replace(base.decision, chosen=chosen, formula=text, savings=SavingsRange(0.0, usd, usd))
    one = Advice(decision, Change((Manifest(text, {"kind": text}, {"kind": None}, text),), Runbook((text,), ())))
    with State(tmp_path_factory.mktemp("state") / "s.sqlite") as state:
        assert state.advice(decided(state, one)) == (one,)


def test_the_largest_saving_comes_first_and_ids_break_ties(state):
    subjects = [Subject(SubjectKind.POOL, f"prod/{name}") for name in "abc"]
    small, *equal = [advice(subject, usd) for subject, usd in zip(subjects, (2.0, 9.0, 9.0), strict=True)]
    expected = (*sorted(equal, key=lambda one: one.decision.id), small)
    assert state.advice(decided(state, small, *equal)) == expected
    assert state.advice(decided(state, *equal[::-1], small)) == expected


def test_rejections_come_back_by_subject(state):
    given = (rejection("prod/b"), rejection("prod/a", "busy"), rejection("prod/a"))
    assert state.rejections(decided(state, rejections=given)) == (given[1], given[2], given[0])


def test_later_runs_leave_earlier_ones_alone(state):
    first = decided(state, advice(expected=1.5), rejections=[rejection("prod/a")])
    decided(state, advice(expected=9.0))
    assert state.advice(first) == (advice(expected=1.5),)
    assert state.rejections(first) == (rejection("prod/a"),)


def test_advice_is_kept_whole_or_not_at_all(state):
    def breaks():
        yield rejection("prod/a")
        message = "evaluation broke"
        raise RuntimeError(message)

    run_id = state.start_run(WINDOW, "1.0", "abc")
    proposals = [Proposal("mig_consolidation", Step.FIT, SERVER, (SLICE,))]
    with pytest.raises(RuntimeError, match="evaluation broke"):
        state.keep_advice(run_id, proposals, breaks(), [advice()])
    assert (state.advice(run_id), state.rejections(run_id)) == ((), ())
    state.keep_advice(run_id, proposals, [rejection("prod/a")], [advice()])  # and the file can be written again
    assert state.advice(run_id) == (advice(),)


def test_failures_come_back_sorted(state):
    given = [SourceFailure("b", "x", "r"), SourceFailure("a", "y", "r"), SourceFailure("a", "x", "r")]
    run_id = state.start_run(WINDOW, "1.0", "abc")
    state.keep_failures(run_id, given)
    assert state.failures(run_id) == (given[2], given[1], given[0])
    assert state.failures(run_id + 1) == ()


def test_can_be_read_while_a_run_writes(state, path):
    first = decided(state, advice())

    def read_meanwhile():
        with State(path) as reader:
            assert reader.latest_run().run_id == first
            assert reader.advice(first) == (advice(),)
            assert reader.rejections(second) == ()
        yield rejection("prod/a")

    second = state.start_run(WINDOW, "1.0", "abc")
    state.keep_advice(second, (), read_meanwhile(), ())
    assert state.rejections(second) == (rejection("prod/a"),)


def test_what_was_written_is_there_after_it_is_opened_again(path):
    with State(path) as state:
        run_id = decided(state, advice())
        state.advance("bill", NOON)
    with State(path) as state:
        assert state.watermarks() == {"bill": NOON}
        assert state.advice(run_id) == (advice(),)
