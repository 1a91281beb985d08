"""One simulated fleet held against its truth; `make bench-truth` does twenty that nobody looked at."""

import pytest

from benchmarks.bench_truth import spec_of
from benchmarks.truth import score

SEED = 5


@pytest.mark.slow
def test_all_planted_waste_is_found_no_decoy_is_advised_and_the_dollars_agree(tmp_path):
    one = score(spec_of(SEED), tmp_path)
    assert one.found_usd == pytest.approx(one.planted_usd)
    assert one.decoys >= 40
    assert one.decoys_advised == ()
    assert one.advised_usd == pytest.approx(one.true_usd, rel=0.001)
    assert one.worst_part_difference_usd < 0.00001
    assert one.unattributed_ratio < 0.01
