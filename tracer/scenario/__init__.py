"""Scenarios: where they lie, how they are read, what they can say."""

from tracer.scenario.loading import Loaded, bundled, load, parse_given
from tracer.scenario.model import Scenario

__all__ = ["Loaded", "Scenario", "bundled", "load", "parse_given"]
