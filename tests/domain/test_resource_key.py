"""Bills and Kubernetes name a machine differently; the key is one."""

import pytest

from models.domain.resource_key import resource_key


@pytest.mark.parametrize(
    ("in_the_bill", "provider_id"),
    [
        ("i-0123456789abcdef0", "aws:///us-east-1a/i-0123456789abcdef0"),
        ("arn:aws:ec2:us-east-1:123456789012:instance/i-0123456789abcdef0", "aws:///us-east-1a/i-0123456789abcdef0"),
        ("i-1a2b3c4d", "aws:///eu-west-1b/i-1a2b3c4d"),
        (
            "//compute.googleapis.com/projects/ml-prod/zones/us-central1-a/instances/gke-a3-0",
            "gce://ml-prod/us-central1-a/gke-a3-0",
        ),
        (
            "/subscriptions/1111/resourceGroups/MC_rg/providers/Microsoft.Compute/virtualMachines/aks-gpu-0",
            "azure:///subscriptions/1111/resourceGroups/mc_rg/providers/Microsoft.Compute/virtualMachines/aks-gpu-0",
        ),
        ("ocid1.instance.oc1.phx.ABCdef", "ocid1.instance.oc1.phx.abcdef"),
        ("ocid1.instance.oc1.phx.abcdef", "oci://ocid1.instance.oc1.phx.abcdef"),
        ("rack-7/gpu-3", "Rack-7/GPU-3 "),
    ],
)
def test_a_machine_has_one_key_in_both_places(in_the_bill, provider_id):
    assert resource_key(in_the_bill) == resource_key(provider_id)


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_no_name_gives_no_key(nothing):
    assert resource_key(nothing) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("i-0123456789abcdef0", "i-0123456789abcdef1"),
        ("gce://p/z/a", "gce://p/z/b"),
        ("arn:aws:ec2:us-east-1:1:volume/vol-0123456789abcdef0", "i-0123456789abcdef0"),
        ("gce://p/us-central1-a/a", "gce://p/us-central1-b/a"),
    ],
)
def test_different_things_have_different_keys(one, other):
    assert resource_key(one) != resource_key(other)


def test_a_key_is_its_own_key():
    for name in ("aws:///a/i-1a2b3c4d", "gce://p/z/n", "/subscriptions/S/x", "oci://ocid1.x"):
        key = resource_key(name)
        assert resource_key(key) == key
