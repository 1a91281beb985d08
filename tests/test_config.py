"""One TOML file, what the environment overrides, and what is refused."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

import pytest

from connectors import connector
from models.domain.errors import ConfigError
from models.domain.secret import SecretText
from optimizer import recommenders
from optimizer.config import load_config
from optimizer.engine import BuildSettings
from optimizer.setting_values import Surroundings, read_settings


class Layout(StrEnum):
    WIDE = "wide"
    LONG = "long"


@dataclass(frozen=True, slots=True)
class Login:
    user: str
    password: SecretText


@dataclass(frozen=True, slots=True)
class Settings:
    """As beside a connector."""

    location: str = "."
    more_locations: tuple[str, ...] = ()
    certificate: Path | None = None
    layout: Layout = Layout.WIDE
    min_share_ratio: float = 0.5
    max_files: int = 10
    is_lenient: bool = False
    token: SecretText | None = None
    login: Login | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    pause: timedelta = timedelta(seconds=1)

    def __post_init__(self) -> None:
        if not 0.0 <= self.min_share_ratio <= 1.0:
            message = f"min_share_ratio must be from 0 to 1, got {self.min_share_ratio}"
            raise ValueError(message)


def read(tmp_path, text, environ=None):
    surroundings = Surroundings(tmp_path / "earnkeep.toml", environ or {})
    return read_settings(Settings, tomllib.loads(text), ("sources", "aws"), surroundings)


def test_an_empty_table_gives_the_defaults(tmp_path):
    assert read(tmp_path, "layout = 'wide'") == read(tmp_path, "")
    assert read(tmp_path, "").max_files == 10


def test_values_have_the_types_of_the_dataclass(tmp_path):
    settings = read(
        tmp_path,
        "layout = 'long'\nmin_share_ratio = 1\nmore_locations = ['s3://b/a']\nnames = { a = 'b' }\npause = 'PT90S'",
    )
    assert settings.layout is Layout.LONG
    assert isinstance(settings.min_share_ratio, float)
    assert settings.more_locations == ("s3://b/a",)
    assert settings.names == {"a": "b"}
    assert settings.pause == timedelta(seconds=90)


def test_an_unknown_key_is_refused_with_the_nearest_and_all_known_ones(tmp_path):
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, "max_fiels = 3")
    message = str(refused.value)
    assert "[sources.aws]: unknown key 'max_fiels'" in message
    assert "did you mean 'max_files'?" in message
    assert "is_lenient" in message


def test_an_unknown_key_in_an_inner_table_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"\[sources\.aws\.login\]: unknown key 'usr'"):
        read(tmp_path, "login = { usr = 'ada' }")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("max_files = '3'", "[sources.aws] max_files = '3': "),
        ("max_files = 3.5", "[sources.aws] max_files = 3.5: "),
        ("max_files = true", "[sources.aws] max_files = True: "),
        ("is_lenient = 1", "[sources.aws] is_lenient = 1: "),
        ("location = 3", "[sources.aws] location = 3: "),
        ("layout = 'tall'", "[sources.aws] layout = 'tall': "),
        ("min_share_ratio = nan", "[sources.aws] min_share_ratio"),
        ("max_files = [1]", "[sources.aws] max_files"),
        ("max_files = { env = 'MAX' }", "[sources.aws] max_files: expected a value, got a table"),
        ("min_share_ratio = 2.0", "[sources.aws]: min_share_ratio must be from 0 to 1, got 2.0"),
        ("login = { user = 'ada' }", "[sources.aws] login.password: is required and missing"),
    ],
)
def test_a_value_of_another_type_or_out_of_range_is_refused_naming_its_place(tmp_path, text, place):
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, text)
    assert place in str(refused.value)


def test_all_faults_of_a_table_are_told_at_once(tmp_path):
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, "max_files = '3'\nlayout = 'tall'")
    assert len(str(refused.value).splitlines()) == 2


def test_a_relative_path_starts_at_the_configuration_file_and_an_address_stays(tmp_path):
    settings = read(tmp_path, "location = 'bills/*.csv'\nmore_locations = ['/a', 's3://b/c']\ncertificate = 'ca.pem'")
    assert settings.location == str(tmp_path / "bills/*.csv")
    assert settings.more_locations == ("/a", "s3://b/c")
    assert settings.certificate == tmp_path / "ca.pem"


def test_a_secret_comes_from_the_environment_or_a_file(tmp_path):
    (tmp_path / "password").write_text("open sesame\n")
    settings = read(
        tmp_path,
        "token = { env = 'TOKEN' }\nlogin = { user = 'ada', password = { file = 'password' } }",
        {"TOKEN": "hush"},
    )
    assert settings.token == SecretText("hush")
    assert settings.login == Login("ada", SecretText("open sesame"))


def test_a_secret_never_shows(tmp_path):
    settings = read(tmp_path, "token = { env = 'TOKEN' }", {"TOKEN": "hush"})
    assert "hush" not in f"{settings} {settings!r} {settings.token}"


def test_a_fault_elsewhere_in_the_table_does_not_show_the_secret(tmp_path):
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, "token = { env = 'TOKEN' }\nmin_share_ratio = 2.0\n", {"TOKEN": "hush"})
    assert "hush" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("token = 'hush'", "a secret is given by reference"),
        ("token = { env = 'TOKEN' }", "environment variable TOKEN is not set"),
        ("token = { file = 'nowhere' }", "cannot read the secret"),
        ("token = { env = 'A', file = 'b' }", "a secret is given by reference"),
    ],
)
def test_a_secret_that_cannot_be_read_is_refused_without_showing_it(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message) as refused:
        read(tmp_path, text)
    assert "hush" not in str(refused.value)


def load(tmp_path, text, environ=None):
    path = tmp_path / "earnkeep.toml"
    path.write_text(text, encoding="utf-8")
    return load_config(path, environ or {})


def test_an_empty_file_gives_a_run_with_defaults_and_no_sources(tmp_path):
    config = load(tmp_path, "")
    assert config.run.lookback_days == 30
    assert config.run.warehouse == tmp_path / "earnkeep.duckdb"
    assert config.sources == ()
    assert config.build == BuildSettings()
    assert tuple(config.recommenders) == recommenders.names()


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(ConfigError, match="--config"):
        load_config(tmp_path / "none.toml", {})


@pytest.mark.parametrize("content", [b"[run", b"\xff\xfe[run]"])
def test_a_file_that_is_no_toml_is_refused(tmp_path, content):
    path = tmp_path / "earnkeep.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be read as TOML"):
        load_config(path, {})


def test_a_byte_order_mark_is_let_pass(tmp_path):
    assert load(tmp_path, "\ufeff[run]\nlookback_days = 7\n").run.lookback_days == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[runs]\nlookback_days = 3", "unknown table 'runs'; did you mean 'run'"),
        ("run = 3", r"\[run\]: expected a table"),
        ("[run]\nlookback_days = 0", "lookback_days must be at least 1"),
        ("[recommenders.idle_gpu]", "unknown recommender 'idle_gpu'"),
        ("[sources.aws]\nlocation = '.'", "say which `connector`"),
        ("[sources.aws]\nconnector = 'focus_fils'", "unknown connector 'focus_fils'"),
        ("[sources.'my aws']\nconnector = 'focus_files'", "a source id is made of"),
    ],
)
def test_what_nobody_reads_is_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, text)


def test_the_environment_overrides_the_file(tmp_path):
    environ = {
        "EARNKEEP__RUN__LOOKBACK_DAYS": "21",
        "EARNKEEP__RUN__OUT": "7",
        "EARNKEEP__BUILD__MIN_STUCK_BUCKETS": "9",
    }
    config = load(tmp_path, "[run]\nlookback_days = 3\n", environ)
    assert config.run.lookback_days == 21
    assert config.run.out == tmp_path / "7"
    assert config.build.min_stuck_buckets == 9


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("EARNKEEP__RUN__LOOKBACK_DAY", "21", "unknown key 'lookback_day'; did you mean 'lookback_days'"),
        ("EARNKEEP__RUN__LOOKBACK_DAYS", "many", r"lookback_days = 'many' \(set by EARNKEEP__RUN__LOOKBACK_DAYS\)"),
        ("EARNKEEP__RUN__LOOKBACK_DAYS__X", "1", "lookback_days is a value, not a table"),
    ],
)
def test_a_wrong_override_names_its_variable_or_key(tmp_path, variable, text, message):
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, "[run]\nlookback_days = 3\n", {variable: text})


def test_variables_of_others_are_left_alone(tmp_path):
    assert load(tmp_path, "", {"EARNKEEP_SHARED": "/x", "PATH": "/bin"}).run.lookback_days == 30


def test_each_connector_can_be_named_and_told_from_the_others(tmp_path):
    for name in connector.names():
        with pytest.raises(ConfigError, match=r"\[sources\.a-1\]: unknown key 'no_such_key'; .*known: "):
            load(tmp_path, f"[sources.a-1]\nconnector = {name!r}\nno_such_key = 1\n")


def test_each_recommender_has_its_table(tmp_path):
    for name in recommenders.names():
        with pytest.raises(ConfigError, match=rf"\[recommenders\.{name}\]: unknown key 'no_such_key'"):
            load(tmp_path, f"[recommenders.{name}]\nno_such_key = 1\n")
