package dataset

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"halfspace/block"
)

// A mixedTable has features of every type, column by column, as float64s, and a label.
type mixedTable struct {
	rec    arrow.Record
	values [][]float64
	label  []bool
}

// newMixedTable has that many columns of each of the types; few values come often, so that dictionaries have a use.
func newMixedTable(tb testing.TB, rows, columns int, nullable bool) *mixedTable {
	rng := rand.New(rand.NewPCG(7, 11))
	m := &mixedTable{}
	var fields []arrow.Field
	var cols []arrow.Array
	p := arrow.PrimitiveTypes
	types := []arrow.DataType{p.Float32, p.Float64, p.Int8, p.Int16, p.Int32, p.Int64, p.Uint8, p.Uint16, p.Uint32,
		p.Uint64, arrow.FixedWidthTypes.Float16, arrow.FixedWidthTypes.Boolean}
	for c := range columns {
		typ := types[c%len(types)]
		values := make([]float64, rows)
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		for i := range values {
			values[i] = appendRandom(b, rng, c%3 == 0)
		}
		m.values = append(m.values, values)
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%03d", c), Type: typ, Nullable: nullable})
		cols = append(cols, b.NewArray())
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for range rows {
		yes := rng.IntN(3) == 0
		m.label = append(m.label, yes)
		b.Append(map[bool]string{false: "no", true: "yes"}[yes])
	}
	fields = append(fields, arrow.Field{Name: "label", Type: arrow.BinaryTypes.String, Nullable: nullable})
	cols = append(cols, b.NewArray())
	m.rec = array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows))
	return m
}

// appendRandom appends a random value and returns it.
func appendRandom(b array.Builder, rng *rand.Rand, few bool) float64 {
	u := rng.Uint64()
	if few {
		u = (u % 7) * 0x1234567890abcdef
	}
	switch b := b.(type) {
	case *array.Float32Builder:
		v := float32(int32(u)) / 1000
		b.Append(v)
		return float64(v)
	case *array.Float64Builder:
		v := float64(int64(u)) / 1e15
		b.Append(v)
		return v
	case *array.Int8Builder:
		b.Append(int8(u))
		return float64(int8(u))
	case *array.Int16Builder:
		b.Append(int16(u))
		return float64(int16(u))
	case *array.Int32Builder:
		b.Append(int32(u))
		return float64(int32(u))
	case *array.Int64Builder:
		v := int64(u) >> 12 // float64 holds it
		b.Append(v)
		return float64(v)
	case *array.Uint8Builder:
		b.Append(uint8(u))
		return float64(uint8(u))
	case *array.Uint16Builder:
		b.Append(uint16(u))
		return float64(uint16(u))
	case *array.Uint32Builder:
		b.Append(uint32(u))
		return float64(uint32(u))
	case *array.Uint64Builder:
		b.Append(u >> 11)
		return float64(u >> 11)
	case *array.Float16Builder:
		v := float32(int(u%4096)-2048) / 64
		b.Append(float16.New(v))
		return float64(v)
	case *array.BooleanBuilder:
		b.Append(u&1 != 0)
		return float64(u & 1)
	}
	panic("no such type")
}

// blocks builds the table's blocks value by value.
func mixedBlocks(m *mixedTable, bias, labels bool) (blocks []*block.Block) {
	cols := len(m.values)
	if bias {
		cols++
	}
	rows, per := int(m.rec.NumRows()), block.Rows(cols)
	for first := 0; first < rows; first += per {
		n := min(per, rows-first)
		b := block.New(int64(first), n, cols)
		for r := range n {
			for c, v := range m.values {
				b.X[r*b.Stride+c] = float32(v[first+r])
			}
			if bias {
				b.X[r*b.Stride+cols-1] = 1
			}
			b.Y[r] = -1
			if m.label[first+r] {
				b.Y[r] = 1
			}
		}
		if !labels {
			b.Y = nil
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// layouts are ways to write the same rows.
var layouts = []struct {
	name     string
	group    int64
	nullable bool
	opts     []parquet.WriterProperty
}{
	{"plain", 20_000, false, []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}},
	{"dictionary snappy", 777, false, []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy)}},
	{"tiny pages gzip", 16_384, true, []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Gzip),
		parquet.WithDataPageSize(1000)}},
	{"v2 zstd", 12_000, true, []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDataPageVersion(parquet.DataPageV2)}},
	{"v2 required brotli", 100_000, false, []parquet.WriterProperty{parquet.WithDataPageVersion(parquet.DataPageV2),
		parquet.WithCompression(compress.Codecs.Brotli), parquet.WithCompressionLevel(1), parquet.WithDataPageSize(5000)}},
}
