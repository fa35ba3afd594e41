package checkpoint

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"
)

// Struct writes or reads a structure, to which v points: its exported fields but those with the tag `state:"-"`; see
// Value. lengths are the lengths of slices by the tag `length` of their fields: reading fails if a slice with a tag has
// another length.
func Struct(w *Walk, v any, lengths map[string]int) {
	of := reflect.ValueOf(v).Elem()
	Value(w, of, nil)
	if w.err == nil {
		w.Fail(wrongLength(of, lengths))
	}
}

// wrongLength returns the error of the first slice of a structure that has another length than its tag says, or nil.
func wrongLength(of reflect.Value, lengths map[string]int) error {
	for f, v := range of.Fields() {
		name, tagged := f.Tag.Lookup("length")
		switch {
		case f.Type.Kind() == reflect.Struct:
			if err := wrongLength(v, lengths); err != nil {
				return err
			}
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			for i := range v.Len() {
				if err := wrongLength(v.Index(i), lengths); err != nil {
					return err
				}
			}
		case tagged && v.Len() != lengths[name]:
			return fmt.Errorf("its %s has %d elements, and there are %d %s", f.Name, v.Len(), lengths[name], name)
		}
	}
	return nil
}

// A Fielder is a pointer to a structure with fields that aren't exported.
type Fielder interface {
	// Fields returns pointers to the fields that are encoded, always in the same order.
	Fields() []any
}

// Value writes or reads v, which has an address, by its type. Numbers keep their bits, also NaN and -0. A structure is
// encoded by its exported fields without the tag `state:"-"`, or by the fields that its method Fields names. A time is
// the start of a clock; see Walk.Clock. Functions and channels are left out. other encodes an interface; nil: there are
// none. Writing only reads v, because other goroutines may read it too.
func Value(w *Walk, v reflect.Value, other func(*Walk, reflect.Value)) {
	switch v.Kind() {
	case reflect.Bool:
		numberOrText(w, v.Bool(), w.Bool, v.SetBool)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		numberOrText(w, v.Int(), w.Int, v.SetInt)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		numberOrText(w, v.Uint(), w.Word, v.SetUint)
	case reflect.Float32, reflect.Float64:
		numberOrText(w, v.Float(), w.Float, v.SetFloat)
	case reflect.String:
		numberOrText(w, v.String(), w.Text, v.SetString)
	case reflect.Slice:
		if notNil(w, v) {
			slice(w, v, other)
		}
	case reflect.Array:
		for i := range v.Len() {
			Value(w, v.Index(i), other)
		}
	case reflect.Pointer:
		if notNil(w, v) {
			if w.IsReading() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			Value(w, v.Elem(), other)
		}
	case reflect.Struct:
		fields(w, v, other)
	case reflect.Interface:
		if other != nil {
			other(w, v)
		}
	case reflect.Func, reflect.Chan:
	default:
		w.Fail(fmt.Errorf("a %s can't be encoded", v.Type()))
	}
}

// numberOrText writes v, or reads a number or text and calls set with it.
func numberOrText[T any](w *Walk, v T, walk func(*T), set func(T)) {
	if walk(&v); w.IsReading() {
		set(v)
	}
}

// notNil writes or reads whether v isn't nil.
func notNil(w *Walk, v reflect.Value) bool {
	is := !v.IsNil()
	if w.Bool(&is); !is && w.IsReading() {
		v.SetZero()
	}
	return is
}

// slice writes or reads a slice that isn't nil.
func slice(w *Walk, v reflect.Value, other func(*Walk, reflect.Value)) {
	if w.IsReading() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	switch p := v.Addr().Interface().(type) { // most slices have these types
	case *[]byte:
		Slice(w, p)
	case *[]bool:
		Slice(w, p)
	case *[]int64:
		Slice(w, p)
	case *[]uint32:
		Slice(w, p)
	case *[]float32:
		Slice(w, p)
	case *[]float64:
		Slice(w, p)
	default:
		n := v.Len()
		if w.Length(&n, 1); w.IsReading() {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range n {
			Value(w, v.Index(i), other)
		}
	}
}

func fields(w *Walk, v reflect.Value, other func(*Walk, reflect.Value)) {
	switch m := v.Addr().Interface().(type) {
	case Fielder:
		for _, f := range m.Fields() {
			Value(w, reflect.ValueOf(f).Elem(), other)
		}
		return
	case *time.Time:
		w.Clock(m)
		return
	case *rand.PCG:
		w.Generator(m)
		return
	}
	for f, field := range v.Fields() {
		if f.Tag.Get("state") == "-" {
			continue
		}
		if !f.IsExported() {
			w.Fail(fmt.Errorf("a %s can't be encoded: its field %s isn't exported", v.Type(), f.Name))
			return
		}
		Value(w, field, other)
	}
}
