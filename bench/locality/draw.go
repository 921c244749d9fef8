package main

import (
	"math"
	"math/rand/v2"
)

// even returns the same weight for all files.
func even(_ *rand.Rand, files int) []float64 {
	out := make([]float64, files)
	for i := range out {
		out[i] = 1
	}
	return out
}

// segments returns a hundred stretches of files, each with a log-normal weight.
func segments(r *rand.Rand, files int) []float64 {
	const n = 100
	var weights [n]float64
	for i := range weights {
		weights[i] = math.Exp(r.NormFloat64())
	}
	out := make([]float64, files)
	for i := range out {
		out[i] = weights[i*n/files]
	}
	return out
}

// zipf returns the weight 1/k for the file of rank k. Ranks are random.
func zipf(r *rand.Rand, files int) []float64 {
	out := make([]float64, files)
	for i, k := range r.Perm(files) {
		out[i] = 1 / float64(k+1)
	}
	return out
}

// logNormal returns a speed around 1, from 0.2 to 8.
func logNormal(r *rand.Rand) float64 {
	for {
		if s := math.Exp(0.8 * r.NormFloat64()); s >= 0.2 && s <= 8 {
			return s
		}
	}
}

// twoKinds returns a speed: one host in five is fast.
func twoKinds(r *rand.Rand) float64 {
	if r.IntN(5) == 0 {
		return 4
	}
	return 0.5
}

// noisy returns a speed as measured, with noise.
func noisy(r *rand.Rand, s float64) float64 { return s * math.Exp(0.3*r.NormFloat64()) }

// wrong returns the speed of some other host.
func wrong(r *rand.Rand, _ float64) float64 { return logNormal(r) }
