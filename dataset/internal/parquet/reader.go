package parquet

import (
	"context"
	"fmt"
	"os"

	"halfspace/dataset/internal/frame"
	"halfspace/dataset/internal/parquet/page"
)

// decoded is a batch, or why there is none.
type decoded struct {
	batch *frame.Batch
	err   error
}

// A groupDecoder decodes a row group in the background.
type groupDecoder struct {
	file  *File
	group *rowGroup
	out   chan decoded // closed after the last batch, or an error
}

// send tells whether d was taken before the context was cancelled. A batch that wasn't is released.
func send(ctx context.Context, out chan<- decoded, d decoded) bool {
	select {
	case out <- d:
		return true
	case <-ctx.Done():
		d.batch.Release()
		return false
	}
}

// A groupReader reads the selected columns of a row group.
type groupReader struct {
	*File
	group   *rowGroup
	src     *os.File
	columns []*columnReader
	left    int64 // rows
	step    int   // rows of a batch
}

// Open begins to read a row group.
func (f *File) Open(ctx context.Context, group *rowGroup, mem *page.Pool) (*groupReader, error) {
	src, err := os.Open(f.path)
	if err != nil {
		return nil, frame.PathError(f.path, err)
	}
	if info, err := src.Stat(); err != nil || info.Size() != f.Info.Size() || !info.ModTime().Equal(f.Info.ModTime()) {
		src.Close()
		return nil, fmt.Errorf("%s: the file changed while it was read: try again", f.path)
	}
	r := &groupReader{File: f, group: group, src: src, left: group.rows}
	bytes := int64(1)
	for i, c := range group.Chunks {
		r.columns = append(r.columns, newColumnReader(src, f.columns[i], c.pages(f.columns[i], group.all), mem))
		bytes += min(max(4, c.uncompressed/group.all, int64(f.columns[i].Width)), frame.BatchBytes)
		if err := r.columns[i].skip(ctx, group.skip); err != nil {
			defer r.close()
			return nil, r.columnError(ctx, i, err)
		}
	}
	r.step = int(min(max(frame.BatchBytes/bytes, frame.MinBatchRows), frame.MaxBatchRows))
	if mem.Room > 0 {
		r.step = int(min(int64(r.step), int64(mem.Room*len(r.columns))/bytes))
	}
	r.step = max(64, r.step&^63)
	return r, nil
}
