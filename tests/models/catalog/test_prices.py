"""Prices are dated, and what is not known is no number."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from models.catalog.gpus import gpu_model
from models.catalog.instances import instance, instance_frame, instances
from models.catalog.price_invariants import broken_invariants, held_for_confirmation, stale
from models.catalog.prices import Price, PriceState, price, prices

COLLECTED_ON = date(2026, 11, 30)


def quote(item="g6.xlarge", usd_per_hour="0.8048", **changes):
    known = Price(
        "aws",
        "us-east-1",
        item,
        "node",
        "on_demand",
        Decimal(usd_per_hour),
        PriceState.KNOWN,
        date(2026, 7, 20),
        "test",
    )
    return replace(known, **changes)


def test_the_newest_price_counts():
    assert price("aws", "us-east-1", "p5.48xlarge").usd_per_hour == Decimal("55.04")


def test_an_older_day_has_the_older_price():
    assert price("aws", "us-east-1", "p5.48xlarge", as_of=date(2025, 6, 22)).usd_per_hour == Decimal("98.32")


def test_a_day_before_the_first_quote_has_none():
    assert price("aws", "us-east-1", "p5.48xlarge", as_of=date(2020, 1, 1)).state is PriceState.UNKNOWN


def test_a_region_is_never_lent_the_price_of_another():
    assert price("aws", "ap-northeast-1", "p5.48xlarge").state is PriceState.UNKNOWN


def test_a_machine_nobody_can_rent_on_demand_is_not_offered():
    quoted = price("aws", "us-east-1", "p5e.48xlarge")
    assert (quoted.state, quoted.usd_per_hour) == (PriceState.NOT_OFFERED, None)


def test_a_list_price_at_which_only_spot_can_be_bought_is_not_offered():
    assert price("gcp", "us-central1", "a3-highgpu-1g").state is PriceState.NOT_OFFERED


@pytest.mark.parametrize("usd_per_hour", ["0", "-0.1"])
def test_zero_is_never_a_price(usd_per_hour):
    with pytest.raises(ValueError, match=r"g6\.xlarge.*above zero"):
        quote(usd_per_hour=usd_per_hour)


def test_an_unknown_price_carries_no_figure():
    with pytest.raises(ValueError, match="any other has no figure"):
        quote(state=PriceState.UNKNOWN)


def test_each_component_has_one_price_since_a_split_needs_one():
    items = [one.item for one in prices() if one.kind == "component"]
    assert len(items) == len(set(items))
    assert {"vcpu", "memory_gib", "gpu:NVIDIA L4", "gpu:NVIDIA A10G"} <= set(items)


def test_a_gpu_without_component_price_is_unknown():
    assert price("gcp", "us-central1", "gpu:NVIDIA A10G").state is PriceState.UNKNOWN


def test_components_sum_to_the_node():
    # a2-highgpu-1g: 2.9339075 + 12 vCPU x 0.031611 + 85 GiB x 0.004237 = 2.9339075 + 0.379332 + 0.360145
    node = price("gcp", "us-central1", "a2-highgpu-1g").usd_per_hour
    assert abs(node - Decimal("3.6733845")) < Decimal("0.00001")
    assert price("gcp", "us-central1", "gpu:NVIDIA A100-SXM4-40GB").usd_per_hour == Decimal("2.9339075")
    assert price("gcp", "us-central1", "vcpu").usd_per_hour == Decimal("0.031611")
    assert price("gcp", "us-central1", "memory_gib").usd_per_hour == Decimal("0.004237")


def test_the_catalogue_breaks_no_invariant():
    assert broken_invariants(prices()) == ()


def test_the_one_step_that_had_to_be_confirmed_is_the_cut_of_june_2025():
    assert held_for_confirmation(prices()) == (
        "aws us-east-1 p5.48xlarge: 98.32 -> 55.04 USD/h on 2025-06-23",  # 1 - 55.04 / 98.32 = 44 %
    )


def test_no_price_is_from_the_future():
    assert max(one.priced_on for one in prices()) <= COLLECTED_ON


def test_an_old_price_is_called_stale():
    assert stale([quote()], date(2026, 10, 18)) == ()  # 90 days
    assert stale([quote()], date(2026, 10, 19)) == ("aws us-east-1 g6.xlarge: on_demand price of 2026-07-20",)


@pytest.mark.parametrize(
    "wrong",
    [
        [quote(usd_per_hour="0.0805")],  # a tenth: a unit error
        [quote("p5.48xlarge", "6.88")],  # the price of one GPU on a node of eight
        [quote("p5.48xlarge", "440.32")],  # the price of eight nodes
        [quote(), quote(purchase_option="spot", usd_per_hour="0.9")],  # Spot above on demand
        [quote(), quote(purchase_option="spot", usd_per_hour="0.01")],  # Spot at 1 %
        [quote(), quote(region="eu-west-1"), quote(region="sa-east-1", usd_per_hour="2.50")],  # 3.1 times the others
        [quote(), quote(usd_per_hour="0.81")],  # two prices on a day
    ],
)
def test_published_faults_are_seen(wrong):
    assert len(broken_invariants(wrong)) == 1


def test_machines_of_one_family_cost_the_same_per_gpu():
    # g2-standard-24 has two L4 on 24 vCPU and 96 GiB, g2-standard-12 one on 12 and 48.
    half = quote("g2-standard-12", "1.0", provider="gcp")
    fair, dear = quote("g2-standard-24", "2.0", provider="gcp"), quote("g2-standard-24", "3.0", provider="gcp")
    assert broken_invariants([half, fair]) == ()
    assert broken_invariants([half, dear]) == (
        "g2-standard in us-east-1: g2-standard-24 costs 1.50 per GPU, g2-standard-12 1.00",
    )


def test_every_machine_has_a_gpu_the_catalogue_knows():
    assert [one.instance_type for one in instances() if gpu_model(one.gpu_model) is None] == []


def test_every_machine_has_a_price_or_says_that_it_has_none():
    priced = {(one.provider, one.item) for one in prices()}
    assert [one.instance_type for one in instances() if (one.cloud, one.instance_type) not in priced] == []


def test_a_slice_of_a_gpu_is_not_a_gpu():
    assert instance("aws", "g6f.large").whole_gpus == 0.125


def test_azure_names_match_in_any_case():
    assert instance("azure", "standard_nc24ads_a100_v4").gpu_model == "NVIDIA A100 80GB PCIe"


def test_a_machine_nobody_knows_is_none():
    assert instance("aws", "m7i.large") is None


def test_the_frame_of_machines_has_one_row_each():
    assert instance_frame().height == len(instances()) == instance_frame().select("cloud", "instance_type").n_unique()
