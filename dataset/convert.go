package dataset

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/schema"
)

// Convert writes the rows of files to out, in the format of its extension, and returns how many they are. Of the options
// it uses Keep, the columns to write, all if there are none; Exclude, those of them to leave out; Text, Workers, Memory,
// Progress and Warn. A column that can't be written is an error, unless a pattern of Keep passes over it. Few rows are in memory at
// a time. Columns of dictionaries are written as what they stand for, lists of numbers to Parquet and Arrow files.
func Convert(ctx context.Context, paths []string, out string, opt Options, wopt WriterOptions) (rows int64, err error) {
	p, err := opt.pool()
	if err != nil {
		return 0, err
	}
	opt.Label, opt.Spec, opt.converts = "", &schema.Spec{Bias: true}, true // no features
	in, err := openInput(ctx, paths, opt, p)
	if err != nil {
		return 0, err
	}
	within(in, opt.Memory, GroupBytes)
	w, err := Create(out, plainSchema(keptSchema(in.selection())), wopt)
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	for b, err := range in.batches(ctx, p, memory.DefaultAllocator) {
		if err != nil {
			return 0, err
		}
		err = w.writeBatch(b, in.selection())
		b.release()
		if err != nil {
			return 0, err
		}
		rows += b.rows
		if opt.Progress != nil {
			opt.Progress(rows, in.total())
		}
	}
	opt.tell(in.sel.notes())
	opt.tell(in.notes())
	return rows, w.Close()
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
func (w *Writer) writeBatch(b *batch, sel *selection) error {
	columns := make([]arrow.Array, len(sel.keep))
	for k, i := range sel.keep {
		columns[k] = b.columns[i]
		d, ok := columns[k].(*array.Dictionary)
		if !ok {
			continue
		}
		err := recovered(func() (err error) {
			columns[k], err = plainValues(d)
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
