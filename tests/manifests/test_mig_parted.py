import re
from collections import Counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from models.catalog.mig import board_of
from models.domain.recommendation import NodeLayout
from optimizer.manifests.mig_parted import config_name, mig_config_map, mig_runbook
from optimizer.packing.layouts import place

A100 = board_of("NVIDIA A100-SXM4-80GB")
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
MIXED = ("2g.20gb", "1g.10gb", "2g.20gb", "2g.20gb")
LAYOUTS = (
    NodeLayout("prod/n2", (MIXED, ("3g.40gb", "3g.40gb"), (), ())),
    NodeLayout("prod/n1", (("1g.10gb",) * 7, (), (), ())),
    NodeLayout("prod/n3", (("1g.10gb",) * 7, (), (), ())),
)


def configs(document):
    (text,) = document["data"].values()
    assert yaml.safe_load(text)["version"] == "v1"
    return yaml.safe_load(text)["mig-configs"]


def test_every_layout_a_node_is_labelled_with_is_in_the_map():
    names = {config_name("prod/serving", layout, LAYOUTS) for layout in LAYOUTS}
    assert names == {"earnkeep-serving-1", "earnkeep-serving-2"}
    assert set(configs(mig_config_map("prod/serving", LAYOUTS).apply)) == names | {"all-disabled"}
    labelled = re.findall(r"nvidia\.com/mig\.config=(\S+)", " ".join(mig_runbook("prod/serving", LAYOUTS).steps))
    assert set(labelled) == names


def test_nodes_cut_alike_share_a_layout():
    first, _, third = sorted(LAYOUTS, key=lambda layout: layout.node)
    assert config_name("prod/serving", first, LAYOUTS) == config_name("prod/serving", third, LAYOUTS)


def test_devices_are_listed_each_once_and_slices_add_up():
    written = configs(mig_config_map("prod/serving", LAYOUTS).apply)
    for layout in LAYOUTS:
        groups = written[config_name("prod/serving", layout, LAYOUTS)]
        devices = [device for group in groups for device in group["devices"]]
        assert sorted(devices) == [0, 1, 2, 3]
        for group in groups:
            assert group["mig-enabled"] is ("mig-devices" in group)
            for device in group["devices"]:
                assert Counter(group.get("mig-devices", {})) == Counter(layout.gpu_profiles[device])


def test_what_is_written_can_be_placed_on_the_board():
    for groups in configs(mig_config_map("prod/serving", LAYOUTS).apply).values():
        for group in groups:
            slices = [profile for profile, count in group.get("mig-devices", {}).items() for _ in range(count)]
            assert place(A100, slices) is not None


def test_the_way_back_is_whole_gpus():
    manifest = mig_config_map("prod/serving", LAYOUTS)
    assert configs(manifest.undo) == {"all-disabled": [{"devices": "all", "mig-enabled": False}]}
    assert manifest.undo["metadata"] == manifest.apply["metadata"] == {
        "name": "earnkeep-mig-parted-config", "namespace": "gpu-operator",
    }  # fmt: skip


def test_apply_and_undo_lead_to_and_fro(merged):
    manifest = mig_config_map("prod/serving", LAYOUTS)
    whole = merged({}, manifest.undo)
    cut = merged(whole, manifest.apply)
    assert cut == manifest.apply
    assert merged(cut, manifest.undo) == whole


def test_a_node_is_emptied_before_it_is_cut_and_used_after():
    steps = [step for step in mig_runbook("prod/serving", LAYOUTS).steps if "n1" in step]
    words = ["cordon n1", "drain n1", "label node n1", "Wait until", "get node n1", "uncordon n1"]
    assert [word in step for word, step in zip(words, steps, strict=True)] == [True] * 6
    assert steps[4].endswith("# expect 7 x 1g.10gb")


def test_the_way_back_goes_the_same_way():
    undo = [step for step in mig_runbook("prod/serving", LAYOUTS).undo_steps if "n1" in step]
    words = ["cordon n1", "drain n1", "mig.config=all-disabled", "Wait until", "uncordon n1"]
    assert [word in step for word, step in zip(words, undo, strict=True)] == [True] * 5


def test_tells_how_two_pools_share_the_one_map_of_a_cluster():
    assert any("earnkeep-serving-*" in step for step in mig_runbook("prod/serving", LAYOUTS).steps)


@pytest.mark.parametrize(
    "pool",
    ["prod/p", "prod/Größe", "prod/_", "prod/a.b", "prod/a-b", "prod/" + "long" * 15 + "-x", "c/p (NVIDIA H200)"],
)
def test_names_are_label_values_whatever_the_pool_is_called(pool):
    assert LABEL_VALUE.fullmatch(config_name(pool, LAYOUTS[0], LAYOUTS))


def test_pools_of_similar_names_do_not_share_layouts():
    pools = ("c/a.b", "c/a-b", "c/a_b", "c/A-b", "c/" + "x" * 60 + "-1", "c/" + "x" * 60 + "-2")
    assert len({config_name(pool, LAYOUTS[0], LAYOUTS) for pool in pools}) == len(pools)


@given(pool=st.text(max_size=80))
def test_any_text_makes_a_label_value(pool):
    assert LABEL_VALUE.fullmatch(config_name(f"c/{pool}", LAYOUTS[0], LAYOUTS))


def test_names_are_safe_in_yaml_and_in_a_shell(hostile_name, round_trip):
    layouts = (NodeLayout(f"c/{hostile_name}", (("1g.10gb",),)),)
    document = mig_config_map(f"c/{hostile_name}", layouts).apply
    assert round_trip(document) == document
    steps = mig_runbook(f"c/{hostile_name}", layouts).steps
    assert f"kubectl --context c cordon {_quoted(hostile_name)}" in steps


def _quoted(name):
    return name if re.fullmatch(r"[A-Za-z0-9@%+=:,./_-]+", name) else "'" + name.replace("'", "'\"'\"'") + "'"


def test_the_order_of_layouts_does_not_matter():
    assert mig_config_map("prod/p", LAYOUTS) == mig_config_map("prod/p", LAYOUTS[::-1])
    assert mig_runbook("prod/p", LAYOUTS) == mig_runbook("prod/p", LAYOUTS[::-1])


@pytest.mark.shared_data
def test_the_parser_of_mig_parted_has_nothing_against_it(rules):
    manifest = mig_config_map("prod/Größe (x)", LAYOUTS)
    assert rules([dict(manifest.apply), dict(manifest.undo)]) == []


@pytest.mark.shared_data
def test_the_checker_sees_a_layout_that_fits_no_board(rules):
    broken = mig_config_map("prod/p", (NodeLayout("prod/n1", (("3g.40gb", "3g.40gb", "1g.10gb"),)),))
    assert [finding[1] for finding in rules([dict(broken.apply)])] == ["MIG-GEOM-ANY"]
