package main

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// addLocalNode adds this machine as a node: its cores, memory and GPUs.
func addLocalNode(tx *store.Tx) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	n := &index.Node{Name: name}
	n.Set(index.NCPUs, index.Value{Num: int64(runtime.NumCPU())})
	n.Set(index.Arch, index.Value{Str: runtime.GOARCH})
	n.Set(index.OS, index.Value{Str: runtime.GOOS})
	if kb := totalMemory(); kb > 0 {
		n.Set(index.Mem, index.Value{Num: kb})
	}
	if gpus := countGPUs(); gpus > 0 {
		n.Set(index.NGPUs, index.Value{Num: gpus})
	}
	_, err = tx.PutNode(n)
	return err
}

// totalMemory reads the memory of this machine in kb, 0 where it is not told.
func totalMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 && fields[0] == "MemTotal:" {
			kb, _ := strconv.ParseInt(fields[1], 10, 64)
			return kb
		}
	}
	return 0
}

// countGPUs counts the device files that NVIDIA's driver makes for each.
func countGPUs() int64 {
	devices, _ := filepath.Glob("/dev/nvidia[0-9]*")
	return int64(len(devices))
}
