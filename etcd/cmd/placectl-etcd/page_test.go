package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/placectl/placectl/etcd/internal/members"
)

// TestEtcdPage runs docs/etcd.md: the blocks for three hosts make three members on loopback addresses, and the other
// blocks work with them.
func TestEtcdPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/etcd.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := make(map[string]string)
	for _, b := range regexp.MustCompile("(?ms)^```(sh|use|do)\n(.*?)^```").FindAllStringSubmatch(string(page), -1) {
		blocks[b[1]] += b[2]
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, binary := range members.Versions() {
		n++
		under := fmt.Sprintf("127.%d.%d.", 20+os.Getpid()%200, n)
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			here := strings.NewReplacer("10.0.0.", under, "e1:", under+"1:", "e2:", under+"2:", "e3:", under+"3:")
			for name, text := range map[string]string{
				"placectl-etcd": bePlacectl + "=1 exec " + self + " \"$@\"\n",
				"placectl":      bePlacectl + "=1 exec " + self + " \"$@\"\n",
				"hostname":      "echo $ME\n",
				"apt-get":       "",
				"sudo":          "if [ $1 = tee ]; then exec cat >$HOME/$ME.env; fi\nexec \"$@\"\n",
				"systemctl": "cd\nset -a\n. ./$ME.env\nETCD_DATA_DIR=$HOME/$ME\n" +
					strings.Join(members.Environment(), " ") + " " + binary + " >$ME.log 2>&1 &\necho $! >$ME.pid\n",
			} {
				path := filepath.Join(home, "stand-ins", name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			run := func(script string) {
				t.Helper()
				cmd := exec.Command("bash", "-ec", script)
				cmd.Dir = home
				cmd.Env = append(os.Environ(), "HOME="+home,
					"PATH="+filepath.Join(home, "stand-ins")+":"+os.Getenv("PATH"),
					"PLACECTL_REPLICAS="+filepath.Join(home, "replicas"))
				out, err := os.Create(filepath.Join(home, "out")) // members keep it open
				if err != nil {
					t.Fatal(err)
				}
				defer out.Close()
				cmd.Stdout, cmd.Stderr = out, out
				if err := cmd.Run(); err != nil {
					text, _ := os.ReadFile(out.Name())
					t.Fatalf("%v\n%s\n%s", err, script, text)
				}
			}
			defer run("kill -9 $(cat *.pid)")
			for _, me := range []string{"e1", "e2", "e3"} {
				run("export ME=" + me + "\n" + here.Replace(blocks["sh"]))
			}
			run(here.Replace(blocks["use"]) + blocks["do"] + `
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
