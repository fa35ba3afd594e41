package npy

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/files"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A matrix is the rows of a file of scipy.sparse.save_npz in the form CSR: a zip archive of the arrays indptr, indices and data.
// Elements indptr[r] up to indptr[r+1] of the other two are the columns and the values of row r.
type matrix struct {
	path                  string
	info                  os.FileInfo // when the archive was read
	rows, cols, values    int64
	indptr, indices, data *member
}

// A member is an array in an archive.
type member struct {
	*Array
	number int   // in the archive's list of files
	at     int64 // place of the first element in the file, or -1 if the member is compressed
}

// openMatrix reads the headers of a file's arrays, and checks them against the sizes in the archive.
func openMatrix(path string, info os.FileInfo) (*matrix, error) {
	f, err := source.Reopen(path, info)
	if err != nil {
		return nil, column.PathError(path, err)
	}
	defer f.Close()
	archive, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, column.Mark(fmt.Errorf("%s: not an archive of arrays (%s): write it by scipy.sparse.save_npz", path,
			column.OneLine(err.Error())), column.ErrFormat)
	}
	m := &matrix{path: path, info: info}
	form, err := m.form(archive)
	if err != nil {
		return nil, err
	}
	switch {
	case form == "":
		return nil, column.Mark(fmt.Errorf("%s: not a sparse matrix: write it by scipy.sparse.save_npz, or a dense "+
			"array by numpy.save", path), column.ErrFormat)
	case form != "csr":
		return nil, column.Mark(fmt.Errorf("%s: a sparse matrix in the form %q: save X.tocsr()", path, form), column.ErrFormat)
	}
	for _, of := range []struct {
		name string
		to   **member
	}{{"indptr", &m.indptr}, {"indices", &m.indices}, {"data", &m.data}} {
		if *of.to, err = m.member(archive, of.name, info.Size()); err != nil {
			return nil, err
		}
	}
	return m, m.check(archive)
}

// IsArchive tells whether a file begins as a zip archive whose first file is an array, whatever the file's name is.
func IsArchive(path string, info os.FileInfo) bool {
	f, err := source.Reopen(path, info)
	if err != nil {
		return false
	}
	defer f.Close()
	const nameAt = 30 // in the header of a file in an archive; its length stands at 26
	head := make([]byte, 128)
	n, _ := f.ReadAt(head, 0)
	if head = head[:n]; n < nameAt || !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return false
	}
	name := head[nameAt:]
	name = name[:min(len(name), int(binary.LittleEndian.Uint16(head[26:])))]
	return bytes.HasSuffix(name, []byte(".npy"))
}

// form returns the text in format.npy, or "" if the archive has none.
func (m *matrix) form(archive *zip.Reader) (string, error) {
	values, err := m.small(archive, "format")
	if err != nil || values == nil {
		return "", err
	}
	texts, ok := values.(*array.String)
	if !ok || texts.Len() != 1 {
		return "", damaged(m.path, fmt.Errorf("its format is no text"))
	}
	return texts.Value(0), nil
}

// small returns the elements of an array of at most 1 KiB, or nil if the archive has no array of this name.
func (m *matrix) small(archive *zip.Reader, name string) (arrow.Array, error) {
	const most = 1 << 10
	at := find(archive, name)
	if at < 0 {
		return nil, nil
	}
	r, err := archive.File[at].Open()
	if err != nil {
		return nil, m.unreadable(err)
	}
	defer r.Close()
	h, err := readHeader(r, m.path, -1)
	if err != nil {
		return nil, err
	}
	if h.bytes() > most {
		return nil, damaged(m.path, fmt.Errorf("%s has the shape %s", name, h.shapeText()))
	}
	values := column.NewSlab(most)
	defer values.Done()
	if _, err := io.ReadFull(r, values.Bytes(h.bytes())); err != nil {
		return nil, m.unreadable(err)
	}
	return (&Array{header: h, path: m.path}).toArrow(values, values.Bytes(h.bytes()), 0)
}

// find returns the number of an array in the archive's list of files, or -1.
func find(archive *zip.Reader, name string) int {
	return slices.IndexFunc(archive.File, func(f *zip.File) bool { return f.Name == name+".npy" })
}

// member reads the header of an array of one dimension.
func (m *matrix) member(archive *zip.Reader, name string, size int64) (*member, error) {
	number := find(archive, name)
	if number < 0 {
		return nil, damaged(m.path, fmt.Errorf("the archive has no %s.npy", name))
	}
	f := archive.File[number]
	r, err := f.Open()
	if err != nil {
		return nil, m.unreadable(err)
	}
	defer r.Close()
	h, err := readHeader(r, m.path, -1)
	switch {
	case err != nil:
		return nil, err
	case len(h.shape) != 1 || h.bytes() < 0 || uint64(h.offset+h.bytes()) != f.UncompressedSize64:
		return nil, damaged(m.path, fmt.Errorf("%s has the shape %s in %d bytes", name, h.shapeText(), f.UncompressedSize64))
	}
	a := &member{Array: &Array{header: h, path: m.path, info: m.info, rows: h.shape[0], cols: 1}, number: number, at: -1}
	if f.Method == zip.Store {
		start, err := f.DataOffset()
		if err != nil || start < 0 || f.UncompressedSize64 != f.CompressedSize64 || start > size-int64(f.CompressedSize64) {
			return nil, truncated(m.path)
		}
		a.at = start + h.offset
	}
	return a, nil
}

// check sets the numbers of rows, columns and values, and returns an error if the arrays contradict them.
func (m *matrix) check(archive *zip.Reader) error {
	shape, err := m.small(archive, "shape")
	if err != nil {
		return err
	}
	numbers, ok := wholes(shape)
	if !ok || len(numbers) != 2 || numbers[0] < 0 || numbers[1] < 0 {
		return damaged(m.path, fmt.Errorf("its shape isn't two numbers of 0 or more"))
	}
	m.rows, m.cols, m.values = numbers[0], numbers[1], m.data.rows
	switch kind := m.data.kind; {
	case m.rows == 0 || m.cols == 0:
		return fmt.Errorf("%s: a matrix of %d rows and %d columns: save a matrix that has some", m.path, m.rows, m.cols)
	case m.rows == math.MaxInt64 || m.indptr.rows != m.rows+1:
		return damaged(m.path, fmt.Errorf("%d rows, but %d places of rows", m.rows, m.indptr.rows))
	case m.indices.rows < m.values:
		return damaged(m.path, fmt.Errorf("%d values, but %d columns of values", m.values, m.indices.rows))
	case m.indptr.kind != 'i' || m.indices.kind != 'i' || m.indptr.size < 4 || m.indices.size < 4:
		return damaged(m.path, fmt.Errorf("its places are of the types %s and %s", m.indptr.typ, m.indices.typ))
	case kind == 'U' || kind == 'S':
		return column.Mark(fmt.Errorf("%s: a sparse matrix of texts: save numbers", m.path), column.ErrFormat)
	}
	return nil
}

// wholes returns the numbers of an array of int32 or int64.
func wholes(a arrow.Array) (all []int64, ok bool) {
	switch a := a.(type) {
	case *array.Int64:
		return a.Int64Values(), true
	case *array.Int32:
		for _, v := range a.Int32Values() {
			all = append(all, int64(v))
		}
		return all, true
	}
	return nil, false
}

// unreadable returns the error of reading an array in the archive.
func (m *matrix) unreadable(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return truncated(m.path)
	}
	return damaged(m.path, err)
}

// CSR is the selected columns of sparse matrices, one matrix after the other.
type CSR struct {
	*Input   // the arrays beside the rows; its parts have no columns of their own
	matrices []*matrix
	places   []column.Places // of each matrix
	paired   bool            // batches have pairs
	spare    *sync.Pool      // *column.Pairs to reuse
}

// OpenCSR reads the headers of matrices and chooses the columns to read, which have the names x0, x1 and so on.
func OpenCSR(sources []*source.File, req column.OpenOptions, beside Beside) (*CSR, error) {
	in := &CSR{Input: &Input{Input: source.Input{Files: sources}, beside: map[int]*Array{}}, spare: new(sync.Pool)}
	for _, s := range sources {
		m, err := openMatrix(s.Path, s.Info)
		if err != nil {
			return nil, err
		}
		if len(in.matrices) > 0 && m.cols != in.matrices[0].cols {
			return nil, fmt.Errorf("%s: a matrix of %d columns, but %d in %s: save matrices of the same width", m.path,
				m.cols, in.matrices[0].cols, in.matrices[0].path)
		}
		in.matrices = append(in.matrices, m)
		in.parts = append(in.parts, part{Array: &Array{path: m.path, info: m.info, rows: m.rows}, first: in.rows})
		in.rows += m.rows
	}
	further, err := in.openBeside(beside)
	if err != nil {
		return nil, err
	}
	cols, err := in.columns(req)
	if err != nil {
		return nil, err
	}
	tables, all := column.NewTables(in.Paths(), req), append(slices.Clip(cols), further...)
	for i := range in.parts {
		tables.Set(i, all)
	}
	if err := in.assignRoles(tables, in.place); err != nil {
		return nil, err
	}
	in.paired = in.Roles.Plain && len(in.Roles.Keep) == 0 && in.isBeside(in.Roles.Label) && in.isBeside(in.Roles.Weight)
	for k, i := range in.Roles.Features {
		in.paired = in.paired && i == k && in.Roles.Columns[i].Index != column.Absent
	}
	if n := in.places[0].Numbered; n > 0 && !in.paired {
		return nil, message.Errorf("%s: %d features, and more than %d are read as they are: leave out --nulls and "+
			"--standardize", in.Name(), n, schema.MaxNamed)
	}
	return in, nil
}

// isBeside returns true if column k of the selection is an array beside the rows, or if k is -1.
func (in *CSR) isBeside(k int) bool { return k < 0 || in.beside[in.Roles.Columns[k].Index] != nil }

// columns returns a column for each column of the matrices. More than schema.MaxNamed columns, or a model's numbered features, are one
// column.
func (in *CSR) columns(req column.OpenOptions) (cols []column.Column, err error) {
	m := in.matrices[0]
	first, n := 0, m.cols
	if p := preprocessing(req.Spec); p != nil && len(p.Columns) == 1 && p.Columns[0].Kind == schema.NumberedColumn {
		first, n = p.Columns[0].First, int64(p.Columns[0].Elements)
		if int64(first)+n != m.cols {
			return nil, fmt.Errorf("%s: a matrix of %d columns, and the model has features up to column %d: save a "+
				"matrix of that width", m.path, m.cols, int64(first)+n-1)
		}
	} else if m.cols <= schema.MaxNamed {
		number := arrow.PrimitiveTypes.Float64
		for k := range int(m.cols) {
			cols = append(cols, column.Column{Name: "x" + strconv.Itoa(k), Type: number, Desc: column.Describe(number), Index: k})
		}
		return cols, nil
	}
	if n > int64(req.MostFeatures) {
		return nil, fmt.Errorf("%s: a matrix of %d columns, and a row has at most %d features: save fewer columns",
			m.path, m.cols, req.MostFeatures)
	}
	return []column.Column{{Name: "x", Desc: fmt.Sprintf("features %d to %d", first, int64(first)+n-1), Index: first,
		NumberedFeatures: int(n)}}, nil
}

func preprocessing(spec *schema.Spec) *schema.Preprocessing {
	if spec == nil {
		return nil
	}
	return spec.Preprocessing
}

// place sets the places of the columns of a matrix among the read columns.
func (in *CSR) place(p *part) {
	var places column.Places
	for k, c := range p.bound {
		if p.columns = append(p.columns, c.Index); in.beside[c.Index] == nil && c.Index != column.Absent {
			places.Set(k, c, int(in.matrices[0].cols))
		}
	}
	in.places = append(in.places, places)
}

func (in *CSR) Paired() bool { return in.paired }

func (in *CSR) Pairs() (n int64) {
	for _, m := range in.matrices {
		n += m.values
	}
	return n
}

// LabelOnly returns the input with only the labels if they are an array beside the rows, otherwise the same input.
func (in *CSR) LabelOnly() column.Input {
	if !in.isBeside(in.Roles.Label) {
		return in
	}
	return in.Input.LabelOnly()
}

const (
	pairsAtOnce = 256 << 10 // approximate number of values that are read at a time
	denseBytes  = 4 << 20   // approximate bytes of dense columns that are made at a time
)

func (in *CSR) Batches(ctx context.Context, p column.Pool, _ memory.Allocator) iter.Seq2[*column.Batch, error] {
	return column.InOrder(ctx, p, in.Memory, func(yield func(column.Job) bool) {
		for i := range in.matrices {
			w := &walk{in: in, m: in.matrices[i], part: &in.parts[i], places: &in.places[i]}
			more, err := w.run(yield)
			if err != nil {
				more = yield(column.Job{Make: func() (*column.Batch, error) { return nil, err }})
			}
			if !more || err != nil {
				return
			}
		}
	})
}

// A walk reads a matrix from its first row to its last.
type walk struct {
	in     *CSR
	m      *matrix
	part   *part
	places *column.Places
	file   files.ReadableFile
	zip    *zip.Reader

	indices, data io.Reader // of a compressed archive
}

// run yields a job for each batch. It returns false if yield did.
func (w *walk) run(yield func(column.Job) bool) (more bool, err error) {
	if w.file, err = source.Reopen(w.m.path, w.m.info); err != nil {
		return false, column.PathError(w.m.path, err)
	}
	defer w.file.Close()
	if w.zip, err = zip.NewReader(w.file, w.m.info.Size()); err != nil {
		return false, w.m.unreadable(err)
	}
	pointers, err := w.open(w.m.indptr)
	if err != nil {
		return false, err
	}
	if w.m.indices.at < 0 || w.m.data.at < 0 {
		if w.indices, err = w.open(w.m.indices); err != nil {
			return false, err
		}
		if w.data, err = w.open(w.m.data); err != nil {
			return false, err
		}
	}
	step := int64(column.MaxBatchRows)
	if !w.in.paired {
		step = max(leastRows, min(step, denseBytes/8/int64(max(1, len(w.in.Roles.Columns)))))
	}
	pending, err := w.pointers(pointers, 1)
	if err != nil {
		return false, err
	}
	if pending[0] != 0 {
		return false, damaged(w.m.path, fmt.Errorf("the first row begins at value %d", pending[0]))
	}
	for row := int64(0); row < w.m.rows; {
		if n := min(step, w.m.rows-row) + 1 - int64(len(pending)); n > 0 {
			more, err := w.pointers(pointers, n)
			if err != nil {
				return false, err
			}
			pending = append(pending, more...)
		}
		n, err := w.cut(pending, row)
		if err != nil {
			return false, err
		}
		j, err := w.job(row, slices.Clone(pending[:n+1]))
		if err != nil || !yield(j) {
			return false, err
		}
		row, pending = row+int64(n), pending[n:]
	}
	return true, column.Unchanged(w.m.path, files.CurrentInfo(w.m.path, w.file), w.m.info)
}

func (w *walk) open(m *member) (io.Reader, error) {
	r, err := w.zip.File[m.number].Open()
	if err != nil {
		return nil, w.m.unreadable(err)
	}
	buffered := bufio.NewReaderSize(r, 64<<10)
	if _, err := buffered.Discard(int(m.offset)); err != nil {
		return nil, w.m.unreadable(err)
	}
	return buffered, nil
}

func (w *walk) pointers(r io.Reader, n int64) ([]int64, error) {
	s := column.NewSlab(n * w.m.indptr.size)
	defer s.Done()
	values := s.Bytes(n * w.m.indptr.size)
	if _, err := io.ReadFull(r, values); err != nil {
		return nil, w.m.unreadable(err)
	}
	if w.m.indptr.swapped {
		w.m.indptr.swap(values)
	}
	if w.m.indptr.size == 8 {
		return slices.Clone(as[int64](values)), nil
	}
	all := make([]int64, n)
	for i, v := range as[int32](values) {
		all[i] = int64(v)
	}
	return all, nil
}

// cut returns the number of rows of the next batch, at least 1. ends are the ends of rows, behind the beginning of row number row.
func (w *walk) cut(ends []int64, row int64) (int, error) {
	for i := 1; i < len(ends); i++ {
		switch n := ends[i] - ends[i-1]; {
		case n < 0 || ends[i] > w.m.values:
			return 0, damaged(w.m.path, fmt.Errorf("row %d has the values %d to %d of %d", row+int64(i)-1, ends[i-1], ends[i], w.m.values))
		case n > w.m.cols:
			return 0, fmt.Errorf("%s: row %d has %d values for %d columns: save it after X.sum_duplicates()", w.m.path,
				row+int64(i)-1, n, w.m.cols)
		case i > 1 && ends[i]-ends[0] > pairsAtOnce:
			return i - 1, nil
		}
	}
	return len(ends) - 1, nil
}

// job returns the job that makes the batch of the rows from row number row on, whose values are between ends.
func (w *walk) job(row int64, ends []int64) (column.Job, error) {
	lo, hi := ends[0], ends[len(ends)-1]
	n, rows := hi-lo, int64(len(ends)-1)
	bytes := n*(2*w.m.indices.size+2*w.m.data.size+12) + 16*rows
	if !w.in.paired {
		bytes += 8 * rows * int64(len(w.in.Roles.Columns))
	}
	var read *elements
	if w.indices != nil {
		read = w.m.elements(n)
		for _, of := range []struct {
			r io.Reader
			p []byte
		}{{w.indices, read.indices}, {w.data, read.data}} {
			if _, err := io.ReadFull(of.r, of.p); err != nil {
				return column.Job{}, w.m.unreadable(err)
			}
		}
	}
	return column.Job{Bytes: bytes, Make: func() (*column.Batch, error) {
		if read == nil {
			read = w.m.elements(n)
			if err := w.m.read(lo, read); err != nil {
				return nil, err
			}
		}
		defer read.done()
		return w.batch(row, ends, read)
	}}, nil
}

type elements struct {
	slabs         [2]*column.Slab
	indices, data []byte
}

func (m *matrix) elements(n int64) *elements {
	e := &elements{slabs: [2]*column.Slab{column.NewSlab(n * m.indices.size), column.NewSlab(n * m.data.size)}}
	e.indices, e.data = e.slabs[0].Bytes(n*m.indices.size), e.slabs[1].Bytes(n*m.data.size)
	return e
}

func (e *elements) done() {
	for _, s := range e.slabs {
		s.Done()
	}
}

// read reads the values from lo on, and their columns.
func (m *matrix) read(lo int64, e *elements) error {
	f, err := source.Reopen(m.path, m.info)
	if err != nil {
		return column.PathError(m.path, err)
	}
	defer f.Close()
	for _, of := range []struct {
		m *member
		p []byte
	}{{m.indices, e.indices}, {m.data, e.data}} {
		if err := of.m.readAt(f, of.p, of.m.at-of.m.offset+lo*of.m.size); err != nil {
			return err
		}
	}
	return column.Unchanged(m.path, files.CurrentInfo(m.path, f), m.info)
}

// batch makes the batch of the rows from row number row on.
func (w *walk) batch(row int64, ends []int64, read *elements) (*column.Batch, error) {
	rows := int64(len(ends) - 1)
	pairs, err := w.pairs(row, ends, read)
	if err != nil {
		return nil, err
	}
	b, err := w.in.batch(&part{Array: w.part.Array, first: w.part.first, columns: w.besides()}, row, row+rows)
	if err != nil {
		return nil, err
	}
	if b.Pairs = pairs; w.in.paired {
		return b, nil
	}
	defer b.Release()
	all := w.dense(b)
	if err := all.Complete(w.part.bound, w.in.Roles.Columns); err != nil {
		all.Release()
		return nil, err
	}
	return all, nil
}

// besides returns the columns beside the rows: of labels, then of weights. If rows aren't pairs, any column of them may be kept.
func (w *walk) besides() (columns []int) {
	if !w.in.paired {
		for _, c := range w.part.columns {
			if w.in.beside[c] != nil {
				columns = append(columns, c)
			}
		}
		return columns
	}
	for _, k := range []int{w.in.Roles.Label, w.in.Roles.Weight} {
		if k >= 0 && w.in.isBeside(k) {
			columns = append(columns, w.in.Roles.Columns[k].Index)
		}
	}
	return columns
}

// pairs returns the pairs of the selected columns. Pairs of a row ascend, and the values of equal columns are added up.
func (w *walk) pairs(row int64, ends []int64, read *elements) (*column.Pairs, error) {
	p, _ := w.in.spare.Get().(*column.Pairs)
	if p == nil {
		p = &column.Pairs{Home: w.in.spare}
	}
	p.Ends, p.Index, p.Value = append(p.Ends[:0], 0), p.Index[:0], p.Value[:0]
	n := int(ends[len(ends)-1] - ends[0])
	wide := column.NewSlab(8 * int64(n))
	defer wide.Done()
	numbers, err := w.m.data.toArrow(read.slabs[1], read.data, 0)
	if err != nil {
		return nil, err
	}
	defer numbers.Release()
	view, err := column.NewView64(numbers)
	if err != nil {
		return nil, err
	}
	values, _ := view.Read(0, n, as[float64](wide.Bytes(8*int64(n))))
	if w.m.indices.swapped {
		w.m.indices.swap(read.indices)
	}
	if w.m.indices.size == 4 {
		return p, fill(w, p, row, ends, as[int32](read.indices), values)
	}
	return p, fill(w, p, row, ends, as[int64](read.indices), values)
}

func fill[T int32 | int64](w *walk, p *column.Pairs, row int64, ends []int64, columns []T, values []float64) error {
	for r := 1; r < len(ends); r++ {
		from, last, sorted := len(p.Index), T(-1), true
		for i := ends[r-1] - ends[0]; i < ends[r]-ends[0]; i++ {
			c := columns[i]
			if c < 0 || int64(c) >= w.m.cols {
				return damaged(w.m.path, fmt.Errorf("row %d has a value in column %d of %d", row+int64(r)-1, c, w.m.cols))
			}
			sorted, last = sorted && c > last, c
			if at := w.places.At(int(c)); at >= 0 {
				p.Index, p.Value = append(p.Index, at), append(p.Value, values[i])
			}
		}
		if !sorted {
			n := merge(p.Index[from:], p.Value[from:])
			p.Index, p.Value = p.Index[:from+n], p.Value[:from+n]
		}
		p.Ends = append(p.Ends, int32(len(p.Index)))
	}
	return nil
}

// merge sorts pairs by their index, adds up the values of equal indices in their order, and returns the number of pairs that are left.
func merge(index []int32, value []float64) (n int) {
	order := make([]int, len(index))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(index[a]) - int(index[b]) })
	was, values := slices.Clone(index), slices.Clone(value)
	for _, i := range order {
		if n > 0 && index[n-1] == was[i] {
			value[n-1] += values[i]
			continue
		}
		index[n], value[n] = was[i], values[i]
		n++
	}
	return n
}

func (w *walk) dense(b *column.Batch) *column.Batch {
	all := &column.Batch{File: b.File, Rows: b.Rows, Columns: make([]arrow.Array, len(w.part.columns))}
	values, besides := b.Pairs.Dense(len(w.part.columns)), w.besides()
	for k, c := range w.part.columns {
		if at := slices.Index(besides, c); at >= 0 {
			all.Columns[k] = b.Columns[at]
			all.Columns[k].Retain()
			continue
		}
		all.Columns[k] = column.Floats(values[k])
	}
	return all
}
