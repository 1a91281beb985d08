"""Each module builds one part of the report from marts; pure."""
