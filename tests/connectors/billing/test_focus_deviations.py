"""Where providers part from FOCUS."""

from decimal import Decimal

import pytest

COVERED = {
    "CommitmentDiscountId": "ri-1",
    "CommitmentDiscountStatus": "Used",
    "BilledCost": "0",
    "EffectiveCost": "1.2",
}
ZEROS = {"ListCost": "0", "ContractedCost": "0.0"}


def test_takes_azure_zeros_on_committed_usage_for_unknown(read_charges):
    loaded = read_charges({**COVERED, **ZEROS, "ServiceProviderName": "Microsoft"})
    assert (loaded.column("ListCost"), loaded.column("ContractedCost")) == ([None], [None])
    assert "ListCost is 0 on usage covered by a commitment" in loaded.message("false_zero")


@pytest.mark.parametrize(
    "genuine",
    [
        {"EffectiveCost": "0"},  # costs nothing at all
        {"CommitmentDiscountId": "", "EffectiveCost": "0"},  # free tier
        {"ChargeCategory": "Purchase", "EffectiveCost": "0", "BilledCost": "9"},
        {"ServiceProviderName": "AWS"},
    ],
)
def test_leaves_genuine_zeros_alone(read_charges, genuine):
    loaded = read_charges({**COVERED, **ZEROS, "ServiceProviderName": "Microsoft", **genuine})
    assert (loaded.column("ListCost"), loaded.column("ContractedCost")) == ([Decimal(0)], [Decimal(0)])
    assert "false_zero" not in loaded.codes


def test_tells_of_an_effective_cost_rounded_to_whole_numbers(read_charges):
    loaded = read_charges({"BilledCost": "1.62", "EffectiveCost": "2"}, {"BilledCost": "0.48", "EffectiveCost": "0"})
    message = loaded.message("effective_cost_implausible")
    assert "adds up to 2.000000000000000, BilledCost to 2.100000000000000" in message  # 2 + 0; 1.62 + 0.48
    assert "it is rounded to whole numbers" in message


@pytest.mark.parametrize(
    "sound",
    [
        COVERED,  # amortised: billed on the purchase
        {"BilledCost": "0", "EffectiveCost": "490"},  # prepaid tokens
        {"ChargeCategory": "Purchase", "BilledCost": "8760", "EffectiveCost": "0", "CommitmentDiscountId": "sp-1"},
        {"ChargeClass": "Correction", "BilledCost": "-5", "EffectiveCost": "0"},
        {"EffectiveCost": ""},
    ],
)
def test_finds_nothing_implausible_where_the_costs_differ_for_a_reason(read_charges, sound):
    assert "effective_cost_implausible" not in read_charges(sound, {}).codes


def test_tells_of_a_purchase_of_a_commitment_that_has_an_effective_cost(read_charges):
    bought = {"ChargeCategory": "Purchase", "CommitmentDiscountId": "sp-1", "BilledCost": "10", "EffectiveCost": "10"}
    loaded = read_charges(bought)
    (finding,) = [each for each in loaded.findings if each["code"] == "effective_cost_on_purchase"]
    assert (finding["occurrences"], finding["usd"]) == (1, Decimal(10))


def test_tells_of_a_list_cost_that_is_not_price_times_quantity(read_charges):
    priced = {"ListUnitPrice": "3", "PricingQuantity": "2"}
    loaded = read_charges({**priced, "ListCost": "6"}, {**priced, "ListCost": "3"}, {**priced, "ListCost": "6.005"})
    (finding,) = [each for each in loaded.findings if each["code"] == "list_cost_implausible"]
    assert (finding["occurrences"], finding["usd"]) == (1, Decimal(3))
    assert loaded.column("ListCost") == [Decimal(6), Decimal(3), Decimal("6.005")]


def test_names_no_dollars_for_a_bill_in_euros(read_charges):
    loaded = read_charges({"BillingCurrency": "EUR", "BilledCost": "2000000000", "EffectiveCost": "1"})
    assert {each["usd"] for each in loaded.findings} == {None}


def test_takes_the_subcategory_where_azure_leaves_the_service_empty(read_charges):
    loaded = read_charges({"ServiceName": "", "x_SkuMeterSubcategory": "Reservation-VM"})
    assert loaded.column("ServiceName") == ["Reservation-VM"]


@pytest.mark.parametrize(
    ("said", "instance_type"),
    [
        ({"SkuPriceDetails": '{"InstanceType":"p5.48xlarge"}'}, "p5.48xlarge"),
        ({"SkuPriceDetails": '{"InstanceType":"BM.GPU.H100.8"}'}, "BM.GPU.H100.8"),
        ({"x_SkuDetails": '{"ServiceType":"Standard_ND96isr_H100_v5"}'}, "Standard_ND96isr_H100_v5"),
        ({"Tags": '{"compute.googleapis.com/machine_spec":"a2-ultragpu-1g"}'}, "a2-ultragpu-1g"),
        ({"SkuMeter": "USE2-BoxUsage:p5.48xlarge"}, "p5.48xlarge"),
        ({"SkuMeter": "USW2-Host:ml.g5.xlarge"}, "ml.g5.xlarge"),
        ({"x_UsageType": "EUW1-SpotUsage:p6-b200.48xlarge"}, "p6-b200.48xlarge"),
        ({"ChargeDescription": "p4d.24xlarge Linux/UNIX Spot Instance-hour in US East (N. Virginia)"}, "p4d.24xlarge"),
        ({"ChargeDescription": "$1.624 per On Demand Linux g5.4xlarge Instance Hour"}, "g5.4xlarge"),
        ({"ChargeDescription": "Linux/UNIX (Amazon VPC), m7i-flex.large reserved instance applied"}, "m7i-flex.large"),
        ({"SkuPriceDetails": '{"InstanceType":"all sizes"}'}, None),
        ({"SkuMeter": "USW2-EBSOptimized:p2.xlarge"}, None),
        ({"SkuMeter": "EBS:VolumeUsage.gp3"}, None),
        ({"SkuMeter": "Compute"}, None),
        ({"SkuId": "GPUXYZ", "ChargeDescription": "$0.09 per GB - first 10 TB / month data transfer out"}, None),
        ({"ChargeDescription": "Nvidia H100 80GB GPU running in Iowa"}, None),
    ],
)
def test_names_the_machine_only_where_the_bill_does(read_charges, said, instance_type):
    assert read_charges(said).column("x_instance_type") == [instance_type]
