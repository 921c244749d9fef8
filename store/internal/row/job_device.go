package row

import (
	"encoding/binary"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
)

// A job's devices are how they are chosen, and for each resource of a node a set of bits,
// in whole bytes without zeros at the end. A job that has none, and says nothing of how, has
// nothing of this in its row.

func encodeJobDevices(e *encoder, j *Job) {
	e.byte(byte(j.Bind))
	e.uint(uint64(len(j.Devices)))
	for _, d := range j.Devices {
		e.uint(uint64(d.Node))
		e.uint(uint64(d.Res))
		var b []byte
		for _, w := range d.Which {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		for len(b) > 0 && b[len(b)-1] == 0 {
			b = b[:len(b)-1]
		}
		e.string(string(b))
	}
}

func decodeJobDevices(d *decoder, j *Job) {
	j.Bind = devices.Policy(d.byte())
	n := d.count()
	d.bad = d.bad || !j.Bind.Valid()
	for range n {
		bound := JobDevices{Node: uint32(d.uint()), Res: index.ResID(d.uint())}
		b := d.take(d.count())
		if len(b) > devices.MaxDevices/8 {
			d.bad = true
			return
		}
		for ; len(b) > 0; b = b[min(8, len(b)):] {
			var w [8]byte
			copy(w[:], b)
			bound.Which = append(bound.Which, binary.LittleEndian.Uint64(w[:]))
		}
		j.Devices = append(j.Devices, bound)
	}
}
