package parquet

import (
	"fmt"
	"io"
	"math/bits"
)

// A body is the bytes of a page that weren't read yet. They are in the file or in memory.
type body struct {
	src     io.ReaderAt
	at, end int64
	data    *Buffer // nil: the bytes are in the file
	from    int     // offset in data
	stored  *Buffer // bytes from which levels are read, if data was decompressed without them; otherwise nil
}

func (r *Reader) levelsV1(h header) error {
	var err error
	if r.c.ListDef > 0 {
		if r.reps, err = r.levelRuns(h.reps, 1); err != nil {
			return err
		}
	}
	if r.c.MaxDef > 0 {
		r.defs, err = r.levelRuns(h.defs, r.c.MaxDef)
	}
	return err
}

// levelRuns takes levels from the body of a first-version page.
func (r *Reader) levelRuns(e Encoding, most int) (runs, error) {
	width := bits.Len(uint(most))
	switch e {
	case rle:
		data, err := r.body.takePrefixed()
		return runs{data: data, width: width}, err
	case bitPacked:
		data, err := r.body.take((int64(r.count)*int64(width) + 7) / 8)
		return msbRuns(data, width, r.count), err
	}
	return runs{}, Unsupported(fmt.Sprintf("levels in encoding %d can't be read: write the file again", e))
}

func (r *Reader) levelsV2(h header, compressed bool) error {
	// Some writers write repetition levels even if the column isn't repeated.
	reps, err := r.body.take(int64(h.repLen))
	if err != nil {
		return err
	}
	defs, err := r.body.take(int64(h.defLen))
	if err != nil {
		return err
	}
	r.reps = runs{data: reps, width: 1}
	r.defs = runs{data: defs, width: bits.Len(uint(r.c.MaxDef))}
	if !compressed || r.body.left() == 0 {
		return nil
	}
	size := int64(h.uncompressed) - int64(h.repLen) - int64(h.defLen)
	if size < 0 {
		return fmt.Errorf("%d bytes, %d of them levels", h.uncompressed, int64(h.repLen)+int64(h.defLen))
	}
	return r.decompress(int(size))
}

// left returns the number of bytes that weren't taken yet.
func (b *body) left() int64 {
	if b.data != nil {
		return int64(len(b.data.Bytes) - b.from)
	}
	return b.end - b.at
}

// take returns the next n bytes. They stay valid as long as the page is current.
func (b *body) take(n int64) ([]byte, error) {
	if n > b.left() {
		return nil, errShort
	}
	if b.data != nil {
		b.from += int(n)
		return b.data.Bytes[b.from-int(n) : b.from], nil
	}
	data := make([]byte, n)
	if err := readAt(b.src, data, b.at); err != nil {
		return nil, err
	}
	b.at += n
	return data, nil
}

// takePrefixed reads a length of 4 bytes and takes that number of bytes.
func (b *body) takePrefixed() ([]byte, error) {
	n, err := b.take(4)
	if err != nil {
		return nil, err
	}
	return b.take(int64(As[uint32](n[:4])[0]))
}

// load reads the rest of the page into memory and returns it.
func (b *body) load(pool *Pool) ([]byte, error) {
	if b.data == nil {
		data, err := pool.page(int(b.left()))
		if err != nil {
			return nil, err
		}
		if err := readAt(b.src, data.Bytes, b.at); err != nil {
			data.Release()
			return nil, err
		}
		b.data = data
	}
	return b.data.Bytes[b.from:], nil
}
