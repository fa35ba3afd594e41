package npy

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// parentVariable is the variable of the environment that names arrays in the memory of the parent process. It is a list of
// PATH=DESCRIPTOR:PID:ADDRESS or PATH=DESCRIPTOR:PID:ADDRESS:TYPE, separated by commas. The file PATH has the header of an array, and a
// hole of a byte more than the elements take. The elements are in the memory of the process PID from ADDRESS on, and DESCRIPTOR is the
// process's open /proc/self/mem. If there is a TYPE, the header has float32, and the memory has float64 (f8) or int64 (i8), whose
// numbers are rounded. The parent changes no element while the command runs. So a program passes an array without a copy.
const parentVariable = "HALFSPACE_ARRAYS"

// parentMemory is where the elements of an array are in the memory of the parent process.
type parentMemory struct {
	descriptor, pid int
	address         int64
	typ             string // "f8" or "i8": elements that are rounded to float32; "": as in the header
}

// inParent returns where the elements of the array in a file are in the parent's memory, or nil if they are in the file.
func inParent(path string, h *header) *parentMemory {
	for _, one := range strings.Split(os.Getenv(parentVariable), ",") {
		name, place, _ := strings.Cut(one, "=")
		fields := strings.Split(place, ":")
		if name != path || len(fields) < 3 {
			continue
		}
		m := &parentMemory{}
		var err1, err2, err3 error
		m.descriptor, err1 = strconv.Atoi(fields[0])
		m.pid, err2 = strconv.Atoi(fields[1])
		m.address, err3 = strconv.ParseInt(fields[2], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil || m.descriptor < 0 || m.address <= 0 {
			continue
		}
		if m.typ = strings.Join(fields[3:], ":"); m.typ == "" || (m.typ == "f8" || m.typ == "i8") && h.kind == 'f' && h.size == 4 && !h.swapped {
			return m
		}
	}
	return nil
}

// wide are buffers of numbers that are rounded.
var wide = sync.Pool{New: func() any { return new([16 << 10]uint64) }}

// ReadAt reads the elements from byte at of the array on.
func (m *parentMemory) ReadAt(p []byte, at int64) (n int, err error) {
	if m.typ == "" {
		return m.read(p, at)
	}
	buffer := wide.Get().(*[16 << 10]uint64)
	defer wide.Put(buffer)
	for to := as[float32](p); len(to) > 0; n += len(buffer) * 4 {
		words := buffer[:min(len(buffer), len(to))]
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
		if _, err := m.read(bytes, 2*(at+int64(n))); err != nil {
			return n, err
		}
		if m.typ == "f8" {
			err = narrow(to, as[float64](bytes))
		} else {
			err = narrow(to, as[int64](bytes))
		}
		if err != nil {
			return n, err
		}
		to = to[len(words):]
	}
	return len(p), nil
}

var errWide = errors.New("too large for float32, whose numbers go up to 3.4e+38")

// narrow rounds numbers to float32. It returns an error if a number is too large.
func narrow[T float64 | int64](to []float32, from []T) error {
	to = to[:len(from)]
	for i, v := range from {
		f := float32(v)
		if f-f != 0 && v-v == 0 {
			return fmt.Errorf("%v is %w", v, errWide)
		}
		to[i] = f
	}
	return nil
}
