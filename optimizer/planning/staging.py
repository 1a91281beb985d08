"""One round of the plan: every option done on the state the former ones leave, step by step, before prices."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from models.domain.recommendation import Chosen, Rejection, Step, Subject, SubjectKind
from models.fleet import Fleet, Release, move_to_slices, release, release_nodes, restore
from optimizer.planning.draft import STEPS, Draft, Freed, Miss, Option, Staged
from optimizer.planning.keeps import Keeps
from optimizer.planning.pool import PoolCut, cut_pool
from optimizer.planning.pool_members import NamedPool, PoolName, gather_pools
from optimizer.planning.shrink import releases_for
from optimizer.planning.wording import cut_notes, still_held, why_not_cut


def stage(options: Sequence[Option], fleet: Fleet, keeps: Keeps, headroom_ratio: float) -> Staged:
    """
    Return what happens when every option is done.

    Args:
        options: One for each subject, in the plan's order.
        fleet: The fleet as it is.
        keeps: Nodes that stay whatever becomes of their GPU pods.
        headroom_ratio: Share of a kept node's CPU and memory that stays free of requests.
    """
    board = _Round(fleet, keeps)
    for step in STEPS:
        here = [option for option in options if option.proposal.step == step]
        _shrink(board, step, [option for option in here if option.best.demand.slice_profile is None])
        sliced = [option for option in here if option.best.demand.slice_profile is not None]
        gathered = gather_pools(sliced, board.fleet, keeps, headroom_ratio)
        board.misses.extend(gathered.misses)
        for named in gathered.pools:
            _cut(board, step, named)
    return _staged(board)


@dataclass(slots=True)
class _Round:
    """The round as it goes."""

    fleet: Fleet
    keeps: Keeps
    drafts: list[Draft] = field(default_factory=list)
    freed: list[Freed] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)
    devices_on: dict[str, dict[str, float]] = field(default_factory=dict)  # given back, by node and draft

    def give_back(self, draft_id: str, node: str, devices: float) -> None:
        """Remember who gave devices back on a node that may go later."""
        on_node = self.devices_on.setdefault(node, {})
        on_node[draft_id] = on_node.get(draft_id, 0.0) + devices  # zero: its first devices here

    def loose(self, nodes: Sequence[str]) -> list[Release]:
        """Return what was given back on these nodes by drafts that have no part in a node that goes."""
        firm = {draft_id for group in self.freed for draft_id in group.devices_by_draft}
        given = [one for draft in self.drafts if draft.id not in firm for one in draft.counted]
        return [one for one in given if one.hold.node in nodes]


def _shrink(board: _Round, step: Step, options: Sequence[Option]) -> None:
    """Take devices back from workloads, then let go of nodes that are empty by it and of nodes nobody uses."""
    holds = board.fleet.holds_by_workload()
    releases: list[Release] = []
    for option in (one for one in options if one.proposal.subject.kind == SubjectKind.WORKLOAD):
        given = releases_for(holds[option.proposal.subject.key], option.best.demand, board.fleet)
        if not given:
            reason = f"{option.best.name} would leave it all the devices it holds"
            board.misses.append(_miss(option, "nothing_released", reason))
            continue
        draft = _draft(option, step, given, sum(one.devices for one in given))
        board.drafts.append(draft)
        releases.extend(given)
        for one in given:
            board.give_back(draft.id, one.hold.node, one.devices)
    board.fleet = release(board.fleet, releases)
    empty = {one.hold.node for one in releases if not board.fleet.holds[one.hold.node]}
    emptied = sorted(empty - board.keeps.keys())
    board.freed.extend(Freed(step, (key,), board.devices_on[key]) for key in emptied)
    board.fleet = release_nodes(board.fleet, emptied)
    for option in (one for one in options if one.proposal.subject.kind == SubjectKind.NODE):
        _let_go(board, step, option)


def _let_go(board: _Round, step: Step, option: Option) -> None:
    """Release a node that nobody uses."""
    key = option.proposal.subject.key
    if key not in board.fleet.nodes:
        board.misses.append(_miss(option, "superseded", "the node goes already, since its last holder stops"))
    elif board.fleet.holds[key] or key in board.keeps:
        board.misses.append(_miss(option, "no_whole_node", still_held(board.fleet, board.keeps, [key])))
    else:
        devices = float(board.fleet.nodes[key].gpu_count)
        draft = _draft(option, step, (), devices)
        board.drafts.append(draft)
        board.freed.append(Freed(step, (key,), {draft.id: max(devices, 1.0)}))
        board.fleet = release_nodes(board.fleet, [key])


def _cut(board: _Round, step: Step, named: NamedPool) -> None:
    """
    Cut a pool into slices.

    What stopped before and released no node so far may make room here. It counts only if the pool then frees more
    nodes than with these pods still running; else they are left alone.
    """
    pool = named.pool
    loose = board.loose(pool.nodes)
    running = restore(board.fleet, loose)
    cut = cut_pool(pool, running)
    base = running
    if loose:
        roomy = cut_pool(pool, board.fleet)
        if roomy is not None and (cut is None or len(roomy.released_nodes) > len(cut.released_nodes)):
            cut, base = roomy, board.fleet
    taken = set() if cut is None else {member.workload for member in cut.members}
    for workload in sorted(set(pool.members) - taken):
        member = pool.members[workload]
        board.misses.append(_miss(member.option, "no_whole_node", why_not_cut(pool, base, member, cut)))
    if cut is not None:
        _convert(board, step, named.name, cut, base)


def _convert(board: _Round, step: Step, name: PoolName, cut: PoolCut, base: Fleet) -> None:
    draft = Draft(
        options=tuple(member.option for member in cut.members),
        recommender=name.recommender,
        step=step,
        subject=Subject(SubjectKind.POOL, _pool_key(board.fleet, name)),
        chosen=tuple(Chosen(member.option.proposal.subject, member.alternative) for member in cut.members),
        counted=tuple(Release(hold, hold.devices) for hold in cut.moved),
        released_devices=cut.released_devices,
        layouts=cut.layouts,
        notes=(*cut_notes(cut, board.fleet), *(note for member in cut.members for note in member.option.notes)),
    )
    board.drafts.append(draft)
    touched = cut.touched_nodes
    devices = {draft.id: cut.released_devices}
    # A pod that runs on keeps its node from being touched, so whoever is named here did give devices back.
    for key in touched:
        for draft_id, given in sorted(board.devices_on.get(key, {}).items()):
            devices[draft_id] = devices.get(draft_id, 0.0) + given  # zero: its first devices here
    board.freed.append(Freed(step, cut.released_nodes, devices))
    for hold in cut.moved:
        if hold.node not in touched:
            board.give_back(draft.id, hold.node, hold.devices)
    board.fleet = release_nodes(move_to_slices(base, cut.moved, cut.slices), cut.released_nodes)


def _pool_key(fleet: Fleet, name: PoolName) -> str:
    """Return "cluster/pool"; with the model where the pool has several, since each is cut by itself."""
    models = {node.gpu_model for node in fleet.nodes.values() if node.pool == name.pool}
    return name.pool if len(models) == 1 else f"{name.pool} ({name.gpu_model})"


def _draft(option: Option, step: Step, given: Sequence[Release], devices: float) -> Draft:
    subject = option.proposal.subject
    return Draft(
        options=(option,),
        recommender=option.proposal.recommender,
        step=step,
        subject=subject,
        chosen=(Chosen(subject, option.best),),
        counted=tuple(given),
        released_devices=devices,
        notes=option.notes,
    )


def _miss(option: Option, code: str, reason: str) -> Miss:
    return Miss(option, Rejection(option.proposal.recommender, option.proposal.subject, code, reason))


def _staged(board: _Round) -> Staged:
    """Return the round; drafts without a part in a node that goes are misses."""
    firm = {draft_id for group in board.freed for draft_id in group.devices_by_draft}
    idle = [draft for draft in board.drafts if draft.id not in firm]
    misses = [
        _miss(
            option,
            "no_whole_node",
            still_held(_without(board.fleet, draft), board.keeps, {one.hold.node for one in draft.counted}),
        )
        for draft in idle
        for option in draft.options
    ]
    return Staged(
        fleet=board.fleet,
        drafts=tuple(draft for draft in board.drafts if draft.id in firm),
        freed=tuple(board.freed),
        misses=(*board.misses, *misses),
    )


def _without(fleet: Fleet, draft: Draft) -> Fleet:
    """Return the fleet after the draft, also where its pods were let run on."""
    again = [one for one in draft.counted if one.hold in fleet.holds[one.hold.node]]
    return release(fleet, again)
