package swf

import "testing"

func TestSelect(t *testing.T) {
	isHost := func(name string) bool { return name == "big19" }
	for _, c := range []struct {
		asked  string
		mem    int64
		want   string
		avoids bool
	}{
		{"8:ppn=8:x86_64:cl_big", 8 << 30, "nodes=8:ppn=8:x86_64:cl_big,mem=8gb", false},
		{"1:ppn=10:brno", 60000 << 20, "nodes=1:ppn=10:brno,mem=60000mb", false},
		{"1:ppn=2", 1<<20 + 1, "nodes=1:ppn=2,mem=1025kb", false},
		{"1:ppn=1:mem=3gb", 400 << 20, "nodes=1:ppn=1:mem=3gb", false},
		{"big19.example.org:ppn=12:brno", -1, "nodes=big19:ppn=12:brno", false},
		{"1:ppn=1:big19+1:debian6.0", -1, "nodes=1:ppn=1:host=big19+1:debian6.0", false},
		{"1:ppn=5:host=big19.example.org", -1, "nodes=1:ppn=5:host=big19", false},
		{"1:ppn=1:^big19:x", -1, "nodes=1:ppn=1:x", true},
	} {
		if got, avoids := Select(c.asked, c.mem, isHost); got != c.want || avoids != c.avoids {
			t.Errorf("%s: %s, %t; want %s, %t", c.asked, got, avoids, c.want, c.avoids)
		}
	}
}
