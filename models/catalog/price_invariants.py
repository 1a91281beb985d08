"""What must hold of any set of prices; each rule would have caught a fault that was published somewhere."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise

from models.catalog.instances import Instance, instance
from models.catalog.prices import ON_DEMAND, Price, PriceState

MAX_AGE_DAYS_BY_OPTION = {ON_DEMAND: 90, "spot": 14}  # on demand moved once in 17 months, Spot every two weeks
MAX_CHANGE_RATIO = Decimal("0.35")  # a larger step is held for confirmation
REGION_BAND = (Decimal("0.5"), Decimal("2.5"))  # of the item's median region; China is priced apart
SPOT_FLOOR_RATIO = Decimal("0.05")  # a Spot price under it is a unit error
SIZE_TOLERANCE_RATIO = Decimal("0.40")

# USD per GPU hour, from the cheapest cloud to the dearest; a wrong SKU, unit or GPU count falls outside.
GPU_BANDS_USD_PER_HOUR = {
    "Tesla T4": (Decimal("0.1"), Decimal(2)),
    "NVIDIA L4": (Decimal("0.15"), Decimal(3)),
    "NVIDIA A100": (Decimal("0.5"), Decimal(9)),
    "NVIDIA H100": (Decimal(1), Decimal(20)),
    "NVIDIA B200": (Decimal(2), Decimal(35)),
}
HOST_USD_PER_VCPU_HOUR = Decimal("0.031611")  # as the catalogue's component prices
HOST_USD_PER_GIB_HOUR = Decimal("0.004237")


def broken_invariants(quotes: Sequence[Price]) -> tuple[str, ...]:
    """
    Return one sentence per price that cannot be right, sorted; empty when all hold.

    A wrong figure against state is refused earlier, by `Price` itself.

    Source: public faults collected in OpenCost, SkyPilot, Karpenter, gpuhunt and infracost issues.
    """
    known = [quote for quote in quotes if quote.state is PriceState.KNOWN]
    rules = (_bands, _sizes, _regions, _spot, _duplicates)
    return tuple(sorted(sentence for rule in rules for sentence in rule(known)))


def held_for_confirmation(quotes: Sequence[Price]) -> tuple[str, ...]:
    """Return one sentence per step between two dated prices that is too large to take unasked, sorted."""
    return tuple(
        sorted(
            f"{newer.provider} {newer.region} {newer.item}: {older.usd_per_hour} -> {newer.usd_per_hour} USD/h "
            f"on {newer.priced_on}"
            for series in _series(quotes).values()
            for older, newer in pairwise(series)
            if older.usd_per_hour is not None
            and newer.usd_per_hour is not None
            and abs(newer.usd_per_hour / older.usd_per_hour - 1) > MAX_CHANGE_RATIO
        )
    )


def stale(quotes: Sequence[Price], as_of: date) -> tuple[str, ...]:
    """Return one sentence per newest price older than its purchase option allows, sorted."""
    newest = [series[-1] for series in _series(quotes).values()]
    return tuple(
        sorted(
            f"{quote.provider} {quote.region} {quote.item}: {quote.purchase_option} price of {quote.priced_on}"
            for quote in newest
            if quote.priced_on is not None
            and (limit := MAX_AGE_DAYS_BY_OPTION.get(quote.purchase_option)) is not None
            and (as_of - quote.priced_on).days > limit
        )
    )


def _bands(known: Sequence[Price]) -> Iterator[str]:
    """Hold a GPU hour to the band: its host included against the floor, left out against the ceiling."""
    for quote, machine in _on_demand_machines(known):
        band = _band(machine.gpu_model)
        if band is None or quote.usd_per_hour is None:
            continue
        gpus = Decimal(machine.whole_gpus)
        usd_per_gpu, host_usd_per_gpu = quote.usd_per_hour / gpus, _host_usd_per_hour(machine) / gpus
        if usd_per_gpu < band[0] or usd_per_gpu - host_usd_per_gpu > band[1]:
            yield (
                f"{quote.item} in {quote.region}: {usd_per_gpu:.2f} USD per GPU hour with its host, "
                f"expected {band[0]} to {band[1] + host_usd_per_gpu:.2f}"
            )


def _sizes(known: Sequence[Price]) -> Iterator[str]:
    """Hold machines of one family that have as much host per GPU to one price per GPU."""
    families: dict[tuple[str, str, str, str], list[tuple[Decimal, str]]] = defaultdict(list)
    for quote, machine in _on_demand_machines(_newest(known)):
        if machine.vcpu is None or machine.memory_gib is None or quote.usd_per_hour is None:
            continue
        gpus = machine.whole_gpus
        host = f"{machine.vcpu / gpus:.0f} vCPU, {machine.memory_gib / gpus:.0f} GiB"
        key = (quote.provider, quote.region, _family(machine), host)
        families[key].append((quote.usd_per_hour / Decimal(gpus), quote.item))
    for key, members in families.items():
        (cheapest, cheap_item), (dearest, dear_item) = min(members), max(members)
        if dearest > cheapest * (1 + SIZE_TOLERANCE_RATIO):
            yield f"{key[2]} in {key[1]}: {dear_item} costs {dearest:.2f} per GPU, {cheap_item} {cheapest:.2f}"


def _regions(known: Sequence[Price]) -> Iterator[str]:
    by_item: dict[tuple[str, str, str], list[Price]] = defaultdict(list)
    for quote in _newest(known):
        if not quote.region.startswith("cn-"):
            by_item[quote.provider, quote.item, quote.purchase_option].append(quote)
    for same in by_item.values():
        prices = sorted(quote.usd_per_hour for quote in same if quote.usd_per_hour is not None)
        median = prices[len(prices) // 2]
        for quote in same:
            if quote.usd_per_hour is not None and not REGION_BAND[0] <= quote.usd_per_hour / median <= REGION_BAND[1]:
                yield f"{quote.item} in {quote.region}: {quote.usd_per_hour} USD/h, the median region has {median}"


def _spot(known: Sequence[Price]) -> Iterator[str]:
    newest = {(one.provider, one.region, one.item, one.purchase_option): one.usd_per_hour for one in _newest(known)}
    for (provider, region, item, option), usd_per_hour in newest.items():
        on_demand = newest.get((provider, region, item, ON_DEMAND))
        if option != "spot" or on_demand is None or usd_per_hour is None:
            continue
        if not SPOT_FLOOR_RATIO * on_demand <= usd_per_hour <= on_demand:
            yield f"{item} in {region}: Spot {usd_per_hour} USD/h against {on_demand} on demand"


def _duplicates(known: Sequence[Price]) -> Iterator[str]:
    for series in _series(known).values():
        for older, newer in pairwise(series):
            if older.priced_on == newer.priced_on:
                yield f"{newer.item} in {newer.region}: two {newer.purchase_option} prices on {newer.priced_on}"


def _series(quotes: Sequence[Price]) -> dict[tuple[str, str, str, str], list[Price]]:
    """Return the dated quotes of each item, oldest first."""
    series: dict[tuple[str, str, str, str], list[Price]] = defaultdict(list)
    for quote in sorted(quotes, key=lambda one: one.priced_on or date.min):
        series[quote.provider, quote.region, quote.item, quote.purchase_option].append(quote)
    return series


def _newest(quotes: Sequence[Price]) -> list[Price]:
    return [series[-1] for series in _series(quotes).values()]


def _on_demand_machines(quotes: Sequence[Price]) -> Iterator[tuple[Price, Instance]]:
    for quote in quotes:
        machine = instance(quote.provider, quote.item) if quote.purchase_option == ON_DEMAND else None
        if machine is not None:
            yield quote, machine


def _band(gpu_model: str) -> tuple[Decimal, Decimal] | None:
    for name, band in GPU_BANDS_USD_PER_HOUR.items():
        if gpu_model == name or gpu_model.startswith((f"{name} ", f"{name}-")):
            return band
    return None


def _host_usd_per_hour(machine: Instance) -> Decimal:
    """Return what the known part of the host costs at the component prices; an unknown part only narrows the band."""
    vcpu_usd = HOST_USD_PER_VCPU_HOUR * Decimal(machine.vcpu) if machine.vcpu is not None else Decimal()
    memory_usd = HOST_USD_PER_GIB_HOUR * Decimal(machine.memory_gib) if machine.memory_gib is not None else Decimal()
    return vcpu_usd + memory_usd


def _family(machine: Instance) -> str:
    """Return the family an instance type belongs to: g4dn of g4dn.xlarge, a2-highgpu of a2-highgpu-8g."""
    if machine.cloud == "aws":
        return machine.instance_type.split(".")[0]
    if machine.cloud == "gcp":
        return machine.instance_type.rsplit("-", 1)[0]
    head, *tail = machine.instance_type.removeprefix("Standard_").split("_")
    letters = "".join(character for character in head if not character.isdigit())
    return "_".join([letters, *tail])
