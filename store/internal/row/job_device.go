package row

import (
	"encoding/binary"

	"github.com/placectl/placectl/index/devices"
)

// A job's devices are stored as the policy by which they are chosen and, for each resource of
// a node, a set of bits, in whole bytes without zeros at the end. A job without devices and
// policy stores none of this.

func jobDeviceFields(f *Fields, j *Job) {
	Byte(f, "bind", &j.Bind)
	for i := range Items(f, "devices", &j.Devices) {
		d := &j.Devices[i]
		Uint(f, "node", &d.Node)
		Uint(f, "res", &d.Res)
		bitsField(f, "which", &d.Which)
		f.Next()
	}
	f.Must(j.Bind.Valid())
}

func bitsField(f *Fields, name string, bits *devices.Bits) {
	switch f.dir {
	case writing:
		n := 8 * len(*bits)
		for n > 0 && (*bits)[(n-1)/8]>>(8*((n-1)%8))&0xff == 0 {
			n--
		}
		f.uvar(uint64(n))
		for i := range n {
			f.b = append(f.b, byte((*bits)[i/8]>>(8*(i%8))))
		}
	case reading:
		b := f.take(f.count(0))
		f.Must(len(b) <= devices.MaxDevices/8)
		if *bits = nil; f.bad {
			return
		}
		for ; len(b) > 0; b = b[min(8, len(b)):] {
			var w [8]byte
			copy(w[:], b)
			*bits = append(*bits, binary.LittleEndian.Uint64(w[:]))
		}
	default:
		Uints(f, name, (*[]uint64)(bits))
	}
}
