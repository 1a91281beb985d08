"""Money: dollars a month, always as a range."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SavingsRange:
    """
    What a change saves, US dollars per month of 730 h, before tax.

    Raises:
        ValueError: a bound is out of order, or negative.
    """

    low_usd_per_month: float
    expected_usd_per_month: float
    high_usd_per_month: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.low_usd_per_month <= self.expected_usd_per_month <= self.high_usd_per_month:
            message = f"savings range out of order or negative: {self}"
            raise ValueError(message)


NOTHING = SavingsRange(0.0, 0.0, 0.0)
