package index

import (
	"math"
	"testing"
)

func TestValidMeasures(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		v                  float64
		speed, load, usage bool
	}{
		{0, false, true, true}, {1e-300, true, true, true}, {1, true, true, true}, {1.01, true, true, false},
		{math.MaxFloat64, true, true, false}, {-1e-300, false, false, false}, {inf, false, false, false},
		{-inf, false, false, false}, {nan, false, false, false},
	}
	for _, tt := range tests {
		if speed, load, usage := ValidSpeed(tt.v), ValidLoad(tt.v), ValidUsage(tt.v); speed != tt.speed || load != tt.load || usage != tt.usage {
			t.Errorf("%g: speed %v, load %v, usage %v", tt.v, speed, load, usage)
		}
	}
}
