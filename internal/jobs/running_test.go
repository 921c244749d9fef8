package jobs

import (
	"reflect"
	"testing"
)

func TestAltersRunning(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Alteration]()) {
		if f.Type.Kind() != reflect.Pointer {
			continue
		}
		var a Alteration
		reflect.ValueOf(&a).Elem().FieldByIndex(f.Index).Set(reflect.New(f.Type.Elem()))
		if err := a.forRunning(1); (err == nil) != AltersRunning(f.Name) {
			t.Errorf("%s of a running job: %v", f.Name, err)
		}
	}
}
