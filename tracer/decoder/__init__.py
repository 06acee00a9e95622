"""What is computed: Scenario → Trace, every value of a pass on a tape of primitive operations."""
