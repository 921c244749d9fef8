package engine

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"

	_ "pgregory.net/rapid" // its flags
)

// seeded returns a source of random numbers from the seed of all random tests: -rapid.seed, or
// RAPID_SEED in the environment, or a new seed if neither is set.
func seeded(t testing.TB) *rand.Rand {
	seed, _ := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 0, 64)
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-rapid.seed=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}
