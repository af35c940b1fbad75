"""Measurements that ship with the package: the conformance suite of runtime backends, and benchmarks."""
