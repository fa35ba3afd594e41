package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// A Walk writes a state to bytes, or reads it back from them. One function walks a state in both directions, so that the
// two can't differ. After an error it does nothing more. What is read is compared with the bytes that are left before
// memory is taken.
type Walk struct {
	data    []byte // what was written, or what is left to read
	reading bool
	err     error
}

// Write returns the bytes of a state. It is an error if the state is none that Read would set.
func Write(state func(*Walk)) ([]byte, error) { return write(state, 0) }

// write is Write, with memory for so many bytes at once.
func write(state func(*Walk), size int) ([]byte, error) {
	w := Walk{data: make([]byte, 0, size)}
	if state(&w); w.err != nil {
		return nil, w.err
	}
	return w.data, nil
}

// Read sets a state to that of some bytes, which Write returned. It is an error if they are those of another state.
// Then the state may be set in part.
func Read(data []byte, state func(*Walk)) error {
	w := Walk{data: data, reading: true}
	state(&w)
	if w.err == nil && len(w.data) > 0 {
		w.err = fmt.Errorf("%d bytes are left over", len(w.data))
	}
	return w.err
}

// Reading tells whether the state is read, and not written.
func (w *Walk) Reading() bool { return w.reading }

// Fail makes the walk return an error, unless it has one.
func (w *Walk) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// number walks 8 bytes.
func (w *Walk) number(v uint64) uint64 {
	if !w.reading {
		w.data = binary.LittleEndian.AppendUint64(w.data, v)
		return v
	}
	if w.err == nil && len(w.data) < 8 {
		w.err = errors.New("it is cut")
	}
	if w.err != nil {
		return v
	}
	v, w.data = binary.LittleEndian.Uint64(w.data), w.data[8:]
	return v
}

// Int walks an integer.
func (w *Walk) Int(v *int64) { *v = int64(w.number(uint64(*v))) }

// Count walks a number that is 0 or more.
func (w *Walk) Count(v *int) {
	n := w.number(uint64(*v))
	if n > math.MaxInt {
		w.Fail(fmt.Errorf("%d is no count", n))
		return
	}
	*v = int(n)
}

// Word walks an unsigned integer.
func (w *Walk) Word(v *uint64) { *v = w.number(*v) }

// Float walks a number.
func (w *Walk) Float(v *float64) { *v = math.Float64frombits(w.number(math.Float64bits(*v))) }

// Bool walks a truth value.
func (w *Walk) Bool(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	if n = w.number(n); n > 1 {
		w.Fail(fmt.Errorf("%d is no truth value", n))
	}
	*v = n == 1
}

// Text walks a text.
func (w *Walk) Text(v *string) {
	data := []byte(*v)
	Slice(w, &data)
	*v = string(data)
}

// Clock walks the time since a moment. The moment that is read is as long ago.
func (w *Walk) Clock(start *time.Time) {
	passed := int64(time.Since(*start))
	if w.Int(&passed); w.reading {
		*start = time.Now().Add(-time.Duration(max(0, passed)))
	}
}

// Generator walks a generator of random numbers.
func (w *Walk) Generator(g *rand.PCG) {
	state, err := g.MarshalBinary()
	if Slice(w, &state); err == nil && w.err == nil && w.reading {
		err = g.UnmarshalBinary(state)
	}
	if err != nil {
		w.Fail(err)
	}
}

// An Element is what slices of a state hold.
type Element interface {
	byte | bool | int64 | uint64 | uint32 | float32 | float64
}

// Values walks the elements of a slice, whose length is known.
func Values[E Element](w *Walk, v []E) {
	if w.elements(len(v), binary.Size(v)) {
		copied(w, v)
	}
}

// Slice walks a slice of any length. It keeps the slice's memory where that is large enough.
func Slice[E Element](w *Walk, v *[]E) {
	n := len(*v)
	if !w.reading {
		w.elements(n, 0)
		copied(w, *v)
		return
	}
	n = int(min(w.number(0), math.MaxInt))
	size := binary.Size([1]E{})
	if w.err == nil && n > len(w.data)/size {
		w.err = errors.New("it is cut")
	}
	if w.err != nil {
		return
	}
	if cap(*v) < n {
		*v = make([]E, n)
	}
	*v = (*v)[:n]
	copied(w, *v)
}

// Inner walks the state of a part as one slice of bytes. It writes what state walks, and reads the bytes to data, for Part.Read.
func (w *Walk) Inner(data *[]byte, state func(*Walk)) {
	if w.reading {
		Slice(w, data)
		return
	}
	at := len(w.data)
	w.number(0)
	state(w)
	binary.LittleEndian.PutUint64(w.data[at:], uint64(len(w.data)-at-8))
}

// elements walks the number of elements, which must be n and take so many bytes.
func (w *Walk) elements(n, bytes int) bool {
	is := w.number(uint64(n))
	switch {
	case !w.reading || w.err != nil:
	case is != uint64(n):
		w.err = fmt.Errorf("it has %d elements where %d belong", is, n)
	case bytes > len(w.data):
		w.err = errors.New("it is cut")
	}
	return w.err == nil
}

// copied walks elements for which there are bytes.
func copied[E Element](w *Walk, v []E) {
	if !w.reading {
		w.data, _ = binary.Append(w.data, binary.LittleEndian, v)
		return
	}
	n := binary.Size(v)
	if _, err := binary.Decode(w.data[:n], binary.LittleEndian, v); err != nil { // no more bytes: it panics on more of truth values
		w.Fail(err)
		return
	}
	w.data = w.data[n:]
}

// List walks a slice of any length, each of whose elements takes a byte at least.
func List[E any](w *Walk, v *[]E, each func(*E)) {
	n := len(*v)
	if w.Count(&n); !w.reading {
		for i := range *v {
			each(&(*v)[i])
		}
		return
	}
	if w.err == nil && n > len(w.data) {
		w.err = errors.New("it is cut")
	}
	*v = (*v)[:0]
	for range n {
		if w.err != nil {
			return
		}
		*v = append(*v, *new(E))
		each(&(*v)[len(*v)-1])
	}
}
