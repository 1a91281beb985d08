"""What all tests may use."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def shared_folder() -> Path:
    """Return where the sample data are: EARNKEEP_SHARED, or ../shared beside the repository."""
    return Path(os.environ.get("EARNKEEP_SHARED", str(ROOT.parent / "shared")))  # noqa: TID251, the tests' own switch


@pytest.fixture(scope="session")
def shared() -> Path:
    """Give the folder of the sample data, or skip."""
    folder = shared_folder()
    if not (folder / "data").is_dir():
        pytest.skip(f"no sample data at {folder}; set EARNKEEP_SHARED")
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked `shared_data` where the sample data are absent."""
    folder = shared_folder()
    if (folder / "data").is_dir():
        return
    skip = pytest.mark.skip(reason=f"no sample data at {folder}; set EARNKEEP_SHARED")
    for item in items:
        if item.get_closest_marker("shared_data"):
            item.add_marker(skip)
