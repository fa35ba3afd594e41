package distributed

import (
	"errors"
	"fmt"
	"reflect"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/passes"
)

// Values are encoded by their types, which both sides know; see checkpoint.Value. Functions, channels and interfaces
// other than errors are not encoded: in a structure they become nil. encoding/gob isn't used, since it turns a field of
// -0 into 0.

var errDamaged = fmt.Errorf("a message of another process is damaged: %w", passes.ErrProgramsDiffer)

func Encode(v any) ([]byte, error) {
	return checkpoint.Write(func(w *checkpoint.Walk) { typedValue(w, &v, reflect.TypeOf(v)) })
}

// Decode sets the value that to points to. That value must have the type of the encoded value.
func Decode(b []byte, to any) error {
	return read(b, func(w *checkpoint.Walk) { value(w, reflect.ValueOf(to).Elem()) })
}

func read(b []byte, state func(*checkpoint.Walk)) error {
	err := checkpoint.Read(b, state)
	if err != nil && !errors.Is(err, passes.ErrProgramsDiffer) {
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

// value writes or reads v, which has an address.
func value(w *checkpoint.Walk, v reflect.Value) { checkpoint.Value(w, v, failure) }

// failure writes or reads the text of an error. It leaves out other interfaces.
func failure(w *checkpoint.Walk, v reflect.Value) {
	is := !v.IsNil()
	if v.Type() != reflect.TypeFor[error]() {
		return
	}
	if w.Bool(&is); !is {
		return
	}
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
