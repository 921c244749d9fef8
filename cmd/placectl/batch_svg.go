package main

import "github.com/urfave/cli/v2"

func (r *runner) batchSVG(c *cli.Context) error { return nil }
