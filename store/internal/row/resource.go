package row

import (
	"encoding/binary"

	"github.com/placectl/placectl/index"
)

const resourceVersion = 1

// Flags of a resource's row. On disk; must not change.
const (
	flagConsumable = 1 << iota
	flagUnique
)

// EncodeResource is the row of a resource that was declared.
func EncodeResource(def index.Def) []byte {
	e := encoder{}
	e.byte(resourceVersion)
	e.byte(byte(def.Type))
	var flags byte
	if def.Consumable {
		flags |= flagConsumable
	}
	if def.Unique {
		flags |= flagUnique
	}
	e.byte(flags)
	e.string(def.Name)
	return e.b
}

// DecodeResource reads it.
func DecodeResource(key, payload []byte) (index.Def, error) {
	d := decoder{b: payload}
	d.byte()
	def := index.Def{Type: index.Type(d.byte())}
	flags := d.byte()
	def.Consumable, def.Unique = flags&flagConsumable != 0, flags&flagUnique != 0
	def.Name = d.string()
	if len(key) != 2 {
		d.bad = true
	} else {
		def.ID = index.ResID(binary.BigEndian.Uint16(key))
	}
	return def, d.done(Resources, key)
}
