package row

import (
	"github.com/placectl/placectl/index"
)

const resourceVersion = 1

func resourceFields(f *Fields, def *index.Def) {
	f.Version(resourceVersion)
	KeyPart(f, "id", 0, 2, 2, &def.ID)
	Byte(f, "type", &def.Type)
	f.Bits(Fact{"consumable", &def.Consumable}, Fact{"unique", &def.Unique}) // their bits must not change
	f.Text("name", &def.Name)
}

// EncodeResource returns the row of a declared resource.
func EncodeResource(def index.Def) []byte { return encode(resourceFields, &def) }

// DecodeResource reads it.
func DecodeResource(key, payload []byte) (index.Def, error) {
	f, def := Fields{dir: reading, b: payload, key: key}, *new(index.Def)
	resourceFields(&f, &def)
	return def, f.done(Resources)
}
