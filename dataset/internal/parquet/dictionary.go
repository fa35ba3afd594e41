package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// readDictionary reads the dictionary of the chunk from a page.
func (r *Reader) readDictionary(h header, at int64) error {
	switch {
	case r.dict != nil:
		return errors.New("a second one")
	case h.encoding != plain && h.encoding != plainDictionary:
		return Unsupported(fmt.Sprintf("encoding %d can't be read: write the column with PLAIN encoding", h.encoding))
	case r.c.Type == Boolean:
		return errors.New("one of booleans")
	}
	b, err := r.load(h, at)
	if err == nil && r.c.Codec != Uncompressed {
		stored := b
		b, err = r.c.Codec.decompress(r.pool, stored.Bytes, int(h.uncompressed))
		stored.Release()
	}
	if err != nil {
		return err
	}
	d := &dictionary{data: b, n: int(h.values), width: r.c.width()}
	if w := d.width; w > 0 {
		if int64(d.n)*int64(w) > int64(len(b.Bytes)) {
			err = errShort
		} else {
			b.Bytes = b.Bytes[:d.n*w]
			r.convert(d)
		}
	} else {
		err = d.index()
	}
	if err != nil {
		b.Release()
		return err
	}
	r.dict = d
	return nil
}

// convert replaces the values by the values that Convert returns, unless it returns nil.
func (r *Reader) convert(d *dictionary) {
	if r.Convert == nil || d.n == 0 || r.c.ListDef > 0 {
		return
	}
	if made := r.Convert(d.data, d.n); made != nil {
		d.data.Release()
		d.data, d.width, d.made = made, len(made.Bytes)/d.n, true
	}
}

// made returns true if the page's values are looked up in the dictionary that Convert returned.
func (r *Reader) made() bool {
	return r.dict != nil && r.dict.made && (r.encoding == plainDictionary || r.encoding == rleDictionary)
}

// width returns the number of bytes of a value of the page in memory, or 0 if values have different lengths.
func (r *Reader) width() int {
	if r.made() {
		return r.dict.width
	}
	return r.c.width()
}

// index finds the starts of values of different lengths.
func (d *dictionary) index() error {
	p := plainBytes{d.data.Bytes}
	if d.n > len(p.data)/4 {
		return errShort
	}
	d.starts = make([]int32, d.n+1)
	for i := range d.n {
		v, err := p.next()
		if err != nil {
			return err
		}
		end := len(d.data.Bytes) - len(p.data)
		d.starts[i], d.starts[i+1] = int32(end-len(v)), int32(end+4)
		d.longest = max(d.longest, len(v))
	}
	return nil
}

// A dictionary is the values to which indices refer.
type dictionary struct {
	data    *Buffer
	n       int
	width   int     // bytes of a value; 0: values have different lengths
	made    bool    // Reader.Convert returned the values
	starts  []int32 // starts of values of different lengths; a value ends 4 bytes, for a length, before the next one starts
	longest int
}

func errIndex(index uint32, n int) error {
	return fmt.Errorf("index %d into a dictionary of %d values", index, n)
}

// fixedIndices are indices into a dictionary of values of a fixed length.
type fixedIndices struct {
	runs
	dict    *dictionary
	width   int
	table   *[256]uint64 // for looking up short indices
	scratch [1024]uint32
}

func (f *fixedIndices) fixed(dst []byte, n int) error {
	for n > 0 {
		if k, err := f.short(dst, n); err != nil {
			return err
		} else if k > 0 {
			dst, n = dst[k*f.width:], n-k
			continue
		}
		k, repeated, err := f.take(f.scratch[:min(n, len(f.scratch))])
		if err != nil {
			return err
		}
		switch {
		case repeated:
			err = f.fill(dst[:k*f.width])
		case f.width == 4:
			err = gather(As[uint32](dst), As[uint32](f.dict.data.Bytes), f.scratch[:k])
		case f.width == 8:
			err = gather(As[uint64](dst), As[uint64](f.dict.data.Bytes), f.scratch[:k])
		default:
			err = f.copyEach(dst, f.scratch[:k])
		}
		if err != nil {
			return err
		}
		dst, n = dst[k*f.width:], n-k
	}
	return nil
}

// short looks up some of the next n values of 4 bytes, if their indices are packed and have at most 8 bits. It
// returns the number of values.
func (f *fixedIndices) short(dst []byte, n int) (int, error) {
	w := f.runs.width
	if w == 0 || w > 8 || f.width != 4 {
		return 0, nil
	}
	if err := f.next(); err != nil {
		return 0, err
	}
	if f.packed == nil || f.at%8 != 0 {
		return 0, nil
	}
	if f.table == nil {
		f.table = f.dict.tableOf(w)
	}
	src := f.packed[f.at/8*w:]
	k := min(n/8, f.count/8, (len(src)-8+w)/w) * 8 // eight values at a time, while eight bytes are left
	if k <= 0 || beyond(src, k, w, f.dict.n) {
		return 0, nil // gather reports the wrong index
	}
	if w <= 4 {
		lookUpPairs(dst[:4*k], f.table, src, w)
	} else {
		lookUp(dst[:4*k], f.table, src, w)
	}
	f.at += k
	f.count -= k
	return k, nil
}

// tableOf returns a table from indices of w bits to values. An entry has the values of two indices if w is at most 4,
// otherwise the value of one index.
func (d *dictionary) tableOf(w int) *[256]uint64 {
	values, t := make([]uint64, 256), new([256]uint64) // zeros for indices without a value
	for i, v := range As[uint32](d.data.Bytes[:min(4*len(values), len(d.data.Bytes))]) {
		values[i] = uint64(v)
	}
	for i := range t {
		if t[i] = values[i]; w <= 4 {
			t[i] = values[i&(1<<w-1)] | values[i>>w]<<32
		}
	}
	return t
}

// beyond returns true if one of the first k packed indices is n or greater. k is a multiple of 8. It adds to each
// index the number that makes n one bit longer. It adds to every second index at a time, so that there is room for
// the additional bit.
func beyond(src []byte, k, width, n int) bool {
	w := uint(width) & 15
	if n >= 1<<w {
		return false
	}
	mask, add, longer, all := uint64(0), uint64(0), uint64(0), uint64(0)
	for i := uint(0); i < 8; i += 2 {
		mask |= (1<<w - 1) << (i * w & 63)
		add |= (1<<w - uint64(n)) << (i * w & 63)
		longer |= 1 << ((i + 1) * w & 63)
	}
	for range k / 8 {
		v := binary.LittleEndian.Uint64(src)
		all |= (v&mask + add) | (v>>w&mask + add)
		src = src[width:]
	}
	return all&longer != 0
}

// lookUpPairs looks up packed indices of at most 4 bits, eight for each 32 bytes of dst.
func lookUpPairs(dst []byte, pairs *[256]uint64, src []byte, width int) {
	w := 2 * (uint(width) & 7)
	mask := uint64(1)<<w - 1
	for len(dst) >= 32 && len(src) >= 8 {
		v, d := binary.LittleEndian.Uint64(src), dst[:32]
		binary.NativeEndian.PutUint64(d, pairs[uint8(v&mask)])
		v >>= w
		binary.NativeEndian.PutUint64(d[8:], pairs[uint8(v&mask)])
		v >>= w
		binary.NativeEndian.PutUint64(d[16:], pairs[uint8(v&mask)])
		v >>= w
		binary.NativeEndian.PutUint64(d[24:], pairs[uint8(v&mask)])
		dst, src = dst[32:], src[width:]
	}
}

// lookUp looks up packed indices of at most 8 bits, eight for each 32 bytes of dst.
func lookUp(dst []byte, table *[256]uint64, src []byte, width int) {
	w := uint(width) & 15
	mask := uint64(1)<<w - 1
	for len(dst) >= 32 && len(src) >= 8 {
		v, d := binary.LittleEndian.Uint64(src), dst[:32]
		binary.NativeEndian.PutUint32(d, uint32(table[uint8(v&mask)]))
		v >>= w
		binary.NativeEndian.PutUint32(d[4:], uint32(table[uint8(v&mask)]))
		v >>= w
		binary.NativeEndian.PutUint32(d[8:], uint32(table[uint8(v&mask)]))
		v >>= w
		binary.NativeEndian.PutUint32(d[12:], uint32(table[uint8(v&mask)]))
		v >>= w
		binary.NativeEndian.PutUint32(d[16:], uint32(table[uint8(v&mask)]))
		v >>= w
		binary.NativeEndian.PutUint32(d[20:], uint32(table[uint8(v&mask)]))
		v >>= w
		binary.NativeEndian.PutUint32(d[24:], uint32(table[uint8(v&mask)]))
		v >>= w
		binary.NativeEndian.PutUint32(d[28:], uint32(table[uint8(v&mask)]))
		dst, src = dst[32:], src[width:]
	}
}

func gather[V uint32 | uint64](dst, dict []V, indices []uint32) error {
	dst = dst[:len(indices)]
	for i, x := range indices {
		if int(x) >= len(dict) {
			return errIndex(x, len(dict))
		}
		dst[i] = dict[x]
	}
	return nil
}

func (f *fixedIndices) copyEach(dst []byte, indices []uint32) error {
	for i, x := range indices {
		if int(x) >= f.dict.n {
			return errIndex(x, f.dict.n)
		}
		copy(dst[i*f.width:(i+1)*f.width], f.dict.data.Bytes[int(x)*f.width:])
	}
	return nil
}

// fill fills dst with copies of the value of a run that repeats one index.
func (f *fixedIndices) fill(dst []byte) error {
	if int(f.value) >= f.dict.n {
		return errIndex(f.value, f.dict.n)
	}
	if len(dst) == 0 {
		return nil
	}
	copy(dst[:f.width], f.dict.data.Bytes[int(f.value)*f.width:])
	for n := f.width; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
	return nil
}

// bytesIndices are indices into a dictionary of values of different lengths.
type bytesIndices struct {
	runs
	dict    *dictionary
	scratch [256]uint32
}

func (b *bytesIndices) bytes(t *text, ends []int32) error {
	for len(ends) > 0 {
		k, repeated, err := b.take(b.scratch[:min(len(ends), len(b.scratch))])
		if err != nil {
			return err
		}
		for i := range k {
			x := b.value
			if !repeated {
				x = b.scratch[i]
			}
			if int(x) >= b.dict.n {
				return errIndex(x, b.dict.n)
			}
			if ends[i], err = t.add(b.dict.data.Bytes[b.dict.starts[x] : b.dict.starts[x+1]-4]); err != nil {
				return err
			}
		}
		ends = ends[k:]
	}
	return nil
}

func (b *bytesIndices) each() int { return b.dict.longest }
