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
		if speed, load, usage := ValidSpeed(tt.v), ValidLoad(tt.v), ValidUsage(tt.v); speed != tt.speed ||
			load != tt.load || usage != tt.usage {
			t.Errorf("%g: speed %v, load %v, usage %v", tt.v, speed, load, usage)
		}
	}
}

func TestSetAmount(t *testing.T) {
	defs := NewDefs()
	n := &Node{Name: "n1"}
	for resource, text := range map[string]string{"ncpus": "8", "mem": "1.5GiB"} {
		if err := n.SetAmount(defs, resource, text); err != nil {
			t.Errorf("%s=%s: %v", resource, text, err)
		}
	}
	if cpus, mem := n.Amount(defs, "ncpus"), n.Amount(defs, "mem"); cpus != "8" || mem != "1536mb" {
		t.Errorf("%s cpus and %s, want 8 and 1536mb", cpus, mem)
	}
	before := len(n.Res)
	bad := map[string]string{"mme": "1gb", "ncpus": "many", "mem": "1 elephant", "ngpus": "0-1@x"}
	for resource, text := range bad {
		if err := n.SetAmount(defs, resource, text); err == nil {
			t.Errorf("%s=%s is taken", resource, text)
		}
	}
	if len(n.Res) != before || n.Amount(defs, "ncpus") != "8" || n.Amount(defs, "ngpus") != "" ||
		n.Amount(defs, "nosuch") != "" {
		t.Errorf("bad values have changed the node: %+v", n)
	}
	if err := n.SetAmount(defs, "ngpus", "0-1@0+2@1"); err != nil || n.Amount(defs, "ngpus") != "3" ||
		n.DevicesOf(NGPUs).String() != "0-1@0+2@1" {
		t.Errorf("%s GPUs, %v: %v", n.Amount(defs, "ngpus"), n.DevicesOf(NGPUs), err)
	}
}
