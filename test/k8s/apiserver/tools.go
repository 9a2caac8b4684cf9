//go:build tools

// Package tools names the programs that build.sh builds, so that go.mod holds what they need.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
)
