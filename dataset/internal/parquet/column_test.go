package parquet

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
)

// TestLargeDictionaries: a dictionary that would take more memory than before, or more than a batch on the way, isn't
// converted.
func TestLargeDictionaries(t *testing.T) {
	pool := NewPool(memory.DefaultAllocator)
	p := arrow.PrimitiveTypes
	half := column.Column{Type: arrow.FixedWidthTypes.Float16, Physical: int32(FixedBytes)}
	long, short := column.Column{Type: p.Int64, Physical: int32(Int64)}, column.Column{Type: p.Int32, Physical: int32(Int32)}
	for _, c := range []struct {
		col         column.Column
		width, n    int
		isConverted bool
	}{
		{long, 8, column.MaxBatchRows, true},
		{long, 8, column.MaxBatchRows + 1, false},
		{short, 4, column.MaxBatchRows, true},
		{half, 2, smallDictionary / 4, true},
		{half, 2, smallDictionary/4 + 1, false},
	} {
		c.col.Float = p.Float32
		r := columnReader{col: c.col, pool: pool}
		values := pool.Get(c.n * c.width)
		clear(values.Bytes)
		made := r.floats(values, c.n)
		if made != nil != c.isConverted {
			t.Errorf("%d values of %d bytes to float32: converted %t", c.n, c.width, made != nil)
		}
		made.Release()
		values.Release()
	}
}

// A badDisk can't be read.
type badDisk struct{}

func (badDisk) ReadAt([]byte, int64) (int, error) { return 0, errors.New("input/output error") }

// TestBadDisk: an error of the disk says what to do.
func TestBadDisk(t *testing.T) {
	if err := checkMagic(badDisk{}, 100); err == nil || err.Error() != "can't be read (input/output error): check the disk" {
		t.Errorf("error %v", err)
	}
}

// TestOutsideDictionary: a dictionary with a timestamp out of range isn't converted, since its null would become a 0.
func TestOutsideDictionary(t *testing.T) {
	pool := NewPool(memory.DefaultAllocator)
	for _, outside := range []bool{false, true} {
		r := columnReader{col: column.Column{Type: arrow.FixedWidthTypes.Timestamp_ns, Float: arrow.PrimitiveTypes.Float32,
			Physical: int32(Int96), OutOfRange: new(atomic.Bool)}, pool: pool}
		values := pool.Get(2 * 12)
		clear(values.Bytes)
		binary.LittleEndian.PutUint32(values.Bytes[8:], 2440588)
		binary.LittleEndian.PutUint32(values.Bytes[20:], 2440588)
		if outside {
			binary.LittleEndian.PutUint32(values.Bytes[20:], 5373484)
		}
		made := r.floats(values, 2)
		if made != nil == outside || r.col.OutOfRange.Load() != outside {
			t.Errorf("outside %t: converted %t, noted %t", outside, made != nil, r.col.OutOfRange.Load())
		}
		made.Release()
		values.Release()
	}
}
