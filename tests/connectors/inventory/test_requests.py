"""What a pod holds in effect: max(init, sum of the rest), told container by container."""

from connectors.inventory.requests import ContainerRequest, Role, effective_requests


def asks(container, role=Role.MAIN, **quantities):
    return ContainerRequest(container, role, quantities)


def held(*containers):
    return [(part.container, part.resource, part.quantity) for part in effective_requests(containers)]


def test_main_containers_keep_their_own_rows():
    assert held(asks("a", gpu=1.0, cpu=2.0), asks("b", gpu=2.0)) == [
        ("a", "cpu", 2.0),
        ("a", "gpu", 1.0),
        ("b", "gpu", 2.0),
    ]


def test_a_small_init_container_adds_nothing():
    assert held(asks("load", Role.INIT, gpu=1.0), asks("serve", gpu=1.0)) == [("serve", "gpu", 1.0)]


def test_a_larger_init_container_adds_its_surplus_only():
    # max(4, 1 + 1) = 4 = 1 + 1 + 2
    assert held(asks("build", Role.INIT, gpu=4.0), asks("a", gpu=1.0), asks("b", gpu=1.0)) == [
        ("a", "gpu", 1.0),
        ("b", "gpu", 1.0),
        ("build", "gpu", 2.0),
    ]


def test_a_sidecar_runs_along_and_is_added():
    assert held(asks("proxy", Role.SIDECAR, cpu=0.5), asks("a", cpu=1.0)) == [("proxy", "cpu", 0.5), ("a", "cpu", 1.0)]


def test_an_init_container_stands_on_the_sidecars_started_before_it():
    # max(main 1 + sidecars 2, init 2 + first sidecar 1 = 3) = 3: no surplus; a second init of 2 on both sidecars: 4
    early = asks("early", Role.INIT, cpu=2.0)
    first, second = asks("s1", Role.SIDECAR, cpu=1.0), asks("s2", Role.SIDECAR, cpu=1.0)
    late = asks("late", Role.INIT, cpu=2.0)
    main = asks("main", cpu=1.0)
    assert ("early", "cpu", 1.0) not in held(first, early, second, main)
    assert held(first, early, second, late, main)[-1] == ("late", "cpu", 1.0)


def test_zero_is_no_request_and_sums_of_decimals_make_no_surplus():
    assert held(asks("i", Role.INIT, cpu=0.3), asks("a", cpu=0.1), asks("b", cpu=0.2), asks("c", gpu=0.0)) == [
        ("a", "cpu", 0.1),
        ("b", "cpu", 0.2),
    ]
