package distributed

import (
	"errors"
	"fmt"
	"reflect"

	"halfspace/block"
	"halfspace/internal/checkpoint"
)

// Values are encoded by their types, which both sides know, with a checkpoint.Walk. Floating-point numbers are encoded by
// their bits, so every value stays the same, also NaN and -0. A structure is encoded by its exported fields, or by the
// fields that its method Fields names. Functions, channels and interfaces other than errors are not encoded: in a
// structure they become nil. encoding/gob isn't used, since it turns a field of -0 into 0.

// A Message is a pointer to a structure with fields that aren't exported.
type Message interface {
	// Fields returns pointers to the fields that are encoded, always in the same order.
	Fields() []any
}

var (
	errDiffer  = errors.New("the programs of the cluster differ: use the same version everywhere")
	errDamaged = fmt.Errorf("a message of another process is damaged: %w", errDiffer)
)

func Encode(v any) ([]byte, error) {
	return checkpoint.Write(func(w *checkpoint.Walk) { typedValue(w, &v, reflect.TypeOf(v)) })
}

// Decode sets the value that to points to. That value must have the type of the encoded value.
func Decode(b []byte, to any) error {
	return read(b, func(w *checkpoint.Walk) { value(w, reflect.ValueOf(to).Elem()) })
}

func read(b []byte, state func(*checkpoint.Walk)) error {
	err := checkpoint.Read(b, state)
	if err != nil && !errors.Is(err, errDiffer) {
		return errDamaged
	}
	return err
}

// decodeValue returns the value of type t in the bytes of Encode.
func decodeValue(b []byte, t reflect.Type) (v any, err error) {
	return v, read(b, func(w *checkpoint.Walk) { typedValue(w, &v, t) })
}

// typedValue writes or reads *v, a value of type t.
func typedValue(w *checkpoint.Walk, v *any, t reflect.Type) {
	of := reflect.New(t).Elem()
	if !w.IsReading() {
		of.Set(reflect.ValueOf(*v))
	}
	value(w, of)
	*v = of.Interface()
}

// value writes or reads v, which has an address. Writing only reads v, because other goroutines may read it too.
func value(w *checkpoint.Walk, v reflect.Value) {
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
			slice(w, v)
		}
	case reflect.Array:
		for i := range v.Len() {
			value(w, v.Index(i))
		}
	case reflect.Pointer:
		if notNil(w, v) {
			if w.IsReading() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			value(w, v.Elem())
		}
	case reflect.Struct:
		fields(w, v)
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[error]() && notNil(w, v) {
			failure(w, v)
		}
	case reflect.Func, reflect.Chan:
	default:
		w.Fail(fmt.Errorf("a %s can't be sent to another process", v.Type()))
	}
}

// numberOrText writes v, or reads a number or text and calls set with it.
func numberOrText[T any](w *checkpoint.Walk, v T, walk func(*T), set func(T)) {
	if walk(&v); w.IsReading() {
		set(v)
	}
}

// notNil writes or reads whether v isn't nil.
func notNil(w *checkpoint.Walk, v reflect.Value) bool {
	is := !v.IsNil()
	w.Bool(&is)
	return is
}

// slice writes or reads a slice that isn't nil.
func slice(w *checkpoint.Walk, v reflect.Value) {
	if w.IsReading() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	switch p := v.Addr().Interface().(type) { // most slices have these types
	case *[]byte:
		checkpoint.Slice(w, p)
	case *[]uint32:
		checkpoint.Slice(w, p)
	case *[]float32:
		checkpoint.Slice(w, p)
	case *[]float64:
		checkpoint.Slice(w, p)
	default:
		n := v.Len()
		if w.Length(&n, 1); w.IsReading() {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range n {
			value(w, v.Index(i))
		}
	}
}

func fields(w *checkpoint.Walk, v reflect.Value) {
	if m, ok := v.Addr().Interface().(Message); ok {
		for _, f := range m.Fields() {
			value(w, reflect.ValueOf(f).Elem())
		}
		return
	}
	for f, field := range v.Fields() {
		if !f.IsExported() {
			w.Fail(fmt.Errorf("a %s can't be sent to another process: its field %s isn't exported", v.Type(), f.Name))
			return
		}
		value(w, field)
	}
}

// failure writes or reads the text of an error.
func failure(w *checkpoint.Walk, v reflect.Value) {
	if !w.IsReading() {
		text := v.Interface().(error).Error()
		w.Text(&text)
		return
	}
	var text string
	err := block.ErrNoLabels
	if w.Text(&text); text != err.Error() {
		err = errors.New(text)
	}
	v.Set(reflect.ValueOf(err))
}
