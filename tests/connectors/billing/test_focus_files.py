"""Bills in FOCUS files: what comes through, exactly, and what is said about the rest."""

import gzip
from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet

from connectors import connector
from connectors.billing.focus_files import Settings
from models.domain.errors import InputError

NINES = "9" * 23 + "." + "9" * 15  # all 38 digits that DECIMAL(38,15) has


def test_is_found_by_its_name():
    assert connector.find("focus_files").tables == ("cost", "cost_load")


def test_reads_a_charge_into_focus_columns(read_charges):
    loaded = read_charges(
        {"ResourceId": "arn:aws:ec2:us-east-1:1:instance/i-0123456789abcdef0", "Tags": '{"b":1,"a":"x"}'}
    )
    (row,) = loaded.cost.to_pylist()
    assert row["BilledCost"] == Decimal("1.5")
    assert row["ChargePeriodStart"] == datetime(2026, 11, 5, 7)  # noqa: DTZ001, the warehouse keeps naive UTC
    assert row["x_resource_key"] == "i-0123456789abcdef0"
    assert row["Tags"] == '{"a":"x","b":1}'
    assert row["InvoiceId"] is None
    assert loaded.codes == []


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("0.0000008", "0.0000008"),
        ("1E-7", "0.0000001"),
        ("2.323760000e-9", "0.00000000232376"),
        ("1e+3", "1000"),
        ("-12.34", "-12.34"),
        ("1234567890123456789012.123456789012345", "1234567890123456789012.123456789012345"),
        (NINES, NINES),
        ("0.1000000000000000000000", "0.1"),
        ("$1,234.50 ", "1234.5"),
        ("1,234,567.25", "1234567.25"),
        (".5", "0.5"),
    ],
)
def test_keeps_an_amount_to_its_last_digit(read_charges, text, exact):
    loaded = read_charges({"BilledCost": text}, {"BilledCost": "0"})
    assert loaded.column("BilledCost") == [Decimal(exact), Decimal(0)]


def test_rounds_half_to_even_beyond_fifteen_decimals_and_says_by_how_much(read_charges):
    loaded = read_charges({"BilledCost": "0.0000000000000025"}, {"BilledCost": "0.0000000000000035"})
    assert loaded.column("BilledCost") == [Decimal("0.000000000000002"), Decimal("0.000000000000004")]
    assert "adds 0.0000000000000000 in all" in loaded.message("amount_rounded")  # -5e-16 and +5e-16


@pytest.mark.parametrize("text", ["NaN", "inf", "-Infinity", "1_000", "12 %", "abc", "\u0661"])
@pytest.mark.parametrize("column", ["BilledCost", "EffectiveCost"])
def test_refuses_a_file_with_a_cost_that_is_no_number_and_names_line_and_column(read_charges, text, column):
    loaded = read_charges({}, {column: text})
    assert loaded.cost.num_rows == 0
    assert f"bill.csv, line 3, column {column}: found {text!r}; expected an amount" in loaded.reason


@pytest.mark.parametrize("text", ["1e23", "123456789012345678901234", "99999999999999999999999.9999999999999999"])
def test_refuses_an_amount_that_does_not_fit(read_charges, text):
    assert "expected an amount below 1e23" in read_charges({"BilledCost": text}).reason


@pytest.mark.parametrize("text", ["1.234,56", "1,5", "1,234"])
def test_names_the_setting_for_localised_numbers(read_charges, text):
    reason = read_charges({"BilledCost": text}).reason
    assert f"line 2, column BilledCost: found {text!r}" in reason
    assert "set `decimal_comma = true` for this source" in reason


def test_reads_localised_numbers_where_the_setting_says_so(read_charges):
    loaded = read_charges(
        {"BilledCost": "1.234,56"}, {"BilledCost": "-0,5"}, {"BilledCost": "1234"},
        decimal_comma=True,
    )  # fmt: skip
    assert "expected a decimal comma" in loaded.reason  # EffectiveCost is still written 1.50
    plain = {"EffectiveCost": "1", "ListCost": "2", "ContractedCost": "2"}
    loaded = read_charges(
        {**plain, "BilledCost": "1.234,56"}, {**plain, "BilledCost": "-0,5"}, {**plain, "BilledCost": "1 234"},
        decimal_comma=True,
    )  # fmt: skip
    assert loaded.column("BilledCost") == [Decimal("1234.56"), Decimal("-0.5"), Decimal(1234)]


def test_reads_semicolons_as_a_localised_spreadsheet_writes_them(read_text):
    loaded = read_text("ChargeCategory;BilledCost;BillingPeriodStart\nUsage;1,25;2026-11-01\n", decimal_comma=True)
    assert loaded.column("BilledCost") == [Decimal("1.25")]


def test_takes_an_empty_cost_for_unknown_not_for_zero(read_charges):
    loaded = read_charges({"EffectiveCost": ""}, {"EffectiveCost": "NULL"}, {})
    assert loaded.column("EffectiveCost") == [None, None, Decimal("1.5")]
    assert "EffectiveCost is empty; taken for unknown" in loaded.message("cost_missing")


def test_takes_an_unreadable_list_cost_for_unknown_and_says_where(read_charges):
    loaded = read_charges({}, {"ListCost": "n/a"})
    assert loaded.column("ListCost") == [Decimal(2), None]
    assert "line 3, column ListCost: found 'n/a'" in loaded.message("unreadable_number")


def test_keeps_negative_and_huge_amounts_and_tells_of_the_absurd(read_charges):
    loaded = read_charges({"BilledCost": "-3000000000", "ChargeCategory": "Credit"}, {"BilledCost": "1.51"})
    assert loaded.column("BilledCost") == [Decimal(-3_000_000_000), Decimal("1.51")]
    assert loaded.codes == ["absurd_amount"]
    assert [each["usd"] for each in loaded.findings if each["code"] == "absurd_amount"] == [Decimal(-3_000_000_000)]


def test_reads_extra_and_reordered_columns_in_any_case(read_text):
    loaded = read_text(
        "x_new,CHARGECATEGORY,effective_cost,Billed Cost,billingcurrency,ChargePeriodStart\n"
        "q,usage,1,2,usd,2026-11-05\n"
    )
    (row,) = loaded.cost.to_pylist()
    assert (row["BilledCost"], row["EffectiveCost"]) == (Decimal(2), Decimal(1))
    assert (row["ChargeCategory"], row["BillingCurrency"]) == ("Usage", "USD")
    assert "x_new" in loaded.message("ignored_columns")


@pytest.mark.parametrize("alias", ["ServiceProviderName", "ProviderName", "PublisherName", "provider"])
def test_knows_the_provider_by_every_name_it_had(read_text, alias):
    loaded = read_text(f"ChargeCategory,BilledCost,BillingPeriodStart,{alias}\nUsage,1,2026-11-01,OCI\n")
    assert loaded.column("ServiceProviderName") == ["OCI"]


def test_prefers_the_newer_name_row_by_row(read_text):
    loaded = read_text(
        "ChargeCategory,BilledCost,BillingPeriodStart,PublisherName,ProviderName\n"
        "Usage,1,2026-11-01,Datadog,AWS\nUsage,1,2026-11-01,Datadog,\n"
    )
    assert loaded.column("ServiceProviderName") == ["AWS", "Datadog"]


def test_names_what_a_file_lacks_to_be_a_bill(read_text):
    reason = read_text("lineItem/UnblendedCost,lineItem/UsageType\n1,x\n").reason
    assert "bill.csv, line 1: no FOCUS bill, column ChargeCategory and BilledCost or EffectiveCost is missing" in reason
    assert "lineItem/UnblendedCost" in reason
    assert "FOCUS 1.0 to 1.4 are understood" in reason


def test_does_without_optional_columns_and_says_what_follows(read_text):
    loaded = read_text("ChargeCategory,BilledCost,ChargePeriodStart\nUsage,3,2026-11-05T00:00:00Z\n")
    (row,) = loaded.cost.to_pylist()
    assert row["EffectiveCost"] is None
    assert row["BillingAccountId"] is None
    assert row["BillingPeriodStart"] == datetime(2026, 11, 1)  # noqa: DTZ001
    assert row["BillingPeriodEnd"] == datetime(2026, 12, 1)  # noqa: DTZ001
    assert "EffectiveCost (amortised cost is unknown)" in loaded.message("absent_columns")
    assert loaded.codes == ["billing_period_assumed", "currency_missing"]


def test_reads_a_header_alone_as_a_bill_without_charges(read_charges):
    loaded = read_charges()
    assert (loaded.cost.num_rows, loaded.cost_load.num_rows) == (0, 0)
    assert (loaded.findings, loaded.unreadable) == ([], [])


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_refuses_an_empty_file(read_text, text):
    assert "bill.csv: empty, not even a header; fetch the file again" in read_text(text).reason


def test_recognises_the_data_set_of_contract_commitments(read_text):
    loaded = read_text("ContractCommitmentId,ContractCommitmentCost,BillingCurrency\nc,1,USD\n")
    assert (loaded.cost.num_rows, loaded.unreadable) == (0, [])
    assert "the FOCUS data set 'Contract Commitment', which holds no charges" in loaded.message("other_dataset")


def test_leaves_other_files_alone_when_one_is_bad(tmp_path, read_folder, charge_csv):
    (tmp_path / "a.csv").write_text(charge_csv([{"BilledCost": "NaN"}]))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(charge_csv([{"BilledCost": "7"}]).encode())[:-9])
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(charge_csv([{"BilledCost": "8"}]).encode()))
    (tmp_path / "_manifest.json").write_text("{}")
    loaded = read_folder(tmp_path)
    assert loaded.column("BilledCost") == [Decimal(8)]
    assert [each.origin for each in loaded.unreadable] == [str(tmp_path / "a.csv"), str(tmp_path / "b.csv.gz")]
    assert "b.csv.gz: truncated gzip, it ends at compressed byte" in loaded.unreadable[1].reason


def test_says_that_a_folder_is_empty_so_that_nothing_loaded_is_lost(tmp_path, read_folder):
    with pytest.raises(InputError, match=r"no file ending in \.csv, \.csv\.gz, \.parquet there.*loaded stays"):
        read_folder(tmp_path)


def test_keeps_currencies_apart(read_charges):
    loaded = read_charges({}, {"BillingCurrency": "EUR", "BilledCost": "10"}, {"BilledCost": "0.25"})
    assert "charges in EUR, USD; they are kept apart and never added" in loaded.message("several_currencies")
    totals = {row["BillingCurrency"]: (row["charge_rows"], row["BilledCost"]) for row in loaded.cost_load.to_pylist()}
    assert totals == {"EUR": (1, Decimal(10)), "USD": (2, Decimal("1.75"))}  # 1.50 + 0.25


def test_takes_the_configured_currency_where_a_charge_names_none(read_charges):
    loaded = read_charges({"BillingCurrency": ""}, {"BillingCurrency": "EUR"}, billing_currency="USD")
    assert loaded.column("BillingCurrency") == ["USD", "EUR"]
    assert loaded.codes == ["currency_assumed", "several_currencies", "unexpected_currency"]


def test_counts_what_it_brings_before_any_engine_does(read_charges):
    other = {"BillingPeriodStart": "2026-10-01", "BillingPeriodEnd": "2026-11-01"}
    loaded = read_charges(
        {"BilledCost": "0.1"}, {"BilledCost": "0.2", "EffectiveCost": ""}, {**other, "EffectiveCost": ""}
    )
    october, november = loaded.cost_load.to_pylist()
    assert (october["charge_rows"], october["BilledCost"], october["EffectiveCost"]) == (1, Decimal("1.5"), None)
    assert (november["charge_rows"], november["BilledCost"], november["EffectiveCost"]) == (
        2,
        Decimal("0.3"),
        Decimal("1.5"),
    )


def test_counts_sums_that_would_overflow_exactly_or_not_at_all(read_charges):
    most = {"ChargeCategory": "Adjustment", "BilledCost": NINES}
    loaded = read_charges(most, {**most, "BilledCost": "-" + NINES}, {"BilledCost": "3"})
    assert loaded.cost_load.column("BilledCost").to_pylist() == [Decimal(3)]
    assert "add up to 1e23 or more; correct the export" in read_charges(most, most).reason


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-05T07:00:00Z", "2026-11-05 07:00:00", "2026-11-05T07:00:00.0000000Z", "2026-11-05T07:00Z",
        "2026-11-05 07:00:00 UTC", "2026-11-05T09:00:00+02:00", "11/5/26 7:00", "11/05/2026 07:00:00 AM",
    ],
)  # fmt: skip
def test_reads_the_same_instant_in_every_way_it_is_written(read_charges, text):
    loaded = read_charges({"ChargePeriodStart": text})
    assert loaded.column("ChargePeriodStart") == [datetime(2026, 11, 5, 7)]  # noqa: DTZ001


@pytest.mark.parametrize("text", ["05.11.2026", "31/12/26", "2026-02-30", "0001-01-01T00:00:00", "yesterday"])
def test_refuses_a_file_with_a_start_it_cannot_read(read_charges, text):
    reason = read_charges({}, {"ChargePeriodStart": text}).reason
    assert f"line 3, column ChargePeriodStart: found {text!r}; expected an instant" in reason


def test_takes_an_unreadable_end_for_unknown_and_says_where(read_charges):
    loaded = read_charges({"ChargePeriodEnd": "2026-11-05T30:00:00Z"})
    assert loaded.column("ChargePeriodEnd") == [None]
    assert "line 2, column ChargePeriodEnd: found '2026-11-05T30:00:00Z'" in loaded.message("unreadable_instant")


def test_tells_of_a_period_that_ends_before_it_starts(read_charges):
    assert read_charges({"ChargePeriodEnd": "2026-11-01"}).codes == ["period_reversed"]


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\ufeff"])
def test_reads_through_byte_order_marks(read_text, charge_csv, mark):
    assert read_text(mark + charge_csv([{}])).column("BilledCost") == [Decimal("1.5")]


def test_reads_mixed_line_ends_and_quoted_line_ends_and_still_counts_lines(read_text, charge_csv):
    header, first = charge_csv([{"ChargeDescription": 'two\nlines, and a "quote"'}]).split("\n", 1)
    bad = charge_csv([{"ChargeDescription": "x", "BilledCost": "bad"}]).split("\n")[1]
    good = charge_csv([{"ChargeDescription": "x"}]).split("\n")[1]
    text = header + "\r\n" + first.rstrip("\n") + "\r\n" + good + "\n\n"
    loaded = read_text(text)
    assert loaded.column("ChargeDescription") == ['two\nlines, and a "quote"', "x"]
    # 1 header, 2-3 the quoted line end, 4 good, 5 blank, 6 bad
    assert "line 6, column BilledCost: found 'bad'" in read_text(text + bad + "\r\n").reason


def test_names_the_line_that_is_cut_off(read_text, charge_csv):
    text = charge_csv([{}, {}])
    reason = read_text(text[:-40]).reason
    assert "bill.csv, line 3: " in reason
    assert "fields where the header has 13" in reason


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("ChargeCategory,BilledCost\nUsage,1\n".encode("utf-16"), "UTF-16; save the file as UTF-8"),
        (b"ChargeCategory,BilledCost,ServiceName\nUsage,1,caf\xe9\n", "line 2: no UTF-8 text; save the file as UTF-8"),
        (bytes(range(256)), "is it a CSV or Parquet file at all?"),
        (b"ChargeCategory,BilledCost\rUsage,1\r", "end in LF or CRLF"),
        (b"PAR1 but no more", "not readable as Parquet"),
    ],
)
def test_says_what_a_file_is_not(read_text, content, said):
    assert said in read_text(content).reason


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('{"b":"2","a":"1"}', '{"a":"1","b":"2"}'),
        ('"b":"2","a":"1"', '{"a":"1","b":"2"}'),
        ('[{"key":"b","value":"2"},{"key":"a","value":"1"}]', '{"a":"1","b":"2"}'),
        ("{}", "{}"),
        ("", None),
        ("NULL", None),
    ],
)
def test_writes_tags_in_one_form(read_charges, text, canonical):
    loaded = read_charges({"Tags": text})
    assert loaded.column("Tags") == [canonical]
    assert loaded.codes == []


def test_takes_tags_that_are_no_json_for_absent_and_says_where(read_charges):
    loaded = read_charges({"Tags": '{"team": res'}, {"Tags": "{}"})
    assert loaded.column("Tags") == [None, "{}"]
    assert "line 2, column Tags" in loaded.message("unreadable_tags")


def test_leaves_placeholders_as_text(read_charges):
    assert read_charges({"ResourceId": "<my-resource>"}).column("ResourceId") == ["<my-resource>"]


def test_kept_categories_that_focus_does_not_know_are_told_of(read_charges):
    loaded = read_charges({"ChargeCategory": "Refund"})
    assert loaded.column("ChargeCategory") == ["Refund"]
    assert "ChargeCategory is Refund, expected one of Usage" in loaded.message("unknown_charge_category")


def test_reads_split_cost_rows_like_any_other(read_charges):
    loaded = read_charges(
        {"BilledCost": "0.4", "AllocatedMethodId": "m", "AllocatedResourceId": "pod-1"},
        {"BilledCost": "0.6", "AllocatedMethodId": "m", "AllocatedResourceId": "pod-2"},
    )
    assert sum(loaded.column("BilledCost")) == 1


def test_gives_pages_of_bounded_size_that_add_up_to_the_file(tmp_path, read_folder, charge_csv):
    rows = 20_000
    (tmp_path / "long.csv").write_text(charge_csv([{"BilledCost": "0.1", "ChargeDescription": "a\nb"}] * rows))
    loaded = read_folder(tmp_path / "long.csv", page_mib=1)
    assert loaded.pages > 2
    assert loaded.cost.num_rows == rows
    assert sum(loaded.cost_load.column("BilledCost").to_pylist()) == 2000  # 20,000 x 0.1


def test_names_the_right_line_on_a_later_page(tmp_path, read_folder, charge_csv):
    rows = [{"ChargeDescription": "a\nb"}] * 20_000
    (tmp_path / "long.csv").write_text(charge_csv([*rows, {"ChargeDescription": "x", "BilledCost": "bad"}]))
    assert (
        "line 40002, column BilledCost" in read_folder(tmp_path / "long.csv", page_mib=1).reason
    )  # 1 + 2 x 20,000 + 1


def test_stops_at_a_quotation_mark_nobody_closed(tmp_path, read_folder, charge_csv):
    text = charge_csv([{"ChargeDescription": "x"}]) + '"' + charge_csv([{"ChargeDescription": "x"}] * 60_000)
    (tmp_path / "open.csv").write_text(text)
    assert "line 3: no record ends within" in read_folder(tmp_path / "open.csv", page_mib=1).reason


def parquet_bill(path, **columns):
    length = len(next(iter(columns.values())))
    given = {"ChargeCategory": pa.array(["Usage"] * length), "BillingCurrency": pa.array(["USD"] * length)}
    parquet.write_table(pa.table({**given, **columns}), path)
    return path


def test_reads_doubles_of_parquet_by_their_shortest_text(tmp_path, read_folder):
    path = parquet_bill(tmp_path / "b.parquet", BilledCost=pa.array([0.1, 1e-7, 1234567.891, 1e22, None]))
    assert read_folder(path).column("BilledCost") == [
        Decimal("0.1"), Decimal("0.0000001"), Decimal("1234567.891"), Decimal(10) ** 22, None,
    ]  # fmt: skip


def test_reads_decimals_integers_and_texts_of_parquet(tmp_path, read_folder):
    path = parquet_bill(
        tmp_path / "b.parquet",
        BilledCost=pa.array([Decimal("1.230000000000000000001")], pa.decimal128(38, 21)),
        EffectiveCost=pa.array([7], pa.int64()),
        ListCost=pa.array(["8.25"]).dictionary_encode(),
    )
    loaded = read_folder(path)
    assert loaded.column("BilledCost") == [Decimal("1.23")]
    assert loaded.column("EffectiveCost") == [Decimal(7)]
    assert loaded.column("ListCost") == [Decimal("8.25")]
    assert "amount_rounded" in loaded.codes


def test_refuses_nan_in_parquet_naming_the_row(tmp_path, read_folder):
    path = parquet_bill(tmp_path / "b.parquet", BilledCost=pa.array([1.0, float("nan")]))
    assert "b.parquet, row 2, column BilledCost: found 'nan'" in read_folder(path).reason


def test_reads_dates_and_zoned_timestamps_of_parquet(tmp_path, read_folder):
    hour = datetime(2026, 11, 5, 7)  # noqa: DTZ001
    path = parquet_bill(
        tmp_path / "b.parquet",
        BilledCost=pa.array([1.0]),
        BillingPeriodStart=pa.array([hour.date().replace(day=1)]),
        ChargePeriodStart=pa.array([hour]).cast(pa.timestamp("ns")),
        ChargePeriodEnd=pa.array([hour]).cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("ms", "Europe/Berlin")),
    )
    (row,) = read_folder(path).cost.to_pylist()
    assert row["BillingPeriodStart"] == datetime(2026, 11, 1)  # noqa: DTZ001
    assert (row["ChargePeriodStart"], row["ChargePeriodEnd"]) == (hour, hour)


def test_reads_maps_and_pairs_of_parquet_as_tags(tmp_path, read_folder):
    pair = pa.struct([("key", pa.string()), ("value", pa.string())])
    path = parquet_bill(
        tmp_path / "b.parquet",
        BilledCost=pa.array([1.0, 2.0, 3.0]),
        Tags=pa.array([[("b", "2"), ("a", '"1"')], [], None], pa.map_(pa.string(), pa.string())),
        SkuPriceDetails=pa.array([[{"key": "InstanceType", "value": "a3-highgpu-8g"}], None, []], pa.list_(pair)),
        ServiceCategory=pa.array([["Compute", "GPU"], [], None]),
    )
    loaded = read_folder(path)
    assert loaded.column("Tags") == ['{"a":"\\"1\\"","b":"2"}', "{}", None]
    assert loaded.column("x_instance_type") == ["a3-highgpu-8g", None, None]
    assert loaded.column("ServiceCategory") == ["Compute", None, None]


def test_reads_parquet_without_rows(tmp_path, read_folder):
    loaded = read_folder(parquet_bill(tmp_path / "b.parquet", BilledCost=pa.array([], pa.float64())))
    assert (loaded.cost.num_rows, loaded.unreadable) == (0, [])


def test_names_a_truncated_parquet_file(tmp_path, read_folder):
    path = parquet_bill(tmp_path / "b.parquet", BilledCost=pa.array([1.0]))
    path.write_bytes(path.read_bytes()[:-20])
    assert "b.parquet: not readable as Parquet" in read_folder(path).reason


@pytest.mark.parametrize("wrong", [{"page_mib": 0}, {"billing_currency": "usd"}])
def test_refuses_settings_out_of_range(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Settings("bills", **wrong)
