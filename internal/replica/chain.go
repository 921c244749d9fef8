package replica

import "crypto/sha256"

// ChainOf returns the chain of an entry: the first 8 bytes of the SHA-256 of its bytes. Each
// entry carries the chain of the one before it, which reveals a log that was modified or
// restored to an earlier state.
func ChainOf(entry []byte) [8]byte {
	sum := sha256.Sum256(entry)
	return [8]byte(sum[:])
}

// After returns the position after one more entry.
func (p Position) After(entry []byte) Position { return Position{p.N + 1, ChainOf(entry)} }
