package passes_test

import (
	"reflect"
	"testing"

	_ "halfspace/dataset"
	"halfspace/internal/checkpoint"
	"halfspace/internal/passes"
	_ "halfspace/internal/train" // registers the tasks of all learners
)

// TestFields: the method Fields of each structure that tasks send names all fields but functions, channels and interfaces
// other than errors.
func TestFields(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, of := range passes.Types() {
		check(t, of, seen)
	}
	if len(seen) < 100 {
		t.Errorf("tasks send %d types: some are missing", len(seen))
	}
}

// unsent are the fields that only the process that trains needs.
var unsent = map[string]bool{"ranked": true, "notes": true}

func check(t *testing.T, of reflect.Type, seen map[reflect.Type]bool) {
	if of == nil || seen[of] {
		return
	}
	seen[of] = true
	switch of.Kind() {
	case reflect.Slice, reflect.Array, reflect.Pointer:
		check(t, of.Elem(), seen)
	case reflect.Struct:
		if of.String() == "checkpoint.Part" || of.String() == "column.Rejects" { // nil where a task gets options
			return
		}
		v := reflect.New(of)
		m, is := v.Interface().(checkpoint.Fielder)
		named := map[field]bool{}
		if is {
			for _, f := range m.Fields() {
				named[field{reflect.ValueOf(f).Pointer(), reflect.TypeOf(f).Elem()}] = true
			}
		}
		checkFields(t, v.Elem(), is, named, seen)
	}
}

// A field is the address and the type of a field.
type field struct {
	at uintptr
	of reflect.Type
}

func checkFields(t *testing.T, v reflect.Value, is bool, named map[field]bool, seen map[reflect.Type]bool) {
	for f, value := range v.Fields() {
		kind := f.Type.Kind()
		switch {
		case kind == reflect.Func || kind == reflect.Chan || kind == reflect.Interface && f.Type != reflect.TypeFor[error]():
		case is && f.Anonymous && !named[field{value.Addr().Pointer(), f.Type}]:
			checkFields(t, value, is, named, seen)
		case is && unsent[f.Name]:
		case is && !named[field{value.Addr().Pointer(), f.Type}]:
			t.Errorf("%s: Fields doesn't name the field %s", v.Type(), f.Name)
		case !is && !f.IsExported():
			t.Errorf("%s has the field %s and no method Fields", v.Type(), f.Name)
		default:
			check(t, f.Type, seen)
		}
	}
}
