package writer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"

	"halfspace/dataset/internal/column"
)

// A row group of a written file has maxGroupRows rows if the options give no number. In files with many columns it
// has fewer, about maxGroupValues values, but at least minGroupRows rows.
const (
	maxGroupRows   = 1 << 17
	minGroupRows   = 1 << 12
	maxGroupValues = 1 << 25
)

// groupShare = 8: a row group takes at most 1/8 of the memory, as Arrow's writers take several times the memory of a column.
const groupShare = 8

// WriteCodecs are the compressions for writing, by their names in the options.
var WriteCodecs = map[string]compress.Compression{
	"none": compress.Codecs.Uncompressed, "snappy": compress.Codecs.Snappy, "zstd": compress.Codecs.Zstd,
	"gzip": compress.Codecs.Gzip,
}

// Parquet writes a Parquet file, with Arrow's column writers but for columns of keys. It keeps the rows of a row group in memory until the
// group is full, then writes one column after the other: Arrow's writer of a column takes several times the memory of
// its values.
type Parquet struct {
	ctx    context.Context
	groups *rowGroups
	props  *parquet.WriterProperties // of groups
	base   []parquet.WriterProperty
	schema *arrow.Schema // schema of plain columns
	Groups grouping
	held   []heldRows // rows of the row group that is being filled
	levels levels
}

// heldRows are copies of rows.
type heldRows struct {
	columns []arrow.Array
	count   int64
	bytes   int64 // of their values
}

// pageBytes is the approximate number of bytes of text in a page. Arrow's writers check the size of a page only after
// every 1,024 values.
const pageBytes = 1 << 20

// partBytes is the approximate number of bytes that Arrow takes for a column of a part, in addition to its values.
const partBytes = 512

// A ParquetOptions is the options of a Parquet file; see WriterOptions.
type ParquetOptions struct {
	Compression string            // snappy, none, zstd or gzip; "": snappy
	GroupRows   int64             // maximum number of rows of a row group; 0: a number that depends on the columns
	Metadata    map[string]string // key-value metadata
	Memory      int64             // limit of the memory in bytes, of which a row group takes at most an eighth; 0: none
}

// NewParquet begins a Parquet file with the given schema. Writing returns an error after ctx has ended.
func NewParquet(ctx context.Context, out io.Writer, schema *arrow.Schema, opt ParquetOptions) (Encoder, error) {
	if opt.Compression == "" {
		opt.Compression = "snappy"
	}
	codec, ok := WriteCodecs[opt.Compression]
	if !ok {
		return nil, fmt.Errorf("unknown compression %q: use snappy, none, zstd or gzip", opt.Compression)
	}
	if opt.GroupRows == 0 {
		opt.GroupRows = min(maxGroupRows, max(minGroupRows, maxGroupValues/int64(max(1, schema.NumFields()))))
	}
	if opt.GroupRows < 0 {
		return nil, fmt.Errorf("%d rows in a row group: use 1 or more", opt.GroupRows)
	}
	groupBytes := int64(GroupBytes)
	if opt.Memory > 0 {
		groupBytes = min(groupBytes, max(column.LeastReading, opt.Memory)/groupShare)
	}
	schema = parquetSchema(schema)
	fields := make(pschema.FieldList, schema.NumFields())
	options := []parquet.WriterProperty{parquet.WithCompression(codec)}
	for i, f := range schema.Fields() {
		node, err := parquetNode(f)
		if err != nil {
			return nil, err
		}
		fields[i] = node
		values, path := f.Type, f.Name
		if list, ok := values.(*arrow.ListType); ok {
			values, path = list.Elem(), f.Name+".list.element"
		}
		if arrow.IsFloating(values.ID()) { // floating-point values rarely repeat
			options = append(options, parquet.WithDictionaryFor(path, false))
		}
	}
	props := parquet.NewWriterProperties(options...)
	root, err := pschema.NewGroupNode(props.RootName(), props.RootRepetition(), fields, -1)
	if err != nil {
		return nil, err
	}
	e := &Parquet{ctx: ctx, props: props, base: options, schema: schema, Groups: grouping{maxRows: opt.GroupRows, MaxBytes: groupBytes}}
	meta := metadata.KeyValueMetadata{}
	for _, key := range slices.Sorted(maps.Keys(opt.Metadata)) {
		if err := meta.Append(key, opt.Metadata[key]); err != nil {
			return nil, err
		}
	}
	e.groups, err = newRowGroups(out, root, props, meta)
	return e, err
}

// parquetSchema returns the schema of the columns that plainColumn returns.
func parquetSchema(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i, f := range fields {
		switch t := f.Type.(type) {
		case *arrow.DictionaryType:
			fields[i].Type = t.ValueType
		case *arrow.MapType:
		case arrow.ListLikeType:
			fields[i].Type = arrow.ListOf(t.Elem())
		}
	}
	return arrow.NewSchema(fields, nil)
}

// Write adds rec to the row group that is being filled, and begins new row groups if necessary.
func (e *Parquet) Write(rec arrow.Record) error {
	columns := slices.Clone(rec.Columns())
	for i, c := range columns {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		if !column.InBounds(c) {
			return fmt.Errorf("column %q: values out of range of its memory", rec.ColumnName(i))
		}
		if hasKeys(c) {
			continue
		}
		plain, err := plainColumn(c)
		if err != nil {
			return fmt.Errorf("column %q: %w", rec.ColumnName(i), err)
		}
		defer plain.Release()
		columns[i] = plain
	}
	return e.Groups.cut(columns, rec.NumRows(), func(part rowRange) error {
		if part.first {
			if err := e.writeGroup(); err != nil {
				return err
			}
		}
		return e.hold(columns, part)
	})
}

// joinedParts is the number of parts of about the same size that become one part.
const joinedParts = 16

// hold adds a copy of rows to the row group. It joins small parts of about the same size, and repeats this for the result.
func (e *Parquet) hold(columns []arrow.Array, rows rowRange) error {
	last := heldRows{make([]arrow.Array, len(columns)), rows.hi - rows.lo, rows.bytes}
	for i, c := range columns {
		last.columns[i] = array.NewSlice(c, rows.lo, rows.hi)
		defer last.columns[i].Release()
	}
	kept, bytes := len(e.held), rows.bytes
	e.held = append(e.held, last)
	for {
		from := e.smallParts(kept, bytes)
		if kept-from < joinedParts-1 {
			return e.join(kept, len(e.held))
		}
		for ; kept > from; kept-- {
			bytes += e.held[kept-1].bytes
		}
	}
}

// smallParts returns the number of the first part of the run of small parts before part to. A small part has at most bytes bytes, and
// at most a page of text. Its columns are joinable with the columns of part to.
func (e *Parquet) smallParts(to int, bytes int64) int {
	bytes = min(bytes, max(pageBytes, partBytes*int64(e.schema.NumFields())))
	from := to
	for from > 0 && e.held[from-1].bytes <= bytes && slices.EqualFunc(e.held[from-1].columns, e.held[to].columns, joinable) {
		from--
	}
	return from
}

// join replaces parts, from first up to, but not including, last, by one part with copies of their rows.
func (e *Parquet) join(first, last int) error {
	joined, same := heldRows{columns: make([]arrow.Array, e.schema.NumFields())}, make([]arrow.Array, last-first)
	for i := range joined.columns {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		for k, part := range e.held[first:last] {
			same[k] = part.columns[i]
		}
		var err error
		if joined.columns[i], err = array.Concatenate(same, memory.DefaultAllocator); err != nil {
			return err
		}
	}
	for _, part := range e.held[first:last] {
		joined.count += part.count
		joined.bytes += part.bytes
	}
	e.held = slices.Replace(e.held, first, last, joined)
	return nil
}

// writeGroup writes the rows in memory as a row group, if there are any.
func (e *Parquet) writeGroup() error {
	if len(e.held) == 0 {
		return nil
	}
	for to := len(e.held) - 1; to > 0; to-- {
		if from := e.smallParts(to, pageBytes); from < to {
			if err := e.join(from, to+1); err != nil {
				return err
			}
			to = from
		}
	}
	e.measure()
	rows := int64(0)
	for _, part := range e.held {
		rows += part.count
	}
	err := e.groups.add(int(rows), e.writeColumn)
	clear(e.held)
	e.held = e.held[:0]
	return err
}

// measure turns off the statistics of columns with long texts for the next row group: Arrow keeps the smallest and
// the largest text of every row group in memory until the file ends, and writes only short texts.
func (e *Parquet) measure() {
	options := slices.Clone(e.base)
	for i, f := range e.schema.Fields() {
		if slices.ContainsFunc(e.held, func(part heldRows) bool { return longest(part.columns[i]) > int(parquet.DefaultMaxStatsSize) }) {
			options = append(options, parquet.WithStatsFor(f.Name, false))
		}
	}
	*e.props = *parquet.NewWriterProperties(options...)
}

// longest returns the number of bytes of the longest value of a column of texts or binary values.
func longest(a arrow.Array) (bytes int) {
	if texts, ok := a.(array.BinaryLike); ok {
		for i := range a.Len() {
			bytes = max(bytes, texts.ValueLen(i))
		}
	}
	return bytes
}

// writeColumn writes column i of a row group.
func (e *Parquet) writeColumn(i int, c chunk) error {
	if err := e.ctx.Err(); err != nil {
		return err
	}
	parts := make([]arrow.Array, len(e.held))
	for k, part := range e.held {
		parts[k] = part.columns[i]
	}
	if keys := commonKeys(parts); keys != nil {
		return c.writeKeys(keys)
	}
	w, rows := file.NewColumnChunkWriter(c.meta, c.pages, c.props), 0
	for _, part := range parts {
		if err := e.writePart(w, i, part); err != nil {
			return err
		}
		rows += part.Len()
	}
	if w.RowsWritten() != rows {
		return fmt.Errorf("column %q has a null, and its schema allows none", e.schema.Field(i).Name)
	}
	return w.Close()
}

// writePart adds values to column i of a row group. It adds long texts in several steps.
func (e *Parquet) writePart(w file.ColumnChunkWriter, i int, col arrow.Array) error {
	if d, is := col.(*array.Dictionary); is { // its parts have other dictionaries
		plain, err := PlainValues(d)
		if err != nil {
			return err
		}
		defer plain.Release()
		col = plain
	}
	size := column.RowSizes(col)
	for lo, n := 0, col.Len(); lo < n; {
		hi := n
		if _, long := col.(array.BinaryLike); long {
			hi = lo + max(1, sort.Search(n-lo, func(k int) bool { return size(lo, lo+k+1) > pageBytes }))
		}
		if err := e.writeValues(w, i, array.NewSlice(col, int64(lo), int64(hi))); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

func (e *Parquet) writeValues(w file.ColumnChunkWriter, i int, col arrow.Array) error {
	e.levels.reset()
	nullable := e.schema.Field(i).Nullable
	if list, ok := col.(*array.List); ok {
		col = e.levels.list(list, nullable)
	} else if nullable {
		e.levels.optional(col, 0)
	}
	return writeValues(w, col, &e.levels)
}

// Finish writes the rest of the file.
func (e *Parquet) Finish() error {
	return errors.Join(e.writeGroup(), e.groups.finish())
}

// levels are Parquet's definition and repetition levels of values: they mark nulls and the starts of lists. Each is
// nil in a column without these levels.
type levels struct {
	def, rep []int16
}

// reset removes the levels. It sets them to nil, because Arrow distinguishes no levels from empty levels.
func (l *levels) reset() { l.def, l.rep = nil, nil }

// optional adds the definition level of each value: base for a null, base+1 for other values.
func (l *levels) optional(values arrow.Array, base int16) {
	if l.def == nil {
		l.def = make([]int16, 0, values.Len())
	}
	if values.NullN() == 0 {
		l.def = append(l.def, slices.Repeat([]int16{base + 1}, values.Len())...)
		return
	}
	for i := range values.Len() {
		def := base
		if values.IsValid(i) {
			def++
		}
		l.def = append(l.def, def)
	}
}

// list adds the levels of lists, and returns their elements. If lists may be null, the definition levels are 0 for a
// null list, 1 for an empty list, 2 for a null element and 3 for an element. Otherwise they are 0 for an empty list,
// 1 for a null element and 2 for an element.
func (l *levels) list(lists *array.List, nullable bool) arrow.Array {
	empty := int16(0)
	if nullable {
		empty = 1
	}
	from, _ := lists.ValueOffsets(0)
	_, to := lists.ValueOffsets(lists.Len() - 1)
	values := array.NewSlice(lists.ListValues(), from, to)
	l.def = make([]int16, 0, values.Len()+lists.Len())
	l.rep = make([]int16, 0, values.Len()+lists.Len())
	for i := range lists.Len() {
		lo, hi := lists.ValueOffsets(i)
		switch {
		case lists.IsNull(i):
			l.def, l.rep = append(l.def, 0), append(l.rep, 0)
		case lo == hi:
			l.def, l.rep = append(l.def, empty), append(l.rep, 0)
		}
		for k := lo; k < hi; k++ {
			def, rep := empty+1, int16(1)
			if values.IsValid(int(k - from)) {
				def++
			}
			if k == lo {
				rep = 0
			}
			l.def, l.rep = append(l.def, def), append(l.rep, rep)
		}
	}
	return values
}
