//go:build unix && !linux

package gate

import "errors"

// none is the gate of systems that execute nothing: a warden must reap what its command leaves behind, and only Linux
// makes it the parent of that.
type none struct{}

// Forked is as Plain.
func Forked() (Gate, error) { return none{}, nil }

// Plain makes a gate whose Start fails with errors.ErrUnsupported.
func Plain() Gate { return none{} }

func (none) Start(*Order) error { return errors.ErrUnsupported }
func (none) Renew() error       { return nil }
func (none) Close()             {}
