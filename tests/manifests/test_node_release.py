from optimizer.manifests.node_release import release_runbook


def test_nobody_loses_a_pod_before_the_node_takes_no_more():
    runbook = release_runbook(["prod/n1"])
    assert [step.split("  #")[0] for step in runbook.steps[:3]] == [
        "kubectl --context prod cordon n1",
        "kubectl --context prod get pods -A --field-selector spec.nodeName=n1",
        "kubectl --context prod drain n1 --ignore-daemonsets --delete-emptydir-data",
    ]
    assert runbook.steps[3].startswith("Take prod/n1 out of its node pool")


def test_every_node_can_be_taken_again():
    runbook = release_runbook(["prod/n2", "prod/n1"])
    assert [word in step for word, step in zip(("prod/n1", "prod/n2"), runbook.undo_steps, strict=True)] == [True, True]


def test_the_order_of_nodes_does_not_matter():
    assert release_runbook(["c/b", "c/a"]) == release_runbook(["c/a", "c/b"])


def test_no_nodes_need_no_steps():
    assert (release_runbook([]).steps, release_runbook([]).undo_steps) == ((), ())


def test_a_cluster_may_have_slashes_in_its_name():
    first = release_runbook(["arn:aws:eks:x:1:cluster/prod/ip-10-0-0-1.ec2.internal"]).steps[0]
    assert first == "kubectl --context arn:aws:eks:x:1:cluster/prod cordon ip-10-0-0-1.ec2.internal"


def test_a_name_cannot_smuggle_in_a_command():
    first = release_runbook(["prod/n1; reboot"]).steps[0]
    assert first == "kubectl --context prod cordon 'n1; reboot'"
