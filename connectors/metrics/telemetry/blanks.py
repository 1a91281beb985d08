"""Values by which exporters say that they have none."""

import numpy as np

# DCGM 4.6 dcgm_structs.h: DCGM_INT32_BLANK and the three after it; 2147483647 is what careless readers clip to.
INT32_BLANKS = np.array([2147483632.0, 2147483633.0, 2147483634.0, 2147483635.0, 2147483647.0])
INT64_BLANK_FROM = 9.2e18  # 9223372036854775792 and the three after it, all 2^63 as float64
FP64_BLANKS = np.array([140737488355328.0, 140737488355329.0, 140737488355330.0, 140737488355331.0])
FP64_BLANKS_AS_PERCENT = FP64_BLANKS * 100.0  # a reader that scaled before it looked (slurm-job-exporter issue 30)
UNSIGNED_MINUS_ONE_32 = 4294967295.0  # dcgm-exporter issue 418
UNSIGNED_MINUS_ONE_64_FROM = 1.8e19  # 18446744073709551615
