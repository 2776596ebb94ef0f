"""The measurements behind the published figures; run from the root as `python -m bench.NAME`."""
