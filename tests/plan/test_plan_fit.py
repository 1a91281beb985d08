import pytest

from models.domain.recommendation import Alternative, Demand, Proposal, Risk, Step, Subject, SubjectKind


def only(plan):
    assert len(plan.decisions) == 1
    return plan.decisions[0]


def codes(plan):
    return {rejection.subject.key.rsplit("/", 1)[-1]: rejection.code for rejection in plan.rejections}


def reason(plan, workload):
    return next(one.reason for one in plan.rejections if one.subject.key.endswith(f"/{workload}"))


def profiles(decision):
    return sorted(profile for layout in decision.layouts for gpu in layout.gpu_profiles for profile in gpu)


def test_cuts_one_node_of_two_and_releases_the_other(marts, slices):
    marts.node("n1").node("n2").hold("a", "n1", pods=8).hold("b", "n2", pods=8)
    decision = only(marts.plan(slices("a"), slices("b")))
    assert decision.subject == Subject(SubjectKind.POOL, "c/p")
    assert [chosen.subject.key for chosen in decision.chosen] == ["c/ns/Deployment/a", "c/ns/Deployment/b"]
    assert decision.released_nodes == ("c/n2",)  # as many pods on each: the first by name stays
    assert decision.released_devices == 13.0  # 16 GPUs held, 16 slices on 3
    assert decision.savings.expected_usd_per_month == pytest.approx(7_300.0)
    assert len(decision.layouts[0].gpu_profiles) == 8  # every GPU of the node is named, five of them uncut
    assert profiles(decision) == ["1g.10gb"] * 16
    assert decision.notes == (
        "16 slices on 3 GPUs, proved optimal; first-fit-decreasing needs 3",
        "1 node converted, 1 node released; each pod on them restarts once",
    )


def test_keeps_the_node_with_most_pods_in_place(marts, slices):
    marts.node("n1").node("n2").hold("a", "n1", pods=3).hold("b", "n2", pods=8)
    assert only(marts.plan(slices("a"), slices("b"))).released_nodes == ("c/n1",)


def test_never_converts_a_node_that_somebody_holds_a_whole_gpu_of(marts, slices):
    marts.node("n1").node("n2").hold("a", "n1", pods=7).hold("train", "n1", 1).hold("b", "n2", pods=8)
    plan = marts.plan(slices("a"), slices("b"))
    assert plan.decisions == ()
    assert codes(plan) == {"a": "no_whole_node", "b": "no_whole_node"}
    assert reason(plan, "a") == (
        "node c/n1 stays whole: 1 of 8 devices are held by c/ns/Deployment/train (1), and a change of MIG mode "
        "would disturb it"
    )
    assert reason(plan, "b") == (
        "cut into slices, the pods on the 1 node of the pool that can be converted still need all of them, c/n2 too: "
        "no whole node is freed"
    )


def test_leaves_nodes_alone_that_free_no_further_node(marts, slices):
    marts.node("n1").node("n2").node("n3")
    marts.hold("a", "n1", pods=8).hold("b", "n2", pods=8).hold("large", "n3", pods=8)
    plan = marts.plan(slices("a"), slices("b"), slices("large", "7g.80gb"))
    assert {layout.node for layout in only(plan).layouts} == {"c/n1"}
    assert only(plan).released_nodes == ("c/n2",)
    assert codes(plan) == {"large": "no_whole_node"}
    assert reason(plan, "large") == "converting c/n3 too would free no further node"


def test_converts_nodes_that_share_a_workload_together(marts, slices):
    marts.node("n1").node("n2").node("n3")
    marts.hold("a", "n1", pods=4).hold("a", "n3", pods=8).hold("b", "n2", pods=8)
    decision = only(marts.plan(slices("a"), slices("b")))
    assert decision.released_nodes == ("c/n1", "c/n3")  # 20 slices on 3 GPUs; n2 is the first with eight pods
    assert {layout.node for layout in decision.layouts} == {"c/n2"}


def test_takes_in_a_workload_that_also_sits_on_a_node_that_stays_whole(marts, slices):
    marts.node("n1").node("n2").node("n3")
    marts.hold("a", "n1", pods=8).hold("a", "n2").hold("train", "n2", 7).hold("b", "n3", pods=8)
    decision = only(marts.plan(slices("a"), slices("b")))
    assert decision.released_nodes == ("c/n3",)
    assert profiles(decision) == ["1g.10gb"] * 17
    assert decision.released_devices == 14.0  # 17 held, 17 slices on 3 GPUs


def test_keeps_as_many_nodes_as_the_pods_need_cpu_for(marts, slices):
    # 96 vCPU less 10 % = 86.4: seven pods of 12 vCPU fit on a node, 16 pods need three
    marts.node("n1").node("n2").node("n3").node("n4")
    marts.hold("a", "n1", pods=4, vcpu=12).hold("b", "n2", pods=4, vcpu=12)
    marts.hold("c", "n3", pods=4, vcpu=12).hold("d", "n4", pods=4, vcpu=12)
    plan = marts.plan(*(slices(name) for name in "abcd"))
    assert len(only(plan).released_nodes) == 1


def test_does_not_pack_more_onto_a_node_of_unknown_size_than_is_there_today(marts, slices):
    marts.node("n1", vcpu=None).node("n2", vcpu=None).hold("a", "n1", pods=8).hold("b", "n2", pods=4)
    assert codes(marts.plan(slices("a"), slices("b"))) == {"a": "no_whole_node", "b": "no_whole_node"}


def test_stops_waste_rather_than_fit_it(marts, stop, slices):
    marts.node("n1").node("n2").hold("idle", "n1", pods=8).hold("b", "n2", pods=8)
    plan = marts.plan(slices("idle"), slices("b"), stop("idle"))
    assert only(plan).recommender == "idle_gpus"
    assert {(one.recommender, one.code) for one in plan.rejections} == {
        ("mig_consolidation", "superseded"),
        ("mig_consolidation", "no_whole_node"),
    }


def test_stops_what_stands_in_the_way_of_a_cut(marts, stop, slices):
    # Stopping `idle` frees no node by itself, but only without it n1 can be cut.
    marts.node("n1").node("n2").hold("idle", "n1", pods=2).hold("a", "n1", pods=2).hold("b", "n2", pods=8)
    plan = marts.plan(stop("idle"), slices("a"), slices("b"))
    assert [decision.recommender for decision in plan.decisions] == ["idle_gpus", "mig_consolidation"]
    assert plan.totals.released_nodes == ("c/n1",)
    assert plan.totals.savings.expected_usd_per_month == pytest.approx(7_300.0)


def test_fits_what_is_too_risky_to_stop(marts, stop, slices):
    marts.node("n1").node("n2").hold("idle", "n1", pods=8).hold("b", "n2", pods=8)
    plan = marts.plan(stop("idle", risk=Risk.OUTAGE), slices("idle"), slices("b"), max_risk=Risk.SLOWER)
    assert [chosen.subject.key for chosen in only(plan).chosen] == ["c/ns/Deployment/b", "c/ns/Deployment/idle"]
    assert codes(plan) == {"idle": "above_risk_ceiling"}


def test_shares_a_node_between_who_stopped_and_who_was_cut_out_of_the_way(marts, stop, slices):
    marts.node("n1").node("n2").hold("idle", "n1", 4).hold("a", "n1", pods=4).hold("b", "n2", pods=8)
    plan = marts.plan(stop("idle"), slices("a"), slices("b"))
    stopped, cut = plan.decisions
    # 12 pods, 12 slices on 2 GPUs: 10 devices by cutting, 4 by stopping; 7,300 x 4/14 and x 10/14
    assert stopped.savings.expected_usd_per_month == pytest.approx(7_300.0 * 4 / 14)
    assert cut.savings.expected_usd_per_month == pytest.approx(7_300.0 * 10 / 14)
    assert stopped.released_nodes == cut.released_nodes == ("c/n1",)
    assert [step.savings.expected_usd_per_month for step in plan.waterfall] == pytest.approx(
        [7_300.0 * 4 / 14, 7_300.0 * 10 / 14]
    )


def test_lets_run_on_what_makes_no_room_that_is_needed(marts, stop, slices):
    # n1 and n2 are cut with or without `idle`, which sits on n3 with somebody who stays.
    marts.node("n1").node("n2").node("n3").hold("a", "n1", pods=8).hold("b", "n2", pods=8)
    marts.hold("idle", "n3", 4).hold("train", "n3", 4)
    plan = marts.plan(stop("idle"), slices("a"), slices("b"))
    assert only(plan).recommender == "mig_consolidation"
    assert codes(plan) == {"idle": "no_whole_node"}
    assert reason(plan, "idle") == "node c/n3 stays: 4 of 8 devices stay held by c/ns/Deployment/train (4)"


def test_prices_the_cut_on_what_waste_leaves(marts, stop, slices):
    # 4 nodes, 40 USD/h, 20 covered. Stopping saves 10 of the 20 on demand; the cut saves the other 10.
    marts.node("n1").node("n2").node("n3").node("n4").committed(12.0, {"big|r": 0.6})
    marts.hold("idle", "n1", 8).hold("a", "n2", pods=8).hold("b", "n3", pods=8).hold("train", "n4", 8)
    plan = marts.plan(stop("idle"), slices("a"), slices("b"))
    waste, fit = plan.decisions
    assert waste.savings.expected_usd_per_month == pytest.approx(7_300.0)
    assert fit.savings.expected_usd_per_month == pytest.approx(7_300.0)
    assert "1,680.00 USD on demand before, 0.00 after" in fit.formula  # 10 x 168 left by the first step
    assert plan.waterfall[-1].bill_after_usd_per_month == pytest.approx(12.0 * 730)  # the commitment alone


def test_takes_the_next_profile_where_the_first_is_too_risky(marts, slices):
    marts.node("n1").node("n2").hold("a", "n1", pods=8).hold("b", "n2", pods=8)
    choices = tuple(
        Alternative(f"slice {name}", Demand(0.0, name), "c/p", 1, risk, ())
        for name, risk in (("1g.10gb", Risk.OUTAGE), ("2g.20gb", Risk.SLOWER))
    )
    careful = Proposal("mig_consolidation", Step.FIT, Subject(SubjectKind.WORKLOAD, "c/ns/Deployment/a"), choices)
    decision = only(marts.plan(careful, slices("b"), max_risk=Risk.SLOWER))
    assert profiles(decision) == ["1g.10gb"] * 8 + ["2g.20gb"] * 8
    assert "slice 1g.10gb left out: its risk is outage, the ceiling is slower" in decision.notes


@pytest.mark.parametrize(
    ("model", "profile", "code"), [("Tesla T4", "1g.10gb", "unknown_board"), (None, "1g.99gb", "unknown_profile")]
)
def test_says_what_the_board_cannot_do(marts, slices, model, profile, code):
    marts.node("n1", **({"model": model} if model else {})).hold("a", "n1", pods=8)
    assert codes(marts.plan(slices("a", profile))) == {"a": code}


def test_does_not_cut_a_workload_that_spans_pools(marts, slices):
    marts.node("n1").node("n2", pool="q").hold("a", "n1", pods=4).hold("a", "n2", pods=4)
    assert codes(marts.plan(slices("a"))) == {"a": "spans_pools"}


def test_cuts_each_gpu_model_of_a_pool_by_itself(marts, slices):
    marts.node("n1").node("n2").hold("a", "n1", pods=8).hold("b", "n2", pods=8)
    marts.node("n3", model="NVIDIA H100 80GB HBM3").node("n4", model="NVIDIA H100 80GB HBM3")
    marts.hold("d", "n3", pods=8).hold("e", "n4", pods=8)
    plan = marts.plan(*(slices(name) for name in "abde"))
    assert [decision.subject.key for decision in plan.decisions] == [
        "c/p (NVIDIA A100-SXM4-80GB)",
        "c/p (NVIDIA H100 80GB HBM3)",
    ]
    assert len({decision.id for decision in plan.decisions}) == 2


def test_lets_every_workload_of_a_cut_that_saves_too_little_know(marts, slices):
    marts.node("n1").node("n2").hold("a", "n1", pods=8).hold("b", "n2", pods=8)
    plan = marts.plan(slices("a"), slices("b"), min_usd_per_month=10_000.0)
    assert codes(plan) == {"a": "below_minimum", "b": "below_minimum"}
