-- grain: provider x region x item x kind x purchase option; the newest quote not after the window's end
with ranked as (
    select
        price.*,
        row_number() over (
            partition by price.provider, price.region, price.item, price.kind, price.purchase_option
            order by
                price.priced_at desc nulls last,
                price.source_id asc nulls last,
                price.source_object asc nulls last
        ) as place
    from raw.price as price
    cross join run_window
    where price.priced_at <= run_window.window_end
)

select
    ranked.provider,
    ranked.region,
    ranked.item,
    ranked.kind,
    ranked.purchase_option,
    ranked.usd_per_hour,
    ranked.state,
    ranked.priced_at,
    ranked.price_source
from ranked
where ranked.place = 1
