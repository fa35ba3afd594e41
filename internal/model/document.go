package model

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"reflect"
	"slices"
	"strings"
)

// A document writes a value as the JSON that encoding/json writes, indented by two spaces. It encodes pieces of long
// lists one after the other: encoding/json would hold the text of the whole value twice.
type document struct {
	out   *bufio.Writer
	sum   hash.Hash // of the bytes written
	bytes int64     // number of bytes written

	piece bytes.Buffer
	enc   *json.Encoder // writes to piece
}

const (
	pieceLength = 1 << 10  // most elements of a list in a piece
	pieceBytes  = 64 << 10 // most bytes of a []byte in a piece
)

// writeWithChecksum writes v, a pointer to a struct, as indented JSON. The last key is the checksum of all bytes before
// it. It returns the sum of all bytes, or errTooLarge if there are more than MaxFileBytes.
func writeWithChecksum(w io.Writer, v any) (Sum, error) {
	d := &document{sum: sha256.New()}
	d.out = bufio.NewWriter(io.MultiWriter(w, d))
	d.enc = json.NewEncoder(&d.piece)
	d.enc.SetEscapeHTML(false)
	err := d.fields(reflect.ValueOf(v).Elem(), "")
	d.text(",\n")
	if err == nil {
		err = d.out.Flush() // before the sum is read
	}
	if err != nil {
		return Sum{}, err
	}
	d.text(fmt.Sprintf("  \"checksum\": \"%s%x\"\n}\n", sumPrefix, d.sum.Sum(nil)))
	err = d.out.Flush()
	return Sum(d.sum.Sum(nil)), err
}

// Write adds p to the sum.
func (d *document) Write(p []byte) (int, error) {
	if d.bytes += int64(len(p)); d.bytes > MaxFileBytes {
		return 0, errTooLarge
	}
	return d.sum.Write(p)
}

// text writes s. A later Flush returns the error.
func (d *document) text(s string) { d.out.WriteString(s) }

// value writes v. prefix is the indentation of the line on which v begins.
func (d *document) value(v reflect.Value, prefix string) error {
	if !isLong(v) {
		text, err := d.encode(v, prefix)
		if err == nil {
			_, err = d.out.Write(text)
		}
		return err
	}
	switch v.Kind() {
	case reflect.Pointer:
		return d.value(v.Elem(), prefix)
	case reflect.Map:
		return d.entries(v, prefix)
	case reflect.Struct:
		err := d.fields(v, prefix)
		d.text("\n" + prefix + "}")
		return err
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return d.base64(v.Bytes())
	}
	return d.list(v, prefix)
}

// encode returns the text of v, until the next call.
func (d *document) encode(v reflect.Value, prefix string) ([]byte, error) {
	d.piece.Reset()
	d.enc.SetIndent(prefix, "  ")
	err := d.enc.Encode(v.Interface())
	return bytes.TrimSuffix(d.piece.Bytes(), []byte{'\n'}), err
}

// list writes a slice that isn't empty.
func (d *document) list(v reflect.Value, prefix string) error {
	separator := "["
	for i := 0; i < v.Len(); {
		part := v.Slice(i, min(i+pieceLength, v.Len()))
		if isLong(part) {
			part = v.Slice(i, i+1)
		}
		d.text(separator)
		separator = ","
		if i += part.Len(); isLong(part) {
			d.text("\n  " + prefix)
			if err := d.value(part.Index(0), prefix+"  "); err != nil {
				return err
			}
			continue
		}
		text, err := d.encode(part, prefix)
		if err != nil {
			return err
		}
		d.out.Write(text[len("[") : len(text)-len("\n"+prefix+"]")])
	}
	d.text("\n" + prefix + "]")
	return nil
}

// fields writes a struct up to its last field.
func (d *document) fields(v reflect.Value, prefix string) error {
	separator := "{"
	for f, of := range v.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		absent := options == "omitempty" && isEmpty(of) || options == "omitzero" && of.IsZero()
		if name == "-" || absent {
			continue
		}
		d.text(separator + "\n  " + prefix + `"` + name + `": `)
		separator = ","
		if err := d.value(of, prefix+"  "); err != nil {
			return err
		}
	}
	return nil
}

// entries writes a map that isn't empty, with texts as keys.
func (d *document) entries(v reflect.Value, prefix string) error {
	separator := "{"
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		name, err := d.encode(key, "")
		if err != nil {
			return err
		}
		d.text(separator + "\n  " + prefix + string(name) + ": ")
		separator = ","
		if err := d.value(v.MapIndex(key), prefix+"  "); err != nil {
			return err
		}
	}
	d.text("\n" + prefix + "}")
	return nil
}

// base64 writes bytes.
func (d *document) base64(b []byte) error {
	d.text(`"`)
	e := base64.NewEncoder(base64.StdEncoding, d.out)
	e.Write(b)
	err := e.Close()
	d.text(`"`)
	return err
}

// isEmpty returns true if encoding/json leaves out v, a field with omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// isLong returns true if v has a list of more than pieceLength elements or pieceBytes bytes. Types that make their own
// JSON have none.
func isLong(v reflect.Value) bool {
	if t := v.Type(); t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && isLong(v.Elem())
	case reflect.Struct:
		for _, of := range v.Fields() {
			if isLong(of) {
				return true
			}
		}
	case reflect.Map:
		for _, of := range v.Seq2() {
			if isLong(of) {
				return true
			}
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Uint8:
			return v.Len() > pieceBytes
		case reflect.Slice, reflect.Struct, reflect.Pointer, reflect.Map:
			for i := 0; i < v.Len() && v.Len() <= pieceLength; i++ {
				if isLong(v.Index(i)) {
					return true
				}
			}
		}
		return v.Len() > pieceLength
	}
	return false
}
