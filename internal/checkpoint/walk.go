package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A Walk writes a state to bytes, or reads a state from bytes. One function describes the state for both directions,
// so that writing and reading can't differ. After an error, a Walk does nothing more. Before a Walk allocates memory
// for a slice that it reads, it checks the length of the slice against the bytes that are left.
type Walk struct {
	data      []byte // the bytes written so far, or the bytes left to read
	isReading bool
	err       error
}

var errCut = errors.New("it is cut")

// Write returns the bytes of a state. It returns an error if Read would reject the state.
func Write(state func(*Walk)) ([]byte, error) { return write(state, 0) }

// write is Write, with a buffer of size bytes at the start.
func write(state func(*Walk), size int) ([]byte, error) {
	w := Walk{data: make([]byte, 0, size)}
	if state(&w); w.err != nil {
		return nil, w.err
	}
	return w.data, nil
}

// Read sets a state from data, which Write returned. It returns an error if data are the bytes of another kind of
// state. The state may then be partly set.
func Read(data []byte, state func(*Walk)) error {
	w := Walk{data: data, isReading: true}
	state(&w)
	if w.err == nil && len(w.data) > 0 {
		w.err = fmt.Errorf("%d bytes are left over", len(w.data))
	}
	return w.err
}

// IsReading returns true if the Walk reads a state, and false if it writes.
func (w *Walk) IsReading() bool { return w.isReading }

// Fail ends the Walk with err, unless it already has an error.
func (w *Walk) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// number writes or reads 8 bytes, little-endian.
func (w *Walk) number(v uint64) uint64 {
	if !w.isReading {
		w.data = binary.LittleEndian.AppendUint64(w.data, v)
		return v
	}
	if w.err == nil && len(w.data) < 8 {
		w.err = errCut
	}
	if w.err != nil {
		return v
	}
	v, w.data = binary.LittleEndian.Uint64(w.data), w.data[8:]
	return v
}

func (w *Walk) Int(v *int64) { *v = int64(w.number(uint64(*v))) }

// Count writes or reads a number that is 0 or more.
func (w *Walk) Count(v *int) {
	n := w.number(uint64(*v))
	if n > math.MaxInt {
		w.Fail(fmt.Errorf("%d is no count", n))
		return
	}
	*v = int(n)
}

// Length writes or reads the length of a slice. It rejects a length if length × each exceeds the bytes that are left, and
// sets n to 0 after an error. each is the least number of bytes of an element.
func (w *Walk) Length(n *int, each int) {
	if w.Count(n); w.isReading && w.err == nil && *n > len(w.data)/each {
		w.err = errCut
	}
	if w.err != nil {
		*n = 0
	}
}

func (w *Walk) Word(v *uint64) { *v = w.number(*v) }

// Float writes or reads the bits of a number.
func (w *Walk) Float(v *float64) { *v = math.Float64frombits(w.number(math.Float64bits(*v))) }

// Bool writes or reads a boolean, which takes 8 bytes.
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

func (w *Walk) Text(v *string) {
	data := []byte(*v)
	Slice(w, &data)
	*v = string(data)
}

// Clock writes the time elapsed since start, or reads an elapsed time and sets start to now minus this time.
func (w *Walk) Clock(start *time.Time) {
	passed := int64(time.Since(*start))
	if w.Int(&passed); w.isReading {
		*start = time.Now().Add(-time.Duration(max(0, passed)))
	}
}

// Generator writes or reads the state of a generator of random numbers.
func (w *Walk) Generator(g *rand.PCG) {
	state, err := g.MarshalBinary()
	if Slice(w, &state); err == nil && w.err == nil && w.isReading {
		err = g.UnmarshalBinary(state)
	}
	if err != nil {
		w.Fail(err)
	}
}

// An Element is a type that the elements of a slice in a state may have.
type Element interface {
	byte | bool | int64 | uint64 | uint32 | float32 | float64
}

// Values writes or reads the elements of a slice of known length. Reading another length is an error.
func Values[E Element](w *Walk, v []E) {
	n := len(v)
	switch w.Count(&n); {
	case w.err != nil:
	case n != len(v):
		w.err = fmt.Errorf("it has %d elements where %d belong", n, len(v))
	case w.isReading && binary.Size(v) > len(w.data):
		w.err = errCut
	default:
		copyElements(w, v)
	}
}

// Slice writes or reads a slice of any length. It reads into the slice's memory if the capacity is large enough.
func Slice[E Element](w *Walk, v *[]E) {
	n := len(*v)
	w.Length(&n, binary.Size([1]E{}))
	if w.isReading {
		*v = slices.Grow((*v)[:0], n)[:n]
	}
	copyElements(w, *v)
}

// copyElements writes elements, or reads elements whose bytes are known to be there.
func copyElements[E Element](w *Walk, v []E) {
	if !w.isReading {
		w.data, _ = binary.Append(w.data, binary.LittleEndian, v)
		return
	}
	n := binary.Size(v)
	if _, err := binary.Decode(w.data[:n], binary.LittleEndian, v); err != nil { // more bytes make Decode panic for booleans
		w.Fail(err)
		return
	}
	w.data = w.data[n:]
}

// List writes or reads a slice of any length. Each element must take at least one byte.
func List[E any](w *Walk, v *[]E, each func(*E)) {
	n := len(*v)
	if w.Length(&n, 1); w.isReading {
		*v = (*v)[:0]
	}
	for i := range n {
		if w.err != nil {
			return
		}
		if w.isReading {
			*v = append(*v, *new(E))
		}
		each(&(*v)[i])
	}
}
