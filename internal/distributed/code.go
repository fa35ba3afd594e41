package distributed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"halfspace/block"
)

// Values are encoded by their types, which both sides know. Numbers and lengths take 8 little-endian bytes.
// Floating-point numbers are encoded by their bits, so every value stays the same, also NaN. In a slice, float32 and
// uint32 take 4 bytes. Fields of structures are encoded whether they are exported or not. Functions, channels and
// interfaces other than errors are not encoded: in a structure they become nil. encoding/gob isn't used, since it turns
// a field of -0 into 0 and leaves out unexported fields.

// Encode returns the bytes of a value.
func Encode(v any) ([]byte, error) {
	var e encoder
	err := e.value(reflect.ValueOf(v))
	return e.b, err
}

// Decode sets the value that to points to. That value must have the type of the encoded value.
func Decode(b []byte, to any) error {
	d := decoder{b: b}
	d.value(reflect.ValueOf(to).Elem())
	return d.end()
}

// An encoder appends values.
type encoder struct{ b []byte }

func (e *encoder) number(n uint64) { e.b = binary.LittleEndian.AppendUint64(e.b, n) }

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	e.b = append(e.b, s...)
}

// value appends the bytes of v. It returns an error if values of v's type can't be encoded.
func (e *encoder) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		e.number(n)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		e.number(math.Float64bits(v.Float()))
	case reflect.String:
		e.text(v.String())
	case reflect.Slice:
		return e.slice(v)
	case reflect.Array:
		return e.elements(v)
	case reflect.Pointer:
		return e.pointer(v)
	case reflect.Struct:
		return e.fields(v)
	case reflect.Interface:
		e.error(v)
	case reflect.Func, reflect.Chan:
	default:
		return fmt.Errorf("a %s can't be sent to another process", v.Type())
	}
	return nil
}

// fields appends the fields of a structure. It reads them through their addresses, since reflection reads unexported
// fields only so.
func (e *encoder) fields(v reflect.Value) error {
	if !v.CanAddr() {
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		v = copied
	}
	for i := range v.NumField() {
		if err := e.value(field(v, i)); err != nil {
			return err
		}
	}
	return nil
}

// field returns a field of a structure that has an address.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

func (e *encoder) pointer(v reflect.Value) error {
	if v.IsNil() {
		e.number(0)
		return nil
	}
	e.number(1)
	return e.value(v.Elem())
}

// error appends the text of an error. Any other interface is encoded as nil.
func (e *encoder) error(v reflect.Value) {
	if v.Type() != reflect.TypeFor[error]() || v.IsNil() {
		e.number(0)
		return
	}
	e.number(1)
	e.text(v.Interface().(error).Error())
}

// slice appends the length of a slice plus 1, or 0 for nil, and then the elements.
func (e *encoder) slice(v reflect.Value) error {
	if v.IsNil() {
		e.number(0)
		return nil
	}
	e.number(uint64(v.Len()) + 1)
	switch n := v.Len(); v.Type().Elem().Kind() { // most slices have these types
	case reflect.Float64:
		e.b = append(e.b, block.LittleEndian(unsafe.Slice((*float64)(v.UnsafePointer()), n))...)
		return nil
	case reflect.Float32:
		e.b = append(e.b, block.LittleEndian(unsafe.Slice((*float32)(v.UnsafePointer()), n))...)
		return nil
	case reflect.Uint32:
		e.b = append(e.b, block.LittleEndian(unsafe.Slice((*uint32)(v.UnsafePointer()), n))...)
		return nil
	}
	return e.elements(v)
}

func (e *encoder) elements(v reflect.Value) error {
	for i := range v.Len() {
		if err := e.value(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// A decoder takes values from the front of b. After the first error it returns zeros.
type decoder struct {
	b   []byte
	err error
}

var errShort = errors.New("a message of another process is damaged: the programs of the cluster differ: use the same version everywhere")

func (d *decoder) number() uint64 {
	if len(d.b) < 8 {
		d.b, d.err = nil, errShort
		return 0
	}
	n := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[8:]
	return n
}

// length reads a length and rejects it if length × each exceeds the bytes left. each is the least number of bytes of an
// element.
func (d *decoder) length(each int) int {
	n := d.number()
	if n > uint64(len(d.b)/max(1, each)) {
		d.err = errShort
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.length(1)
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

// any reads a value of type t.
func (d *decoder) any(t reflect.Type) (any, error) {
	v := reflect.New(t).Elem()
	d.value(v)
	return v.Interface(), d.err
}

// end returns an error if bytes are left.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.err = errShort
	}
	return d.err
}

// value reads a value into v, which must be settable.
func (d *decoder) value(v reflect.Value) {
	if d.err != nil {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(d.number() != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(d.number()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(d.number())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Float64frombits(d.number()))
	case reflect.String:
		v.SetString(d.text())
	case reflect.Slice:
		d.slice(v)
	case reflect.Array:
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Pointer:
		if d.number() != 0 {
			v.Set(reflect.New(v.Type().Elem()))
			d.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			d.value(field(v, i))
		}
	case reflect.Interface:
		if d.number() != 0 {
			text := d.text()
			if v.Type() == reflect.TypeFor[error]() {
				v.Set(reflect.ValueOf(sent(text)))
			}
		}
	}
}

// sent returns the error of another process that has this text.
func sent(text string) error {
	if text == block.ErrNoLabels.Error() {
		return block.ErrNoLabels
	}
	return errors.New(text)
}

// slice reads a slice. It rejects a length that the bytes left can't hold: an element takes at least one byte.
func (d *decoder) slice(v reflect.Value) {
	n := d.number()
	if n == 0 {
		return
	}
	n--
	each := uint64(1)
	switch v.Type().Elem().Kind() {
	case reflect.Float64:
		each = 8
	case reflect.Float32, reflect.Uint32:
		each = 4
	}
	if n > uint64(len(d.b))/each {
		d.err = errShort
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
	switch each {
	case 8:
		for i, to := 0, unsafe.Slice((*float64)(v.UnsafePointer()), n); i < len(to); i++ {
			to[i] = math.Float64frombits(binary.LittleEndian.Uint64(d.b[8*i:]))
		}
		d.b = d.b[8*n:]
		return
	case 4:
		for i, to := 0, unsafe.Slice((*uint32)(v.UnsafePointer()), n); i < len(to); i++ { // float32 by its bits
			to[i] = binary.LittleEndian.Uint32(d.b[4*i:])
		}
		d.b = d.b[4*n:]
		return
	}
	for i := range int(n) {
		if d.value(v.Index(i)); d.err != nil {
			return
		}
	}
}
