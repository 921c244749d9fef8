// Command placectl-etcd is placectl with databases in etcd: --db etcd://HOST:PORT,.../PREFIX.
package main

import (
	"github.com/placectl/placectl/cmd/placectl/command"

	_ "github.com/placectl/placectl/etcd" // databases named etcd://
)

func main() { command.Main() }
