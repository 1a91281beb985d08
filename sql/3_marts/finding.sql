-- grain: source x code x subject; what a load did not believe or had to assume
select
    finding.source_id,
    finding.code,
    finding.subject,
    min(finding.message) as message,
    sum(finding.occurrences) as occurrences,
    sum(finding.usd) as usd
from raw.finding as finding
group by
    finding.source_id,
    finding.code,
    finding.subject
