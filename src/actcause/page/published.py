"""The figures of the paper's accuracy table, to stand beside one's own.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", ICML 2024, accuracy table:
error in percent over the conditional edges, of 100,000 frames (push and break: 500,000, and of the states scored
half are non-trivial).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DOMAINS = ("1-in", "2-in", "3-in", "3-chain", "3-m-in", "d-20", "tau-1", "push", "break")
RESAMPLED = ("push", "break")
SOURCE = "Chuck et al., ICML 2024, accuracy table"

ERRORS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "jaci": dict(zip(DOMAINS, (3.6, 2.6, 4.5, 9.3, 2.0, 7.7, 0.2, 13.0, 3.6), strict=True)),
        "grad": dict(zip(DOMAINS, (8.8, 27.0, 41.0, 46.0, 17.0, 8.0, 2.1, 22.0, 10.0), strict=True)),
        "attn": dict(zip(DOMAINS, (48.0, 50.0, 47.0, 46.0, 50.0, 43.0, 9.9, 39.0, 16.0), strict=True)),
        "cf": dict(zip(DOMAINS, (42.0, 42.0, 44.0, 47.0, 44.0, 45.0, 7.7, 41.0, 35.0), strict=True)),
    }
)
