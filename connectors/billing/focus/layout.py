"""Which columns of a file feed which columns of raw.cost, and which data set the file holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connectors.raw_tables import RAW_TABLES
from models.domain.errors import InputError

COST_AND_USAGE = "Cost and Usage"
COSTS = ("BilledCost", "EffectiveCost")
UNDERSTOOD = "FOCUS 1.0 to 1.4"
HINTS = ("ListUnitPrice", "x_UsageType")  # read to judge and to name machines; not stored
_DERIVED = ("x_resource_key", "x_instance_type")
_SHOWN_COLUMNS = 12

# Other names of a column, best first: removed in FOCUS 1.4, or a provider's own
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "ServiceProviderName": ("ProviderName", "provider", "PublisherName", "publisher"),
    "InvoiceIssuerName": ("invoiceissuer",),  # OCI
    "RegionId": ("region",),  # OCI
    "ServiceName": ("x_SkuMeterSubcategory",),  # Azure leaves ServiceName empty on purchases of commitments
    "SkuPriceDetails": ("x_SkuDetails",),  # Azure
}

# What a file may lack, and what follows. EffectiveCost and BilledCost: one of them must be there.
WANTED: Mapping[str, str] = {
    "BilledCost": "cash is unknown",
    "EffectiveCost": "amortised cost is unknown",
    "ListCost": "savings at list price are unknown",
    "ContractedCost": "savings of commitments are unknown",
    "BillingCurrency": "amounts have no currency",
    "BillingAccountId": "charges cannot be told apart by account",
    "ServiceName": "charges cannot be told apart by service",
    "BillingPeriodStart": "the calendar month of the charge is taken",
    "BillingPeriodEnd": "the end of the month is taken",
    "ChargePeriodStart": "charges cannot be put on a day",
    "ChargePeriodEnd": "charges cannot be spread over hours",
    "ResourceId": "charges cannot be matched to nodes",
    "RegionId": "prices cannot be looked up by region",
    "PricingCategory": "spot cannot be told from on demand",
    "PricingQuantity": "prices cannot be checked",
    "CommitmentDiscountId": "commitments are invisible",
    "CommitmentDiscountStatus": "unused commitments are invisible",
    "Tags": "charges cannot be given to teams by tag",
}

# A column that only that data set has. Source: schemas of FOCUS 1.4
_OTHER_DATASETS = (
    ("contractcommitmentid", "Contract Commitment"),
    ("invoicedetailgrain", "Invoice Detail"),
    ("billingperiodstatus", "Billing Period"),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where in a file each column of raw.cost is found."""

    dataset: str
    positions: Mapping[str, tuple[int, ...]]  # target column -> positions in the file, best first
    ignored: tuple[str, ...]  # columns of the file nothing is taken from

    @property
    def used_positions(self) -> tuple[int, ...]:
        """Return the positions of all columns worth reading, in the file's order."""
        return tuple(sorted({position for found in self.positions.values() for position in found}))

    @property
    def absent(self) -> tuple[str, ...]:
        """Return the wanted columns the file does not have."""
        return tuple(target for target in WANTED if target not in self.positions)


def read_layout(columns: Sequence[str]) -> Layout:
    """Return the layout of a file with these column names; order, case, blanks and underscores do not matter."""
    position_by_name: dict[str, int] = {}
    for position, column in enumerate(columns):
        position_by_name.setdefault(_plain(column), position)
    positions: dict[str, tuple[int, ...]] = {}
    for target in (*RAW_TABLES["cost"].columns.names, *HINTS):
        names = (target, *_ALIASES.get(target, ()))
        found = tuple(position_by_name[_plain(name)] for name in names if _plain(name) in position_by_name)
        if found and target not in _DERIVED:
            positions[target] = found
    used = {position for found in positions.values() for position in found}
    ignored = tuple(column for position, column in enumerate(columns) if position not in used)
    return Layout(_dataset(position_by_name), positions, ignored)


def refuse_unless_focus(layout: Layout, columns: Sequence[str], origin: str) -> None:
    """
    Do nothing for a file of any FOCUS data set.

    Raises:
        InputError: the file lacks what every FOCUS bill has; the message names it.
    """
    if layout.dataset != COST_AND_USAGE:
        return
    missing = [] if "ChargeCategory" in layout.positions else ["ChargeCategory"]
    if not any(cost in layout.positions for cost in COSTS):
        missing.append(" or ".join(COSTS))
    if missing:
        shown = ", ".join(columns[:_SHOWN_COLUMNS]) + (", ..." if len(columns) > _SHOWN_COLUMNS else "")
        message = (
            f"{origin}, line 1: no FOCUS bill, column {' and '.join(missing)} is missing; found {len(columns)} "
            f"columns: {shown}; {UNDERSTOOD} are understood: export the bill in FOCUS format, or correct `location`"
        )
        raise InputError(message)


def _dataset(names: Mapping[str, int]) -> str:
    is_cost_and_usage = "chargecategory" in names and "invoicedetailgrain" not in names
    for column, dataset in _OTHER_DATASETS:
        if column in names and not is_cost_and_usage:
            return dataset
    return COST_AND_USAGE


def _plain(column: str) -> str:
    return column.strip().replace("_", "").replace(" ", "").lower()
