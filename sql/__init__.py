"""Tables in layers: raw (connectors/load) -> 1_staging -> 2_intermediate -> 3_marts, and checks that return no rows."""
