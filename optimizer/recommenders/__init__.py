"""Every module in this folder is a recommender; there is no other list."""

import importlib
import pkgutil
from typing import Any

from optimizer.recommender import Recommender


def names() -> tuple[str, ...]:
    """Return the names of all recommenders, sorted, importing none."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def discover() -> tuple[Recommender[Any], ...]:
    """Return the recommenders, by name."""
    return tuple(importlib.import_module(f"{__name__}.{name}").RECOMMENDER for name in names())
