//go:build etcd

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placectl/placectl/bench/members"
)

// TestEtcdPage runs docs/etcd.md: the blocks for three hosts make three members on loopback addresses,
// and the other blocks work with them.
func TestEtcdPage(t *testing.T) {
	program := commandPath(t)
	list := members.Find()
	if len(list) == 0 {
		t.Skip(members.Missing)
	}
	blocks := make(map[string]string)
	for _, b := range readBlocks(t, "../../docs/etcd.md", "##") {
		blocks[b.lang] += b.code
	}
	for i, etcd := range list {
		t.Run(filepath.Base(etcd), func(t *testing.T) {
			h := newHome(t, program)
			under := fmt.Sprintf("127.%d.%d.", 20+os.Getpid()%200, i)
			here := strings.NewReplacer("10.0.0.", under, "e1:", under+"1:", "e2:", under+"2:", "e3:", under+"3:")
			for name, text := range map[string]string{
				"placectl-etcd": "#!/bin/sh\nexec placectl \"$@\"\n",
				"hostname":      "#!/bin/sh\necho $ME\n",
				"apt-get":       "#!/bin/sh\n",
				"sudo":          "#!/bin/sh\nif [ $1 = tee ]; then exec cat >$HOME/$ME.env; fi\nexec \"$@\"\n",
				"systemctl": "#!/bin/sh\ncd\nset -a\n. ./$ME.env\nETCD_DATA_DIR=$HOME/$ME\n" +
					etcd + " >$ME.log 2>&1 &\necho $! >$ME.pid\n",
			} {
				if err := os.WriteFile(filepath.Join(h.dir, "stand-ins", name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() {
				cmd, said := h.command(context.Background(), "kill -9 $(cat *.pid)")
				if err := cmd.Run(); err != nil {
					t.Errorf("the members cannot be ended: %v: %s", err, said)
				}
			})
			for _, me := range []string{"e1", "e2", "e3"} {
				h.run("export ME=" + me + "\n" + here.Replace(blocks["sh"]))
			}
			h.run("export PLACECTL_REPLICAS=$HOME/replicas\n" + here.Replace(blocks["use"]) + blocks["do"] + `
				placectl-etcd log check
				placectl-etcd check -q
				placectl-etcd --db ${PLACECTL_DB}2 check -q
				placectl --db cluster.db check -q
				test "$(placectl-etcd job list -o id | wc -l)" -eq 1
				kill -STOP $(cat e1.pid)
				placectl-etcd place 1 -t 1h
				kill -CONT $(cat e1.pid)
				kill -9 $(cat e2.pid); rm e2.pid
				placectl-etcd place 1 -t 1h
				kill -STOP $(cat e3.pid)
				if placectl-etcd --lock-timeout 1s place 1 -t 1h; then exit 1; fi
				placectl-etcd --stale any status
				kill -CONT $(cat e3.pid)
				placectl-etcd log check`)
		})
	}
}
