from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.packing.nodes import Host, SlicePod, spread

SEVEN = ("1g.10gb",) * 7


def host(key, gpus=8, vcpu=100.0, memory_gib=1000.0):
    return Host(key, gpus, vcpu, memory_gib)


def pods(count, name="p", home="n1", **needs):
    need = {"profile": "1g.10gb", "vcpu": 1.0, "memory_gib": 1.0} | needs
    return [SlicePod(f"{name}{number:03d}", home=home, **need) for number in range(count)]


def nodes_of(cut):
    return Counter(cut.node_by_pod.values())


def test_uses_the_first_node_when_all_fits_there():
    cut = spread([SEVEN, SEVEN], [host("n1"), host("n2")], pods(14))
    assert [layout.node for layout in cut.layouts] == ["n1"]
    assert cut.layouts[0].gpu_profiles == (SEVEN, SEVEN, (), (), (), (), (), ())
    assert nodes_of(cut) == {"n1": 14}


def test_adds_a_node_when_the_gpus_do_not_fit_on_one():
    cut = spread([SEVEN] * 3, [host("n1", gpus=2), host("n2", gpus=2)], pods(21))
    assert sorted(len(layout.gpu_profiles) for layout in cut.layouts) == [2, 2]
    assert nodes_of(cut) == {"n1": 14, "n2": 7}


def test_adds_a_node_when_the_cpus_do_not_suffice():
    # 14 pods of 10 vCPU need 140: two nodes of 100
    cut = spread([SEVEN, SEVEN], [host("n1"), host("n2"), host("n3")], pods(14, vcpu=10.0))
    assert nodes_of(cut) == {"n1": 7, "n2": 7}


def test_adds_a_node_when_the_memory_does_not_suffice():
    cut = spread([SEVEN, SEVEN], [host("n1"), host("n2"), host("n3")], pods(14, memory_gib=100.0))
    assert nodes_of(cut) == {"n1": 7, "n2": 7}


def test_leaves_gpus_half_cut_where_the_cpus_of_a_node_bind():
    # Seven pods of 20 vCPU: five fit on a node, though one GPU has slices for all
    cut = spread([SEVEN], [host("n1"), host("n2")], pods(7, vcpu=20.0))
    assert sorted(nodes_of(cut).values()) in ([2, 5], [3, 4])


def test_keeps_no_node_without_a_pod():
    cut = spread([SEVEN], [host("small", vcpu=1.0), host("n2")], pods(7, home="n3"))
    assert [layout.node for layout in cut.layouts] == ["n2"]


def test_says_none_when_the_pods_fit_nowhere():
    assert spread([SEVEN], [host("n1"), host("n2")], pods(1, vcpu=101.0)) is None


def test_says_none_when_there_are_too_few_gpus():
    assert spread([SEVEN] * 3, [host("n1", gpus=1), host("n2", gpus=1)], pods(21)) is None


def test_leaves_pods_on_their_node_where_it_is_kept():
    at_home = pods(7, home="n2", name="h")
    cut = spread([SEVEN, SEVEN], [host("n1", gpus=1), host("n2", gpus=1)], [*pods(7, home="n3"), *at_home])
    assert {cut.node_by_pod[pod.pod] for pod in at_home} == {"n2"}


def test_gives_every_pod_a_slice_of_its_own_profile():
    large = pods(2, profile="3g.40gb", name="l")
    cut = spread([("3g.40gb", "3g.40gb"), SEVEN], [host("n1", gpus=1), host("n2", gpus=1)], [*large, *pods(7)])
    assert len({cut.node_by_pod[pod.pod] for pod in large}) == 1
    assert nodes_of(cut) == {"n1": 7, "n2": 2}


def test_moves_a_pod_from_home_rather_than_take_another_node():
    # Staying home, the two small pods would leave no node with 9 vCPU for the large one.
    homes = [SlicePod("a", "1g.10gb", "n1", 2.0, 1.0), SlicePod("b", "1g.10gb", "n2", 2.0, 1.0)]
    large = SlicePod("c", "1g.10gb", "n3", 9.0, 1.0)
    hosts = [host("n1", gpus=1, vcpu=10.0), host("n2", gpus=1, vcpu=10.0), host("n3", gpus=1, vcpu=10.0)]
    cut = spread([("1g.10gb",) * 2, ("1g.10gb",)], hosts, [*homes, large])
    assert len(cut.layouts) == 2
    assert cut.node_by_pod["c"] != cut.node_by_pod["a"] == cut.node_by_pod["b"]


HOSTS = st.lists(st.tuples(st.integers(1, 4), st.floats(1, 40), st.floats(1, 200)), min_size=1, max_size=5)
PODS = st.lists(
    st.tuples(st.sampled_from(["1g", "3g"]), st.integers(0, 4), st.floats(0, 12), st.floats(0, 60)), max_size=20
)


@settings(max_examples=80, deadline=None)
@given(machines=HOSTS, wanted=PODS, order=st.randoms(use_true_random=False))
def test_never_overfills_a_node_and_ignores_the_order_of_pods(machines, wanted, order):
    hosts = [host(f"n{number}", *machine) for number, machine in enumerate(machines)]
    needs = [SlicePod(f"p{number}", profile, f"n{home}", *rest) for number, (profile, home, *rest) in enumerate(wanted)]
    counts = Counter(pod.profile for pod in needs)
    gpus = [("1g",) * size for size in chunks(counts["1g"], 7)] + [("3g",) * size for size in chunks(counts["3g"], 2)]
    cut = spread(gpus, hosts, needs)
    assert cut == spread(order.sample(gpus, len(gpus)), hosts, order.sample(needs, len(needs)))
    if cut is None:
        return
    assert set(cut.node_by_pod) == {pod.pod for pod in needs}
    for layout in cut.layouts:
        machine = next(one for one in hosts if one.key == layout.node)
        here = [pod for pod in needs if cut.node_by_pod[pod.pod] == machine.key]
        slots = Counter(profile for gpu in layout.gpu_profiles for profile in gpu)
        assert len(layout.gpu_profiles) == machine.gpu_count
        assert here
        assert all(count <= slots[profile] for profile, count in Counter(pod.profile for pod in here).items())
        assert sum(pod.vcpu for pod in here) <= machine.vcpu * (1 + 1e-9)
        assert sum(pod.memory_gib for pod in here) <= machine.memory_gib * (1 + 1e-9)


def chunks(count, size):
    return [min(size, count - start) for start in range(0, count, size)]
