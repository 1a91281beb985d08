"""Which workloads may be cut together: by the recommender that says so, the pool, and the GPU model."""

from collections.abc import Sequence
from dataclasses import dataclass

from models.catalog.mig import MigBoard, board_of, profile_of
from models.domain.recommendation import Rejection
from models.fleet import Fleet, Hold
from optimizer.planning.draft import Miss, Option
from optimizer.planning.keeps import Keeps
from optimizer.planning.pool import Member, Pool


@dataclass(frozen=True, slots=True, order=True)
class PoolName:
    """What a pool decision is about."""

    recommender: str
    pool: str  # "cluster/pool"
    gpu_model: str


@dataclass(frozen=True, slots=True)
class NamedPool:
    """A pool with its name."""

    name: PoolName
    pool: Pool


@dataclass(frozen=True, slots=True)
class Gathered:
    """Pools by name, and the options that belong to none."""

    pools: tuple[NamedPool, ...]
    misses: tuple[Miss, ...]


def gather_pools(options: Sequence[Option], fleet: Fleet, keeps: Keeps, headroom_ratio: float) -> Gathered:
    """Return the pools in which workloads may take slices, in order of their names."""
    holds = fleet.holds_by_workload()
    members: dict[PoolName, dict[str, Member]] = {}
    misses = []
    for option in options:
        key = option.proposal.subject.key
        name = _pool_name(option, holds[key], fleet)
        board = None if name is None else board_of(name.gpu_model)
        member = None if board is None else _member(option, holds[key], board)
        if name is None or member is None:
            misses.append(_miss(option, name, board))
        else:
            members.setdefault(name, {})[key] = member
    pools = [NamedPool(name, _pool(name, members[name], fleet, keeps, headroom_ratio)) for name in sorted(members)]
    return Gathered(tuple(pools), tuple(misses))


def _pool_name(option: Option, holds: Sequence[Hold], fleet: Fleet) -> PoolName | None:
    """Return the one pool and model the workload is on; None when it is on several."""
    places = {(fleet.nodes[hold.node].pool, fleet.nodes[hold.node].gpu_model) for hold in holds}
    return PoolName(option.proposal.recommender, *places.pop()) if len(places) == 1 else None


def _member(option: Option, holds: Sequence[Hold], board: MigBoard) -> Member | None:
    """Return the workload with the first of its profiles that the board has; None when it has none of them."""
    for alternative in option.allowed:
        named = alternative.demand.slice_profile
        profile = profile_of(board, named) if named else None
        if profile is not None:
            return Member(option, alternative, profile, tuple(holds))
    return None


def _pool(name: PoolName, members: dict[str, Member], fleet: Fleet, keeps: Keeps, headroom_ratio: float) -> Pool:
    nodes = tuple(
        key
        for key, node in sorted(fleet.nodes.items())
        if (node.pool, node.gpu_model) == (name.pool, name.gpu_model) and node.gpu_count > 0
    )
    board = board_of(name.gpu_model)
    if board is None:
        message = f"{name.gpu_model} has no MIG geometry; its workloads belong to no pool"
        raise ValueError(message)
    return Pool(nodes, board, members, {key: keeps[key] for key in nodes if key in keeps}, headroom_ratio)


def _miss(option: Option, name: PoolName | None, board: MigBoard | None) -> Miss:
    if name is None:
        code, reason = "spans_pools", "its pods are on several pools or GPU models, which are cut apart from each other"
    elif board is None:
        code, reason = "unknown_board", f"no MIG placements are published for {name.gpu_model}"
    else:
        wanted = ", ".join(sorted({one.demand.slice_profile or "none" for one in option.allowed}))
        code, reason = "unknown_profile", f"{board.name} has no profile {wanted}"
    return Miss(option, Rejection(option.proposal.recommender, option.proposal.subject, code, reason))
