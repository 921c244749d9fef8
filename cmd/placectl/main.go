// Command placectl places jobs on a cluster that is described by one file: no
// daemon, every verb one transaction.
package main

import "github.com/placectl/placectl/cmd/placectl/command"

func main() { command.Main() }
