package runner

import (
	"encoding/hex"
	"fmt"
	"time"
)

// Nonce tells who executes an attempt from everybody else.
type Nonce [16]byte

func (n Nonce) String() string { return hex.EncodeToString(n[:]) }

// MarshalText writes the nonce in hexadecimal.
func (n Nonce) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads it.
func (n *Nonce) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(n) {
		return fmt.Errorf("%q is no nonce", text)
	}
	_, err := hex.Decode(n[:], text)
	return err
}

// Process is a process, told from all others that there were.
type Process struct {
	Host  string
	Boot  string
	PIDNS uint64
	PID   int
	Born  uint64
}

// Outcome is how an attempt has ended.
type Outcome uint8

// The outcomes.
const (
	OutcomeNone Outcome = iota
	OutcomeExited
	OutcomeSignal
	OutcomeWalltime
	OutcomeOOM
	OutcomeUnbegun
	OutcomeRefused
	OutcomeLost
	OutcomeStopped
)

// ResourceUse is what an attempt has used.
type ResourceUse struct {
	CPUUser   time.Duration
	CPUSystem time.Duration
	MaxRSS    int64
	MemPeak   int64
	Leftover  int
}
