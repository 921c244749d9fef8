package main

import "io"

func generate(w io.Writer, kind string, n, rounds int) error { return nil }
