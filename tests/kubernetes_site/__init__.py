"""A real Kubernetes on this machine, for tests. `python -m tests.kubernetes_site --help`."""

from .api import Api, Refused, path_of
from .model import SiteError
from .real_node import SHELL_IMAGE
from .site import KubernetesSite, missing

__all__ = ["SHELL_IMAGE", "Api", "KubernetesSite", "Refused", "SiteError", "missing", "path_of"]
