#!/bin/sh
# Builds kube-apiserver and etcd from Go modules into a folder: build.sh FOLDER. k8s.io/kubernetes is made for its own tree, where
# `replace` leads into staging; go.mod gives all of these the versions that were published with it.
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=$(echo "$version" | cut -d. -f2)
flag=k8s.io/component-base/version
nice -n 19 go build -trimpath -o "$out/kube-apiserver" \
  -ldflags "-s -w -X $flag.gitVersion=$version -X $flag.gitMajor=1 -X $flag.gitMinor=$minor" k8s.io/kubernetes/cmd/kube-apiserver
nice -n 19 go build -trimpath -o "$out/etcd" go.etcd.io/etcd/server/v3
