package dataset

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/dataset/internal/transform"
	"halfspace/dataset/internal/writer"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// Convert writes the rows of files to out, in the format of its extension. It returns the number of rows. Only a few
// rows are in memory at a time.
//
// Convert uses these options:
//
//   - Keep names the columns to write, by default all.
//   - Exclude names columns that aren't written.
//   - Text, Workers, Memory, Progress and Warn.
//
// If a column can't be written, Convert returns an error, unless only patterns of Keep match the column. Dictionaries
// are written as their values. Lists of numbers can be written to Parquet and Arrow files.
func Convert(ctx context.Context, paths []string, out string, opt Options, wopt WriterOptions) (rows int64, err error) {
	opt.Label, opt.Spec = "", &schema.Spec{Bias: true} // no features
	t, err := Examine(ctx, paths, opt)
	if err != nil {
		return 0, err
	}
	d, err := draftOf(opt)
	if err != nil {
		return 0, err
	}
	d.ExcludesFromKeep, d.KeepsTexts = true, WritesCSV(out) && opt.Rejects == nil
	in, err := t.read(ctx, d)
	if err != nil {
		return 0, err
	}
	column.Within(in, t.opt.Memory, GroupBytes)
	columns := plainSchema(keptSchema(in.bound))
	t.opt.tell(base64Notes(columns, out))
	wopt.Copied, wopt.Warn, wopt.Workers, wopt.Memory = columns.NumFields(), opt.Warn, opt.Workers, opt.Memory
	w, err := Create(ctx, out, columns, wopt)
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	err = transform.Each(ctx, in.Batches(ctx, t.pool, t.mem), in.Total(), t.opt.progressOf(PassRows), func(b *column.Batch, _ int64) error {
		kept, err := in.bound.Kept(ctx, t.pool, b)
		if err == nil && kept.Rows != nil {
			if b, err = kept.Of(b); err == nil {
				defer b.Release()
			}
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		rows += b.Rows
		if err = w.writeBatch(b, in.bound); err != nil {
			return transform.Unfit(err)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	t.opt.tell(in.bound.Notes())
	t.opt.tell(in.Notes())
	return rows, w.Close()
}

// base64Notes returns a note about the columns of bytes that a text file has as base64.
func base64Notes(columns *arrow.Schema, out string) []string {
	var names []string
	for _, f := range columns.Fields() {
		if id := f.Type.ID(); id == arrow.BINARY || id == arrow.LARGE_BINARY || id == arrow.FIXED_SIZE_BINARY {
			names = append(names, strconv.Quote(f.Name))
		}
	}
	if f := extensions[source.Extension(out)]; names == nil || out != "-" && !f.isText() {
		return nil
	}
	return []string{humanize.Columns(names) + ": bytes are written as base64"}
}

// noteOthers records the copied columns with a float32 whose shortest decimal is another number as float64; 0.1 is an
// example.
func (w *Writer) noteOthers(rec arrow.Record) {
	for i := range w.copied {
		col, ok := rec.Column(i).(*array.Float32)
		if !ok || w.others[i] {
			continue
		}
		for r, v := range col.Float32Values() {
			exact := float64(v)
			if exact-exact != 0 || exact == math.Trunc(exact) && math.Abs(exact) < 1<<24 || col.IsNull(r) {
				continue
			}
			if back, err := strconv.ParseFloat(strconv.FormatFloat(exact, 'g', -1, 32), 64); err == nil && back != exact {
				w.others[i] = true
				break
			}
		}
	}
}

// tellOthers warns about the columns that noteOthers recorded: their text gives other numbers as float64.
func (w *Writer) tellOthers() {
	if n := len(w.others); n > 0 && w.warn != nil {
		first := slices.Min(slices.Collect(maps.Keys(w.others)))
		w.warn(message.Sprintf("%s of float32, such as %q: --standardize computes in float64, and reads other numbers from their text "+
			"(write .parquet or .arrow to keep the numbers)", humanize.Plural(int64(n), "column"), w.schema.Field(first).Name))
	}
}

// plainSchema returns the schema with each dictionary type replaced by the type of its values.
func plainSchema(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i, f := range fields {
		if d, ok := f.Type.(*arrow.DictionaryType); ok {
			fields[i].Type = d.ValueType
		}
	}
	return arrow.NewSchema(fields, nil)
}

func (w *Writer) writeBatch(b *column.Batch, bound *transform.Binding) error {
	columns := make([]arrow.Array, len(bound.Keep))
	for k, i := range bound.Keep {
		columns[k] = b.Columns[i]
		d, ok := columns[k].(*array.Dictionary)
		if !ok {
			continue
		}
		err := column.Recovered(func() (err error) {
			columns[k], err = writer.PlainValues(d)
			return err
		})
		if err != nil {
			return column.ErrorIn(b.File, "column %q: the dictionary is damaged (%w): write the file again", bound.Columns[i].Name,
				errors.New(column.OneLine(err.Error())))
		}
		defer columns[k].Release()
	}
	rec := array.NewRecord(w.schema, columns, b.Rows)
	defer rec.Release()
	err := w.Write(rec)
	if bad := (column.Damaged{}); errors.As(err, &bad) {
		return column.ErrorIn(b.File, "the data is damaged (%w): write the file again", bad)
	}
	return err
}
