//go:build !linux

package replica

import (
	"errors"
	"time"
)

// sinceBoot is unknown here: the clock is compared each time.
func sinceBoot() time.Duration { return -1 }

func threadID() int { return 0 }

// time is unknown here: a writer counts as working as long as it lives.
func (p *pulse) time() (int64, error) { return 0, errors.ErrUnsupported }
