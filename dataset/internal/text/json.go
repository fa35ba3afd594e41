package text

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/message"
	"halfspace/schema"
)

// keys are the keys of the objects in the first rows of JSON Lines files, in the order of their first appearance.
type keys struct {
	forms [][]byte // as they are written, with their quotes
	of    map[string]int

	absent  []string // columns of a model that aren't keys in the first rows
	mu      sync.Mutex
	further map[string]bool // keys that appeared later
}

func newKeys() *keys { return &keys{of: map[string]int{}, further: map[string]bool{}} }

// mostFurther is the largest number of keys that are remembered for a note.
const mostFurther = 1000

// OpenJSON finds the keys in the first rows of JSON Lines files, and chooses the columns to read. All files have these columns.
func OpenJSON(ctx context.Context, files []*source.File, req column.OpenOptions, p column.Pool) (*CSV, error) {
	f := CsvFile{nulls: newNullWords(req.Words), keys: newKeys(),
		typing: newTyping(req)}
	f.skipsBroken = req.Rejects != nil
	k, err := f.findKeys(ctx, files, p)
	if err != nil {
		return nil, err
	}
	cols := f.addModel(req, k.cols)
	column.AsModel(req, cols)
	in := &CSV{model: req.Spec != nil}
	in.leaveOut(files, &req, func(i int) bool { return k.empty[i] })
	for _, s := range in.Files {
		f.path = s.Path
		in.CsvFiles = append(in.CsvFiles, f)
	}
	if err := in.assignRoles(req, func(int) []column.Column { return cols }); err != nil {
		return nil, err
	}
	for i := range in.CsvFiles {
		in.CsvFiles[i].seen = make([]atomic.Bool, len(in.Roles.Columns))
	}
	return in, in.settle(ctx, req, p, k.all && len(in.Files) == 1)
}

// firstKeys are the columns of the keys in the first rows of files.
type firstKeys struct {
	cols  []column.Column
	empty []bool // for each file
	all   bool   // the first rows of the first file that isn't empty are all its rows
}

// findKeys finds the keys in the first rows of each file. The first file that has a value for a key determines the type
// of the column.
func (f *CsvFile) findKeys(ctx context.Context, files []*source.File, p column.Pool) (k firstKeys, err error) {
	k.empty = make([]bool, len(files))
	lead := 0
	for ; lead < len(files); lead++ {
		var head Chunk
		if head, k.all, err = headOf(files[lead], SampleBytes, Breaks{}, anyText); err != nil {
			return k, err
		}
		if k.empty[lead] = isBlankChunk(head); !k.empty[lead] {
			f.path = files[lead].Path
			k.cols, err = f.inferJSON(ctx, head)
			break
		}
	}
	if lead == len(files) {
		err = errEmpty(files)
	}
	if err != nil {
		return k, err
	}
	further, strange := files[lead+1:], make([]bool, len(files)) // strange: files with other keys
	err = p.Each(ctx, len(further), func(i int) error {
		head, _, err := headOf(further[i], HeadBytes, Breaks{}, anyText)
		k.empty[lead+1+i] = err == nil && isBlankChunk(head)
		strange[i] = !f.covers(head, k.cols)
		return err
	})
	for i, s := range further {
		if strange[i] && err == nil {
			k.cols, err = f.addKeys(ctx, s, k.cols)
		}
	}
	return k, err
}

func anyText([]byte) bool { return true }

// covers returns true if each key of a chunk is in cols, and the chunk has no value for a column without values.
func (f *CsvFile) covers(c Chunk, cols []column.Column) bool {
	o := c.objects()
	for {
		more, err := o.object()
		if err != nil || !more {
			return err == nil
		}
		for i := 0; ; i++ {
			more, err := o.field()
			if err != nil {
				return false
			}
			if !more {
				break
			}
			if i >= len(f.keys.forms) || !o.is(f.keys.forms[i]) {
				key, _, err := o.key()
				at, is := f.keys.of[string(key)]
				if i = at; err != nil || !is {
					return false
				}
			}
			if text, _, err := o.value(); err != nil || cols[i].Empty && string(text) != "null" {
				return false
			}
		}
	}
}

// addKeys adds the columns of a file's keys to cols, the columns of the files before.
func (f *CsvFile) addKeys(ctx context.Context, s *source.File, cols []column.Column) ([]column.Column, error) {
	head, _, err := headOf(s, HeadBytes, Breaks{}, anyText)
	if err != nil || f.covers(head, cols) {
		return cols, err
	}
	own := CsvFile{path: s.Path, dialect: dialect{grammar: f.grammar}, nulls: f.nulls, keys: newKeys(), typing: f.typing}
	more, err := own.inferJSON(ctx, head)
	if err != nil {
		return nil, err
	}
	for _, c := range more {
		at, is := f.keys.of[c.Name]
		if c.Index = at; is && cols[at].Empty {
			cols[at] = c
		}
		if is {
			continue
		}
		c.Index = len(f.names)
		if c.Index == maxTextColumns {
			return nil, column.ErrorIn(s.Path, "more than %d keys: leave some out", maxTextColumns)
		}
		f.keys.of[c.Name] = c.Index
		f.names, f.keys.forms = append(f.names, c.Name), append(f.keys.forms, own.keys.forms[own.keys.of[c.Name]])
		cols = append(cols, c)
	}
	return cols, nil
}

// unseen records the columns of which a file has no value in any row. Columns of which no file has one are left out.
func (in *CSV) unseen() {
	for i := range in.CsvFiles {
		var names []string
		for k, c := range in.Roles.Columns {
			some := func(f CsvFile) bool { return f.seen != nil && f.seen[k].Load() }
			if f := in.CsvFiles[i]; f.seen != nil && !some(f) && f.bound[k].Constant == nil && slices.ContainsFunc(in.CsvFiles, some) {
				names = append(names, c.Name)
			}
		}
		in.tables.SetLacking(in.CsvFiles[i].path, names)
	}
}

// addModel adds the columns of a model that aren't keys in the first rows, if some others are. Absent keys are nulls.
func (f *CsvFile) addModel(req column.OpenOptions, cols []column.Column) []column.Column {
	if req.Spec == nil {
		return cols
	}
	var names []string
	for _, in := range req.Spec.Columns() {
		switch in.Kind {
		case schema.NumberColumn, schema.OneHotColumn, schema.HashColumn, schema.WordsColumn:
			names = append(names, in.Name)
		case schema.CrossColumn:
			for _, part := range in.Of {
				names = append(names, part.Name)
			}
		}
	}
	is := func(name string) bool {
		_, ok := f.keys.of[name]
		return ok
	}
	folders := map[string]bool{}
	for _, of := range req.Constants {
		for _, c := range of {
			folders[c.Name] = true
		}
	}
	if !slices.ContainsFunc(names, is) {
		return cols
	}
	for _, name := range names {
		if is(name) || folders[name] || len(f.names) == maxTextColumns {
			continue
		}
		if !req.Live {
			f.keys.absent = append(f.keys.absent, fmt.Sprintf("%q", name))
		}
		f.keys.of[name] = len(f.names)
		cols = append(cols, column.Column{Name: name, Type: arrow.PrimitiveTypes.Float64, Desc: "float64",
			Nullable: true, Empty: true, Index: len(f.names)})
		f.names, f.keys.forms = append(f.names, name), append(f.keys.forms, nil)
	}
	return cols
}

func (c Chunk) objects() objects { return objects{text: c.Text, line: c.line - 1} }

// inferJSON finds the keys of the file's first chunk and returns the columns.
func (f *CsvFile) inferJSON(ctx context.Context, c Chunk) ([]column.Column, error) {
	g := guesses{nulls: nullTexts{}}
	type nested struct {
		first string // the first list or object
		n     int
	}
	if err := c.strayError(f.path, nil, nil); err != nil && !f.skipsBroken {
		return nil, err
	}
	lists := map[int]nested{} // by column
	o := c.objects()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.skipsBroken && o.wellFormed() != nil {
			continue
		}
		more, err := o.object()
		for i := 0; more && err == nil; i++ {
			if more, err = o.field(); !more || err != nil {
				break
			}
			if i, err = f.anyKey(&o, i, &g); err != nil {
				break
			}
			text, kind, bad := o.value()
			switch {
			case bad != nil:
				err = fmt.Errorf("field %q: %w", f.names[i], bad)
			case kind >= jsonList:
				lists[i] = nested{cmp.Or(lists[i].first, fmt.Sprintf("%s in line %d", kind, o.line)), lists[i].n + 1}
			case kind == jsonText || string(text) != "null":
				g.columns[i].field(text, kind == jsonText, o.line)
				g.nulls.add(text)
			}
		}
		if err != nil {
			return nil, column.LineError(f.path, o.line, err)
		}
		if o.next == len(o.text) && !more {
			break
		}
	}
	cols := f.columns(g)
	for i, l := range lists {
		if !f.lenient || !few(l.n, l.n+g.columns[i].values) {
			cols[i].Type, cols[i].Desc, cols[i].Advice, cols[i].Content = arrow.StructOf(), l.first, "", ""
		}
	}
	return cols, nil
}

// anyKey reads a key, and returns its column, which is new if the key is. i is the column that the key probably has.
func (f *CsvFile) anyKey(o *objects, i int, g *guesses) (int, error) {
	if i < len(f.keys.forms) && o.is(f.keys.forms[i]) {
		return i, nil
	}
	key, form, err := o.key()
	if err != nil {
		return 0, err
	}
	i, ok := f.keys.of[string(key)]
	if !ok {
		if i = len(f.names); i == maxTextColumns {
			return 0, fmt.Errorf("more than %d keys: leave some out", maxTextColumns)
		}
		f.keys.of[string(key)] = i
		f.names, f.keys.forms = append(f.names, string(key)), append(f.keys.forms, bytes.Clone(form))
		g.columns = append(g.columns, newGuess(f.nulls))
	}
	return i, nil
}

// mostCells is the largest number of cells of a batch: objects may have few of many keys.
const mostCells = 1 << 20

// jsonJobs yields the jobs that make batches of a chunk, which has no more cells than mostCells or one line.
func jsonJobs(c Chunk, columns int, jobOf func(c Chunk) func() (*column.Batch, error)) iter.Seq[column.Job] {
	return func(yield func(column.Job) bool) {
		for part := range c.Split(max(1, mostCells/max(1, columns))) {
			const cell = 9 // bytes of a number, with room for its null
			rows := 1 + bytes.Count(part.Text, []byte{'\n'})
			if !yield(column.Job{Bytes: max(parsedBytes(len(part.Text)), cell*int64(rows)*int64(columns)), Make: jobOf(part)}) {
				return
			}
		}
	}
}

func (f *CsvFile) parseJSON(ctx context.Context, c Chunk, to []cells) (rows int64, err error) {
	o, out, last := c.objects(), column.From(f.out, c.line), make([]int64, len(to)) // last: for each column, 1 + the last row that has it
	for ; ; rows++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		o.skipRejects(&out)
		more, err := o.object()
		if err == nil && !more {
			f.record(last)
			return rows, nil
		}
		added := 0
		if err == nil {
			added, err = f.object(&o, to, last, rows+1, nil)
		}
		if err != nil {
			return 0, column.LineError(f.path, o.line, err)
		}
		for k := 0; added < len(to); k++ {
			if last[k] <= rows {
				to[k].addNull()
				added++
			}
		}
	}
}

// record records the columns that some row has. last has, for each column, 1 + the last row that has it, or 0.
func (f *CsvFile) record(last []int64) {
	for k := range f.seen {
		if last[k] > 0 && !f.seen[k].Load() {
			f.seen[k].Store(true)
		}
	}
}

// object reads the fields of an object into cells, and returns their number. last has, for each column, the last row that has it. If
// unfit isn't nil, it gets the column of each value that doesn't fit, and the object is read to its end.
func (f *CsvFile) object(o *objects, to []cells, last []int64, row int64, unfit unfitText) (added int, bad error) {
	for i := 0; ; i++ {
		more, err := o.field()
		if !more || err != nil {
			return added, cmp.Or(bad, err)
		}
		if i, err = f.knownKey(o, i); err != nil {
			return added, cmp.Or(bad, err)
		}
		k := -1
		if i >= 0 {
			k = f.place[i]
		}
		var text []byte
		switch {
		case k < 0:
			_, _, err = o.value()
		case last[k] == row:
			return added, fmt.Errorf("field %q is there twice: leave one out", f.names[i])
		default:
			at := o.pos
			text, err = o.cell(&to[k])
			last[k] = row
			added++
			if f.second != nil && f.second[i] >= 0 && err == nil {
				k, o.pos = f.second[i], at
				text, err = o.cell(&to[k])
				last[k] = row
				added++
			}
		}
		switch {
		case err == nil:
			continue
		case k >= 0:
			err = fmt.Errorf("field %q: %w", f.names[i], err)
		}
		if err = unfit.accepts(err, k, o.line, text); err == nil {
			continue
		}
		if bad = cmp.Or(bad, err); unfit == nil || !contradicts(err, false) {
			return added, bad
		}
	}
}

// knownKey reads a key, and returns its column, or -1 if it isn't in the first rows. i is the column that the key probably has.
func (f *CsvFile) knownKey(o *objects, i int) (int, error) {
	if i >= 0 && i < len(f.keys.forms) && o.is(f.keys.forms[i]) {
		return i, nil
	}
	key, _, err := o.key()
	if err != nil {
		return 0, err
	}
	if i, ok := f.keys.of[string(key)]; ok {
		return i, nil
	}
	f.keys.mu.Lock()
	defer f.keys.mu.Unlock()
	if len(f.keys.further) < mostFurther {
		f.keys.further[string(key)] = true
	}
	return -1, nil
}

// cell reads a value into a cell. If the value doesn't fit, text is its text.
func (o *objects) cell(to *cells) (text []byte, err error) {
	switch to.typ {
	case arrow.FLOAT64:
		if to.exactDigits {
			break
		}
		if v, ok := o.number(); ok {
			to.addNumber(v)
			return nil, nil
		}
	case arrow.INT64:
		if to.keepsTexts && !isCanonical(o.row[o.pos:]) {
			break
		}
		if v, ok := o.integer(); ok {
			to.addWhole(v)
			return nil, nil
		}
	}
	text, kind, err := o.value()
	switch {
	case err != nil:
		return nil, err
	case kind >= jsonList:
		return nil, message.Errorf("%s, unlike the first rows: write a number, a text, true, false or null, or leave "+
			"the field out with --exclude", kind)
	case kind == jsonPlain && string(text) == "null":
		to.addNull()
		return nil, nil
	}
	return text, to.Add(text, kind == jsonText)
}

func some(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "and others")
	}
	return strings.Join(names, ", ")
}

// notes returns lines about the keys that the first rows don't have.
func (k *keys) notes(path string) (lines []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var further []string
	for _, name := range slices.Sorted(maps.Keys(k.further)) {
		further = append(further, fmt.Sprintf("%q", name))
	}
	if len(further) > 0 {
		lines = append(lines, fmt.Sprintf("%s: fields that the first rows don't have are left out: %s (write them in "+
			"an early row too, such as null)", path, some(further)))
	}
	if len(k.absent) > 0 {
		lines = append(lines, fmt.Sprintf("%s: the first rows have no field %s: absent fields are missing values", path, some(k.absent)))
	}
	return lines
}
