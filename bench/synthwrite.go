package bench

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"halfspace/dataset"
	"halfspace/internal/block"
)

// batchBytes is the approximate size of the part of a file that is made at a time. While one batch is written, the next
// one is made.
const batchBytes = 16 << 20

// WriteSynthetic makes a data set and writes it to path, in the formats of dataset.Create. The features x0, x1 and so on are
// float32, or int8 for a conjunction. The last column is the label, int8. There are no nulls. If progress isn't nil,
// WriteSynthetic calls it from time to time with the number of rows written. If Write fails or ctx is cancelled, it leaves no
// file at path.
func WriteSynthetic(ctx context.Context, path string, opt Synthetic, progress func(rows int64)) error {
	g, err := newGenerator(opt)
	if err != nil {
		return err
	}
	if opt.Conjunction > 0 {
		return write(ctx, g, path, progress, arrow.PrimitiveTypes.Int8, arrow.Int8Traits.CastToBytes)
	}
	return write(ctx, g, path, progress, arrow.PrimitiveTypes.Float32, arrow.Float32Traits.CastToBytes)
}

// write writes the rows with features of Go type E, which Arrow calls typ.
func write[E float32 | int8](ctx context.Context, g *generator, path string, progress func(int64), typ arrow.DataType,
	bytes func([]E) []byte) error {
	var fields []arrow.Field
	for _, name := range Names(g.opt.Features) {
		fields = append(fields, arrow.Field{Name: name, Type: typ})
	}
	schema := arrow.NewSchema(append(fields, arrow.Field{Name: "label", Type: arrow.PrimitiveTypes.Int8}), nil)
	metadata, err := g.metadata()
	if err != nil {
		return err
	}
	w, err := dataset.Create(ctx, path, schema, dataset.WriterOptions{Compression: g.opt.Compression,
		RowGroupRows: g.opt.RowGroupRows, Metadata: metadata})
	if err != nil {
		return err
	}
	defer w.Abort()
	chunks := min(16, max(1, batchBytes/(block.ChunkRows*g.opt.Features*typ.(arrow.FixedWidthDataType).Bytes())))
	size := min(g.opt.Rows, int64(chunks)*block.ChunkRows)
	next, ready := newSynthBatch[E](g.opt.Features, size), newSynthBatch[E](g.opt.Features, size)
	for first := int64(0); first-size < g.opt.Rows; first += size {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return next.fill(ctx, g, first, min(g.opt.Rows, first+size)) })
		group.Go(func() error { return ready.write(w, schema, bytes) })
		if err := group.Wait(); err != nil {
			return err
		}
		if progress != nil && ready.rows > 0 {
			progress(min(first, g.opt.Rows))
		}
		next, ready = ready, next
	}
	return w.Close()
}

// A synthBatch holds consecutive rows of a data set in columns.
type synthBatch[E float32 | int8] struct {
	rows   int
	cols   [][]E
	labels []int8
}

func newSynthBatch[E float32 | int8](features int, rows int64) *synthBatch[E] {
	b := &synthBatch[E]{labels: make([]int8, rows)}
	for range features {
		b.cols = append(b.cols, make([]E, rows))
	}
	return b
}

// fill makes rows first to last-1. It makes none if first isn't below last.
func (b *synthBatch[E]) fill(ctx context.Context, g *generator, first, last int64) error {
	b.rows = int(max(0, last-first))
	return g.chunks(ctx, first, last, func(row int64, x []float32, y int8) {
		r := int(row - first)
		for j, v := range x {
			b.cols[j][r] = E(v)
		}
		b.labels[r] = y
	})
}

// write writes the rows, if there are any.
func (b *synthBatch[E]) write(w *dataset.Writer, schema *arrow.Schema, bytes func([]E) []byte) error {
	if b.rows == 0 {
		return nil
	}
	var cols []arrow.Array
	add := func(data []byte) {
		d := array.NewData(schema.Field(len(cols)).Type, b.rows, []*memory.Buffer{nil, memory.NewBufferBytes(data)}, nil, 0, 0)
		defer d.Release()
		cols = append(cols, array.MakeFromData(d))
	}
	for _, col := range b.cols {
		add(bytes(col[:b.rows]))
	}
	add(arrow.Int8Traits.CastToBytes(b.labels[:b.rows]))
	rec := array.NewRecord(schema, cols, int64(b.rows))
	defer rec.Release()
	return w.Write(rec)
}
