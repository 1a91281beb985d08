-- grain: GPU or MIG instance x 5 minutes, inside the run's window
select
    sample.*
from raw.gpu_5m as sample
cross join run_window
where
    sample.bucket_start >= run_window.window_start
    and sample.bucket_start < run_window.window_end
