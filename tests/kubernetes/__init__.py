"""Tests on the real Kubernetes site (tests/kubernetes_site)."""
