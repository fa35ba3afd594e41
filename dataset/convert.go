package dataset

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
)

// Convert writes the rows of files to out, in the format of its extension, and returns how many they are. Of the options
// it uses Keep, the columns to write, all if there are none, Text, Workers, Progress and Warn. Few rows are in memory at
// a time. Columns of dictionaries are written as what they stand for.
func Convert(ctx context.Context, paths []string, out string, opt Options, wopt WriterOptions) (rows int64, err error) {
	p, err := opt.pool()
	if err != nil {
		return 0, err
	}
	opt.Label, opt.Spec = "", &block.Spec{Bias: true} // no features
	if len(opt.Keep) == 0 {
		if opt.Keep, err = allColumns(paths); err != nil {
			return 0, err
		}
	}
	in, err := openInput(ctx, paths, opt, p)
	if err != nil {
		return 0, err
	}
	w, err := Create(out, plainSchema(keptSchema(in.selection())), wopt)
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	for b, err := range in.batches(ctx, p, memory.DefaultAllocator) {
		if err != nil {
			return 0, err
		}
		err = w.writeBatch(ctx, b, in.selection())
		b.release()
		if err != nil {
			return 0, err
		}
		rows += b.rows
		if opt.Progress != nil {
			opt.Progress(rows, in.total())
		}
	}
	opt.tell(in.notes())
	return rows, w.Close()
}

// allColumns returns what Options.Keep says for all columns. Those of a Parquet file are named one by one, so that one
// that can't be read is an error: a pattern would pass it over.
func allColumns(paths []string) (names []string, err error) {
	files, err := Expand(paths)
	if err != nil {
		return nil, err
	}
	f := extensions[extension(files[0])]
	if f == "" && files[0] != "-" {
		if f, _, err = openSources(files[:1]); err != nil {
			return nil, err
		}
	}
	if f != formatParquet {
		return []string{"*"}, nil
	}
	err = withMetadata(files[0], func(m *fileMetadata) error {
		for _, c := range m.columns() {
			names = append(names, c.name)
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		err = errorIn(files[0], "no columns: name a file that has some")
	}
	return names, err
}

// plainSchema is a schema in which dictionaries are replaced by the type of their values.
func plainSchema(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i, f := range fields {
		if d, ok := f.Type.(*arrow.DictionaryType); ok {
			fields[i].Type = d.ValueType
		}
	}
	return arrow.NewSchema(fields, nil)
}

// writeBatch writes the kept columns of a batch.
func (w *Writer) writeBatch(ctx context.Context, b *batch, sel *selection) error {
	columns := make([]arrow.Array, len(sel.keep))
	for k, i := range sel.keep {
		columns[k] = b.columns[i]
		d, ok := columns[k].(*array.Dictionary)
		if !ok {
			continue
		}
		err := recovered(func() (err error) {
			columns[k], err = compute.TakeArray(ctx, d.Dictionary(), d.Indices())
			return err
		})
		if err != nil {
			return errorIn(b.file, "column %q: the dictionary is damaged (%w): write the file again", sel.columns[i].name,
				errors.New(oneLine(err.Error())))
		}
		defer columns[k].Release()
	}
	rec := array.NewRecord(w.schema, columns, b.rows)
	defer rec.Release()
	return w.Write(rec)
}
