"""A local double of E2B: the wire protocol of its API and of envd, so that the real SDK runs with no cloud.

It is a double: a "sandbox" is a private folder in which real processes run as ordinary children of this process, each
in a process group of its own. Nothing is isolated beyond that; users are accepted and ignored; there is one address
for the API and for all sandboxes, in plain HTTP (the SDK is pointed at it by `api_url` and `sandbox_url`, or by
E2B_API_URL and E2B_SANDBOX_URL).

What it keeps to: the routes, bodies, statuses and error messages of e2b 2.63; that a killed or expired sandbox breaks
off its streams without an end event; and that a signal reaches one process, not its children.
"""

from tests.e2b_double.server import KEY, Double, open_double

__all__ = ["KEY", "Double", "open_double"]
