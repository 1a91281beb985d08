"""Where providers part from FOCUS: what is mended, and what is only told."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from connectors.billing.focus.columns import Cells
from connectors.billing.focus.control_totals import exact_sum
from connectors.billing.focus.findings import Findings
from connectors.raw_tables import MONEY

_ABSURD = Decimal(1_000_000_000)  # one charge row; the largest cloud contracts are that much in years
_TOLERATED_RATIO = 0.01
_TOLERATED_AMOUNT = 0.01
_NUMBER = pa.float64()  # these rules ask "is it far off?"; no float is stored


def without_false_zeros(cost: pa.Table, findings: Findings) -> pa.Table:
    """
    Return the charges with Azure's zeros for "not said" taken out of ListCost and ContractedCost.

    Azure writes 0 there on usage covered by a commitment; a row that costs nothing at all keeps its zeros.
    Source: microsoft/finops-toolkit#1835, #2307.
    """
    provider = pc.fill_null(cost.column("ServiceProviderName"), "")
    is_azure = pc.match_substring_regex(provider, "(?i)microsoft|azure")
    is_covered = _all(is_azure, _is(cost, "ChargeCategory", "Usage"), pc.is_valid(cost.column("CommitmentDiscountId")))
    costs_something = pc.or_(_is_not_zero(cost, "BilledCost"), _is_not_zero(cost, "EffectiveCost"))
    for name in ("ListCost", "ContractedCost"):
        is_false = _all(is_covered, costs_something, _is_zero(cost, name))
        findings.add(
            "false_zero",
            f"{name} is 0 on usage covered by a commitment, though it costs something; taken for unknown",
            _count(is_false),
        )
        index = cost.column_names.index(name)
        mended = pc.if_else(is_false, pa.scalar(None, MONEY), cost.column(name))
        cost = cost.set_column(index, cost.schema.field(index), mended)
    return cost


def tell_of_deviations(cost: pa.Table, cells: Cells, unit_prices: pa.Array, findings: Findings) -> None:
    """Note what the charges say that cannot be quite right; nothing is changed."""
    _tell_of_absurd_amounts(cost, findings)
    _tell_of_implausible_effective_cost(cost, findings)
    _tell_of_effective_cost_on_purchases(cost, findings)
    _tell_of_reversed_periods(cost, findings)
    if cells.has("ListUnitPrice"):
        _tell_of_list_cost(cost, unit_prices, findings)


def _tell_of_absurd_amounts(cost: pa.Table, findings: Findings) -> None:
    for name in ("BilledCost", "EffectiveCost"):
        is_absurd = pc.greater_equal(pc.abs(cost.column(name)), pa.scalar(_ABSURD, MONEY))
        largest = pc.min_max(cost.column(name).filter(is_absurd))
        findings.add(
            "absurd_amount",
            f"{name} of single charges reaches {largest['min']} to {largest['max']}; loaded as it is, check the export",
            _count(is_absurd),
            exact_sum(cost.column(name).filter(is_absurd)),
        )


def _tell_of_implausible_effective_cost(cost: pa.Table, findings: Findings) -> None:
    """Without a commitment or prepayment the two costs of usage are the same (FOCUS, EffectiveCost)."""
    is_plain = _all(
        _is(cost, "ChargeCategory", "Usage"),
        pc.is_null(cost.column("CommitmentDiscountId")),
        pc.is_null(cost.column("ChargeClass")),
        _is_not_zero(cost, "BilledCost"),
        pc.is_valid(cost.column("EffectiveCost")),
    )
    rows = cost.filter(is_plain)
    billed, effective = (rows.column(name) for name in ("BilledCost", "EffectiveCost"))
    differs = pc.subtract(effective.cast(_NUMBER), billed.cast(_NUMBER))
    apart, size = (_absolute_sum(amounts) for amounts in (differs, billed.cast(_NUMBER)))
    if apart <= max(_TOLERATED_AMOUNT, _TOLERATED_RATIO * size):
        return
    odd = effective.filter(pc.not_equal(effective, billed))
    is_whole = pc.all(pc.equal(pc.round(odd), odd)).as_py()
    reason = "it is rounded to whole numbers" if is_whole else "the two differ without a commitment"
    findings.add(
        "effective_cost_implausible",
        f"EffectiveCost of usage without a commitment adds up to {exact_sum(effective):f}, BilledCost to "
        f"{exact_sum(billed):f}: {reason}; do not trust amortised costs of this file",
        len(odd),
        abs((exact_sum(effective) or Decimal(0)) - (exact_sum(billed) or Decimal(0))),
    )


def _tell_of_effective_cost_on_purchases(cost: pa.Table, findings: Findings) -> None:
    """microsoft/finops-toolkit#1092: a commitment is counted once, on the usage it covers."""
    is_doubled = _all(
        _is(cost, "ChargeCategory", "Purchase"),
        pc.is_valid(cost.column("CommitmentDiscountId")),
        _is_not_zero(cost, "EffectiveCost"),
    )
    findings.add(
        "effective_cost_on_purchase",
        "purchases of commitments have an EffectiveCost, which FOCUS puts on the usage they cover; amortised cost may "
        "be counted twice",
        _count(is_doubled),
        exact_sum(cost.column("EffectiveCost").filter(is_doubled)),
    )


def _tell_of_reversed_periods(cost: pa.Table, findings: Findings) -> None:
    for what in ("ChargePeriod", "BillingPeriod"):
        is_reversed = pc.less(cost.column(f"{what}End"), cost.column(f"{what}Start"))
        findings.add("period_reversed", f"{what}End lies before {what}Start; check the export", _count(is_reversed))


def _tell_of_list_cost(cost: pa.Table, unit_prices: pa.Array, findings: Findings) -> None:
    """FOCUS: ListCost = ListUnitPrice x PricingQuantity, but on corrections."""
    listed = cost.column("ListCost").cast(_NUMBER)
    product = pc.multiply(unit_prices.cast(_NUMBER), cost.column("PricingQuantity").cast(_NUMBER))
    tolerated = pc.max_element_wise(pc.multiply(pc.abs(listed), _TOLERATED_RATIO), _TOLERATED_AMOUNT)
    is_off = _all(pc.is_null(cost.column("ChargeClass")), pc.greater(pc.abs(pc.subtract(listed, product)), tolerated))
    findings.add(
        "list_cost_implausible",
        "ListCost is not ListUnitPrice times PricingQuantity (a price per block of units is a known reason); "
        "ListCost is taken as it is",
        _count(is_off),
        exact_sum(cost.column("ListCost").filter(is_off)),
    )


def _is(cost: pa.Table, name: str, value: str) -> pa.ChunkedArray:
    return pc.equal(cost.column(name), value)


def _is_zero(cost: pa.Table, name: str) -> pa.ChunkedArray:
    return pc.equal(cost.column(name), pa.scalar(Decimal(0), MONEY))


def _is_not_zero(cost: pa.Table, name: str) -> pa.ChunkedArray:
    return pc.fill_null(pc.not_equal(cost.column(name), pa.scalar(Decimal(0), MONEY)), fill_value=False)


def _all(*masks: pa.ChunkedArray) -> pa.ChunkedArray:
    together = masks[0]
    for mask in masks[1:]:
        together = pc.and_(together, mask)
    return pc.fill_null(together, fill_value=False)


def _absolute_sum(amounts: pa.ChunkedArray) -> float:
    return float(pc.sum(pc.abs(amounts), min_count=0).as_py())  # of no rows: 0, which is no amount of money


def _count(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask).as_py() or 0)
