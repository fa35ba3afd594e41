// Package text reads CSV, JSON Lines or svmlight files.
package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// SampleBytes is the number of bytes of the first file that determine the types of the columns. HeadBytes is the
// number of bytes of each file that determine its dialect.
const (
	SampleBytes = 4 << 20
	HeadBytes   = 64 << 10
)

// CSV is the selected columns of files of CSV or JSON Lines.
type CSV struct {
	source.Input
	CsvFiles []CsvFile
	None     bool          // there are no rows, only a header
	rounded  []atomic.Bool // for each column, whether a whole number was rounded to another number
	// textBytes is, for each column, the bytes of text for which the cells of a chunk have room at first; nil: none.
	textBytes []atomic.Int64
	comments  atomic.Int64 // number of comments
	skipped   skipped
	model     bool            // the columns have the types that a model takes
	rejects   *column.Rejects // nil: a line that can't be read is an error
	tables    *column.Tables
	empty     []string // paths of the empty files that are left out
}

// A CsvFile is the information about a file from its first rows.
type CsvFile struct {
	path string
	dialect
	empty bool
	place []int // for each column, its number among the read columns, or -1
	// second is, for each column that is read twice, as numbers and as texts, the second of its numbers among the read columns;
	// -1 for other columns; nil if there are none.
	second []int
	bound  []column.Column // the read columns as they are in the file
	nulls  *nullWords
	typing
	keys *keys          // of JSON Lines; nil for CSV
	seen []atomic.Bool  // of JSON Lines: for each read column, true once a row of the file has it
	out  []column.Lines // lines that are no rows
	rows int            // number of rows in the first chunk
}

// OpenCSV detects the dialect of each file and chooses the columns to read.
func OpenCSV(ctx context.Context, files []*source.File, req column.OpenOptions, opt Options, p column.Pool) (*CSV, error) {
	in := &CSV{model: req.Spec != nil}
	h, err := opt.Heads.read(ctx, files, req.Words, opt)
	if err != nil {
		return nil, err
	}
	in.leaveOut(files, &req, func(i int) bool { return h.files[i].empty })
	in.CsvFiles = slices.DeleteFunc(slices.Clone(h.files), func(f CsvFile) bool { return f.empty })
	for i := range in.CsvFiles {
		in.CsvFiles[i].typing = newTyping(req)
	}
	if err := in.infer(ctx, h.first, req); err != nil {
		return nil, err
	}
	in.None = h.all && in.CsvFiles[0].rows == 0
	return in, in.settle(ctx, req, p, h.all)
}

// leaveOut sets the files of the input: those that are not empty.
func (in *CSV) leaveOut(files []*source.File, req *column.OpenOptions, empty func(i int) bool) {
	constants := req.Constants
	req.Constants = nil
	for i, f := range files {
		if empty(i) {
			in.empty = append(in.empty, f.Path)
			continue
		}
		in.Files = append(in.Files, f)
		if constants != nil {
			req.Constants = append(req.Constants, constants[i])
		}
	}
}

// infer finds the columns of the files. The first rows of the first file that has a column determine its type. values are
// the guesses about the first file.
func (in *CSV) infer(ctx context.Context, values guesses, req column.OpenOptions) (err error) {
	types, typed := map[string]column.Column{}, map[string]bool{} // typed: columns of files that have rows
	for i := range in.CsvFiles {
		f := &in.CsvFiles[i]
		if i > 0 && !slices.ContainsFunc(f.names, func(name string) bool { return !typed[name] }) {
			continue
		}
		if i > 0 {
			head, _, err := headOf(in.Files[i], SampleBytes, f.Breaks(), isDecisive)
			if err != nil {
				return err
			}
			if values, err = f.guesses(ctx, head); err != nil {
				return err
			}
		}
		cols := f.columns(values)
		f.rows = values.rows
		column.AsModel(req, cols)
		if len(in.CsvFiles) == 1 {
			return in.assignRoles(req, func(int) []column.Column { return cols })
		}
		for _, c := range cols {
			if !typed[c.Name] {
				types[c.Name], typed[c.Name] = c, f.rows > 0
			}
		}
	}
	return in.assignRoles(req, func(i int) []column.Column { return in.CsvFiles[i].typed(types) })
}

// assignRoles chooses among the columns of all files.
func (in *CSV) assignRoles(req column.OpenOptions, cols func(file int) []column.Column) (err error) {
	in.tables = column.NewTables(in.Paths(), req)
	for i := range in.CsvFiles {
		in.tables.Set(i, in.CsvFiles[i].withoutRowNames(cols(i)))
	}
	if in.Roles, err = in.tables.AssignRoles(true); err != nil {
		for _, f := range in.CsvFiles {
			switch {
			case !errors.Is(err, column.ErrColumn) || f.namesAt == 0:
			case f.namesAt == 1:
				return message.Errorf("%w: the name is in line 1 of %s: use --header yes", err, f.path)
			default:
				return message.Errorf("%w: the name is in line %d of %s: remove the lines above it", err, f.namesAt, f.path)
			}
		}
		return err
	}
	for i := range in.CsvFiles {
		if in.CsvFiles[i].bound, err = in.tables.Bind(i); err != nil {
			return err
		}
		in.CsvFiles[i].put()
	}
	in.tables.Forget()
	if req.Spec != nil {
		in.readAsModel(req.SkipsTexts)
	}
	if s := req.Spec; s != nil && in.Roles.Label >= 0 {
		texts := func(c schema.Class) bool { return c.Kind == schema.String }
		in.Roles.Columns[in.Roles.Label].IsNumberLabel = len(s.Classes) > 0 && !slices.ContainsFunc(s.Classes, texts)
	}
	if req.Live {
		keepLive(in.Roles)
	}
	return nil
}

// put sets the places of the file's columns among the read columns.
func (f *CsvFile) put() {
	f.place = slices.Repeat([]int{-1}, len(f.names))
	f.second = nil
	for k, c := range f.bound {
		switch {
		case c.Index == column.Absent:
			continue
		case f.place[c.Index] < 0:
			f.place[c.Index] = k
			continue
		}
		if f.second == nil {
			f.second = slices.Repeat([]int{-1}, len(f.names))
		}
		f.second[c.Index] = k
	}
}

// settle finds the rejects, and unless the first rows are all, the types of kept columns of integers.
func (in *CSV) settle(ctx context.Context, req column.OpenOptions, p column.Pool, all bool) error {
	in.rounded, in.textBytes = make([]atomic.Bool, len(in.Roles.Columns)), make([]atomic.Int64, len(in.Roles.Columns))
	if err := in.examine(ctx, req, p); err != nil || all && req.Rejects == nil {
		return err
	}
	return in.settleKept(ctx, p)
}

// settleKept finds the kept columns whose type can't hold a text of a later row, and gives them another type, since a kept column has one
// type: numbers where it may have them, and every such text is one; otherwise text.
func (in *CSV) settleKept(ctx context.Context, p column.Pool) error {
	const most = 10_000 // numbers of wider tables stay numbers: the pass takes a KiB for each column
	isNarrow := len(in.Roles.Columns) <= most
	var kept []int
	for _, k := range in.Roles.Keep {
		c := in.Roles.Columns[k]
		mayBeText := c.TextType != nil && (c.KeepsTexts || isNarrow && !slices.Contains(in.Roles.Features, k))
		if c.Type.ID() != arrow.STRING && (mayBeText || c.WidensToNumbers) {
			kept = append(kept, k)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	later, err := in.Only(kept).later(ctx, p)
	var texts []Later
	for i, at := range later {
		c := &in.Roles.Columns[kept[i]]
		isText := at != nil && (!at.numbers && !at.padded || c.Type.ID() == arrow.BOOL) && !c.KeepsTexts
		switch {
		case at == nil, isText && slices.Contains(in.Roles.Features, kept[i]):
			continue // reading the rows reports a text among numbers
		case c.WidensToNumbers && at.numbers && !at.padded:
			c.Type, c.Integers = arrow.PrimitiveTypes.Float64, true
		default:
			c.Type, c.KeepsTexts = arrow.BinaryTypes.String, true
		}
		if isText {
			texts = append(texts, newLater(c.Name, in.CsvFiles[at.file].path, at.line, at.text, false))
		}
		c.Desc, c.WidensToNumbers = column.Describe(c.Type), false
	}
	in.Roles.Remedies = append(in.Roles.Remedies, NotesOfLater(texts)...)
	return err
}

// Only returns the input with some of the selected columns, given by their numbers.
func (in *CSV) Only(columns []int) *CSV {
	sub := &CSV{Input: source.Input{Files: in.Files, Roles: &column.Roles{}, Memory: in.Memory}, CsvFiles: slices.Clone(in.CsvFiles),
		rounded: make([]atomic.Bool, len(columns)), textBytes: make([]atomic.Int64, len(columns)), rejects: in.rejects, tables: in.tables}
	for _, k := range columns {
		sub.Roles.Columns = append(sub.Roles.Columns, in.Roles.Columns[k])
	}
	place := slices.Repeat([]int{-1}, len(in.Roles.Columns)) // number of each selected column among columns, or -1
	for n, k := range columns {
		place[k] = n
	}
	for i := range sub.CsvFiles {
		f := &sub.CsvFiles[i]
		bound := f.bound
		f.bound, f.place, f.second, f.seen = nil, slices.Clone(f.place), slices.Clone(f.second), nil
		for _, k := range columns {
			f.bound = append(f.bound, bound[k])
		}
		for n, k := range f.place {
			if k >= 0 {
				f.place[n] = place[k]
			}
		}
		for n, k := range f.second {
			if k < 0 {
				continue
			}
			if f.second[n] = place[k]; f.place[n] < 0 {
				f.place[n], f.second[n] = f.second[n], -1
			}
		}
	}
	return sub
}

// Without returns the input with nulls in some of the selected columns, given by their numbers. It returns nil for JSON Lines.
func (in *CSV) Without(columns []int) column.Input {
	if in.CsvFiles[0].keys != nil {
		return nil
	}
	all := make([]int, len(in.Roles.Columns))
	for k := range all {
		all[k] = k
	}
	sub := in.Only(all)
	sub.Roles, sub.rounded, sub.model, sub.empty = in.Roles, in.rounded, in.model, in.empty
	for i := range sub.CsvFiles {
		f := &sub.CsvFiles[i]
		for _, k := range columns {
			f.bound[k].Index, f.bound[k].Constant = column.Absent, nil
		}
		f.put()
	}
	return sub
}

// gaps returns notes about columns that files lack, and about empty files.
func (in *CSV) gaps() (notes []string) {
	if in.CsvFiles[0].keys != nil {
		in.unseen()
	}
	notes = in.tables.Notes(in.Paths())
	switch n := len(in.empty); {
	case n == 1:
		notes = append(notes, in.empty[0]+": the file is empty and has no rows")
	case n > 1:
		notes = append(notes, fmt.Sprintf("%s: the files are empty and have no rows", humanize.Files(in.empty)))
	}
	return notes
}

// LabelOnly returns the input with the label as its only column.
func (in *CSV) LabelOnly() column.Input {
	if in.CsvFiles[0].keys != nil {
		return in
	}
	only := in.Only([]int{in.Roles.Label})
	only.Roles.Weight = -1
	return only
}

// Semicolons returns true if semicolons are between the fields of the first file.
func (in *CSV) Semicolons() bool { return in.CsvFiles[0].Comma == ';' }

func (in *CSV) Total() int64 { return -1 }

func (in *CSV) Notes() (notes []string) {
	if k := in.CsvFiles[0].keys; k != nil {
		notes = append(notes, k.notes(in.Name())...)
	}
	notes = append(notes, in.CsvFiles[0].notes()...)
	notes = append(notes, in.frameNotes()...)
	notes = append(notes, in.gaps()...)
	if n := in.comments.Load(); n > 0 {
		lines := "1 line that begins with # is left out as a comment"
		if n > 1 {
			lines = humanize.Count(n) + " lines that begin with # are left out as comments"
		}
		notes = append(notes, fmt.Sprintf("%s: %s (a row has %s)", in.Name(), lines,
			humanize.Plural(int64(len(in.CsvFiles[0].names)), "field")))
	}
	notes = append(notes, in.rejects.Notes(in.Paths())...)
	notes = append(notes, in.adviceNotes()...)
	notes = append(notes, in.Roles.Remedies...)
	notes = append(notes, in.skippedNotes()...)
	for k := range in.rounded {
		if in.rounded[k].Load() && in.Roles.HandsOn(k) {
			notes = append(notes, fmt.Sprintf("column %q: whole numbers beyond 2^53 are rounded, since not all are 64-bit integers",
				in.Roles.Columns[k].Name))
		}
	}
	return notes
}

func (in *CSV) Batches(ctx context.Context, p column.Pool, _ memory.Allocator) iter.Seq2[*column.Batch, error] {
	spare := new(sync.Pool)
	jobs := Chunks(in.Files, in.breaks, in.chunkBytes(), spare, func(file int, c Chunk) iter.Seq[column.Job] {
		f := &in.CsvFiles[file]
		jobOf := func(c Chunk) func() (*column.Batch, error) {
			return func() (*column.Batch, error) {
				b, err := in.parse(ctx, f, c)
				if err != nil {
					return nil, err
				}
				if f.keys == nil { // a chunk of JSON Lines has several batches
					b.OnRelease = func() { c.recycle(spare) }
				}
				return b, nil
			}
		}
		if f.keys != nil {
			return jsonJobs(c, len(in.Roles.Columns), jobOf)
		}
		return One(c, jobOf(c))
	})
	return in.tables.CountRows(in.countSkipped(column.InOrder(ctx, p, in.Files[0].MemoryAhead(in.Memory), jobs)))
}

// frameNotes returns lines about the parts of files that are no rows: of the first three such files, and the number of the others.
func (in *CSV) frameNotes() (notes []string) {
	const most = 3
	files := 0
	for i := range in.CsvFiles {
		lines := in.CsvFiles[i].frameNotes(in.CsvFiles[i].path)
		if len(lines) == 0 {
			continue
		}
		if files++; files <= most {
			notes = append(notes, lines...)
		}
	}
	if files > most {
		notes = append(notes, fmt.Sprintf("%s: the same in %s", in.Name(), humanize.Plural(int64(files-most), "more file")))
	}
	return notes
}

// countSkipped yields the batches of a pass, and counts the comments and the repeated headers between their rows, and
// the texts that they skip.
func (in *CSV) countSkipped(pass iter.Seq2[*column.Batch, error]) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		n, headers, odd, marked := int64(0), repeatedHeaders{}, oddTexts{}, oddTexts{}
		defer func() {
			in.skipped.set(odd, marked, headers)
			for was := in.comments.Load(); n > was && !in.comments.CompareAndSwap(was, n); was = in.comments.Load() {
			}
		}()
		for b, err := range pass {
			if b != nil {
				n += b.Comments
				headers.add(b)
				odd.add(b.File, b.OddTexts)
				marked.add(b.File, b.MarkedNumbers)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

func (in *CSV) breaks(file int) Breaks { return in.CsvFiles[file].Breaks() }

// chunkBytes returns the size of the chunks. Chunks of rows with many columns are longer, as each has an array for each column.
func (in *CSV) chunkBytes() int {
	return min(max(ChunkBytes, columnBytes*len(in.Roles.Columns)), mostChunkBytes)
}

const (
	columnBytes    = 256      // text of a chunk for each column
	mostChunkBytes = 16 << 20 // approximate bytes of the longest chunks
)

func (in *CSV) parse(ctx context.Context, f *CsvFile, c Chunk) (*column.Batch, error) {
	if err := c.strayError(f.path, f.headerLine, f.out); err != nil {
		return nil, err
	}
	most := bytes.Count(c.Text, []byte{'\n'}) + 1
	if f.keys == nil { // a record has a delimiter or a line break after each field, except possibly the last
		most = min(most, len(c.Text)/len(f.names)+1)
	}
	values := in.emptyCells(f, most)
	for k := range in.textBytes {
		values[k].chars = make([]byte, 0, min(int(in.textBytes[k].Load()), len(c.Text)))
	}
	defer allot(values, most).Done()
	b := &column.Batch{File: f.path}
	lines := sync.OnceValue(func() []int64 { return f.Lines(c) })
	b.Line = func(row int64) int64 { return lines()[row] }
	var err error
	if f.keys != nil {
		b.Rows, err = f.parseJSON(ctx, c, values)
	} else {
		b.Rows, err = in.parseCSV(ctx, f, c, values, b)
	}
	if err != nil {
		return nil, err
	}
	for k := range values {
		if err := ctx.Err(); k%1024 == 0 && err != nil {
			b.Release()
			return nil, err
		}
		if values[k].digits != nil {
			if b.Digits == nil {
				b.Digits = make([]arrow.Array, len(values))
			}
			b.Digits[k] = values[k].digits.array()
		}
		if values[k].rounded {
			in.rounded[k].Store(true)
		}
		if n := int64(len(values[k].chars)); in.textBytes != nil && n > in.textBytes[k].Load() {
			in.textBytes[k].Store(n + n/8) // a later chunk has rarely more
		}
		b.OddTexts = withOdd(b.OddTexts, k, values[k].odd, b.Line)
		b.MarkedNumbers = withOdd(b.MarkedNumbers, k, values[k].marked, b.Line)
		if f.bound[k].Index == column.Absent {
			b.Columns = append(b.Columns, nil)
		} else {
			b.Columns = append(b.Columns, values[k].array())
		}
	}
	if err := b.Complete(f.bound, in.Roles.Columns); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// emptyCells returns cells for up to most rows of each selected column that the file has.
func (in *CSV) emptyCells(f *CsvFile, most int) []cells {
	values := make([]cells, len(in.Roles.Columns))
	for k, col := range in.Roles.Columns {
		if f.keys == nil && f.bound[k].Index == column.Absent {
			continue
		}
		values[k] = newCells(col, most, f.nulls)
		values[k].countsForms, values[k].semicolons = col.CountsForms && f.keys == nil, f.Comma == ';'
		values[k].booleans, values[k].keepsDigits, values[k].exactDigits = in.model && !col.WidensToNumbers, col.Digits, col.ExactDigits
		if col.Type.ID() == arrow.FLOAT64 && (col.ExactDigits || col.Digits && col.Integers) {
			values[k].digits = newDigits(most, col.ExactDigits)
		}
	}
	return values
}

// parseCSV adds the rows of a chunk to the cells, and its comments and repeated headers to b.
func (in *CSV) parseCSV(ctx context.Context, f *CsvFile, c Chunk, to []cells, b *column.Batch) (rows int64, err error) {
	s, out := f.rowsOf(c), column.From(f.out, c.line)
	plain := f.newDecimals()
	plain.into(f, to)
	for s.next(&out) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if len(out) == 0 {
			if n := plain.records(&s); n > 0 {
				rows += int64(n)
				continue
			}
		}
		rows++
		if line, err := f.row(&s, to, &plain, nil); err != nil {
			return 0, column.LineError(f.path, line, err)
		}
	}
	plain.flush()
	b.Comments, b.Headers = s.skipped, s.repeats
	return rows, nil
}

// row reads a record, and returns the first error with its line. If unfit isn't nil, it gets each text that contradicts the type of
// its column, and the record is read to its end.
func (f *CsvFile) row(s *scanner, to []cells, plain *decimals, unfit unfitText) (line int64, bad error) {
	first, n := s.line, 0
	for s.more {
		if n += plain.read(s, n); !s.more {
			break
		}
		at, err := f.cell(s, to, n, unfit)
		if err != nil && bad == nil {
			line, bad = at, err
		}
		if err != nil && unfit == nil {
			return line, bad
		}
		n++
	}
	if bad == nil && !f.fits(n) {
		return first, errFields(n, len(f.names))
	}
	return line, bad
}

// An unfitText gets a text that contradicts the type of column k of the selection.
type unfitText func(k int, line int64, text []byte)

// accepts returns nil for the error that a column must keep its texts, as another type keeps the text, and other errors unchanged. It
// passes the text of a contradiction on.
func (unfit unfitText) accepts(err error, k int, line int64, text []byte) error {
	if unfit == nil || !contradicts(err, false) {
		return err
	}
	if unfit(k, line, text); contradicts(err, true) {
		return nil
	}
	return err
}

// cell reads field n of a record, and returns its line if there is an error.
func (f *CsvFile) cell(s *scanner, to []cells, n int, unfit unfitText) (line int64, err error) {
	k := -1
	if n < len(f.place) {
		k = f.place[n]
	}
	second := n < len(f.second) && f.second[n] >= 0
	if k >= 0 && !second && to[k].plain(s) {
		return 0, nil
	}
	line = s.line
	text, quoted, err := s.field()
	if err == nil && k >= 0 {
		err = unfit.accepts(to[k].Add(text, quoted), k, line, text)
	}
	if k = -1; second {
		k = f.second[n]
	}
	if err == nil && k >= 0 {
		err = unfit.accepts(to[k].Add(text, quoted), k, line, text)
	}
	switch {
	case err == nil && n == len(f.names) && f.trailing && len(text) > 0:
		return line, errFields(n+1, n)
	case err != nil && n < len(f.names):
		return line, column.InColumn(f.names[n], err)
	}
	return line, err
}

// plain reads the next field if it is a number in its plainest form that the column keeps. Otherwise it reads nothing and returns false.
func (c *cells) plain(s *scanner) bool {
	switch {
	case c.refusesCodes && isCode(s.text[s.pos:]):
		return false
	case c.typ == arrow.FLOAT64 && !c.exactDigits:
		v, n := parseDecimal(s.text[s.pos:])
		if c.countsForms && n > 0 && isOddForm(s.text[s.pos:s.pos+n], v) || !s.plain(n) {
			return false
		}
		c.addNumber(v)
		return true
	case c.typ == arrow.INT64 && !c.widensToNumbers &&
		(!c.keepsTexts && !c.countsForms || s.pos < len(s.text) && isCanonical(s.text[s.pos:])):
		v, ok := s.integer()
		if ok {
			c.addWhole(v)
		}
		return ok
	}
	return false
}

func errFields(n, want int) error {
	return fmt.Errorf("the number of fields is %d, but %d in the first line: mend the line", n, want)
}

// examine finds the lines that are no rows, if they are to be left out.
func (in *CSV) examine(ctx context.Context, req column.OpenOptions, p column.Pool) error {
	in.rejects = req.Rejects
	err := examine(ctx, p, req.Memory, req.Rejects, in.Files, in.breaks, ChunkBytes,
		func(file int, c Chunk) (int64, []column.Reject, error) {
			return in.check(ctx, &in.CsvFiles[file], c, func(int, int64, []byte) {})
		}, req.Progress)
	for i := range in.CsvFiles {
		in.CsvFiles[i].out, _ = req.Rejects.Of(in.CsvFiles[i].path)
	}
	return err
}

// Most returns an upper bound of the number of rows: each of their columns takes at least a character and a
// separator. It returns -1 if a file is compressed, for standard input and for JSON Lines, whose rows may have no field.
func (in *CSV) Most() (rows int64) {
	if in.CsvFiles[0].keys != nil {
		return -1
	}
	for _, s := range in.Files {
		if s.Stdin != nil {
			return -1
		}
		if compressed, err := s.Compressed(); compressed || err != nil {
			return -1
		}
		rows += s.Info.Size()/int64(max(2, 2*len(in.Roles.Columns)-1)) + 1
	}
	return rows
}
