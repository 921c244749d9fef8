#!/usr/bin/env bash
# usage: testdata/etcd/test.sh [FOLDER] [flags of go test]
# Gets etcd into FOLDER (the cache of this user, if none is named) and runs every test that
# wants one. With -chaos 1h the run with faults takes an hour.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${XDG_CACHE_HOME:-$HOME/.cache}/placectl-etcd
case ${1:-} in "" | -*) ;; *) folder=$1; shift ;; esac
set_to=$(testdata/etcd/fetch.sh "$folder")
export "${set_to?}"
go test -tags etcd -count=1 -timeout 3h ./store/internal/etcd "$@"
go test -tags etcd -count=1 -timeout 3h -run 'TestEtcdPage|TestScriptsInEtcd|TestEtcdChaos' ./cmd/placectl
