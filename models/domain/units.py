"""The only place a conversion factor may be written."""

HOURS_PER_MONTH = 730.0  # 8,760 h / 12, as OpenCost, Infracost and the clouds' calculators have it
HOURS_PER_DAY = 24
HOURS_PER_WEEK = 168
SECONDS_PER_HOUR = 3600
SECONDS_PER_BUCKET = 300  # raw.gpu_5m
BUCKETS_PER_HOUR = SECONDS_PER_HOUR // SECONDS_PER_BUCKET
BYTES_PER_GIB = 2**30
BYTES_PER_MIB = 2**20
MIB_PER_GIB = 1024.0
MILLISECONDS_PER_SECOND = 1000
DECIMAL_PREFIX_STEP = 1000  # k, M, G
BINARY_PREFIX_STEP = 1024  # Ki, Mi, Gi
MICROSECONDS_PER_SECOND = 1_000_000
PERCENT_PER_ONE = 100.0
MILLIWATTS_PER_WATT = 1000.0
SECONDS_PER_DAY = SECONDS_PER_HOUR * HOURS_PER_DAY


def usd_per_month(usd_per_hour: float) -> float:
    """Scale a steady hourly rate to an average calendar month."""
    return usd_per_hour * HOURS_PER_MONTH
