package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/internal/require"
)

// numpyFile returns a file of numpy.save.
func numpyFile(version byte, descr string, fortran bool, shape string, data []byte) []byte {
	order := map[bool]string{true: "True", false: "False"}[fortran]
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	b := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	return append(append(b, text...), data...)
}

// numpyElements returns numbers as elements of a type such as <f4.
func numpyElements(descr string, values []float64) (data []byte) {
	little := descr[0] != '>'
	for _, v := range values {
		var bits uint64
		switch descr[1:] {
		case "f4":
			bits = uint64(math.Float32bits(float32(v)))
		case "f8":
			bits = math.Float64bits(v)
		default:
			bits = uint64(int64(v))
		}
		var b []byte
		for k := range int(descr[2] - '0') {
			b = append(b, byte(bits>>(8*k)))
		}
		if !little {
			slices.Reverse(b)
		}
		data = append(data, b...)
	}
	return data
}

// columnsOf returns the numbers of all columns of a file.
func columnsOf(tb testing.TB, path string) (all [][]float64) {
	tb.Helper()
	got, err := table(tb, Options{}, path)
	require.NoError(tb, err)
	for i := range int(got.NumCols()) {
		var values []float64
		for _, chunk := range got.Column(i).Data().Chunks() {
			v, err := column.NewView64(chunk)
			require.NoError(tb, err)
			read, _ := v.Read(0, chunk.Len(), make([]float64, chunk.Len()))
			values = append(values, read...)
		}
		all = append(all, values)
	}
	return all
}

// TestNumPy reads arrays of every type, order and version, of enough rows for several batches.
func TestNumPy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "x.npy")
	for _, descr := range strings.Fields("|b1 |i1 <i2 >i2 <i4 >i4 <i8 >i8 |u1 <u2 >u4 <u8 >u8 <f4 >f4 <f8 >f8") {
		for version := byte(1); version <= 3; version++ {
			rows, cols := 1+rng.IntN(70_000), 1+rng.IntN(5)
			most := map[bool]int{true: 2, false: 100}[descr == "|b1"]
			want := make([][]float64, cols)
			flat := make([]float64, rows*cols)
			fortran := version == 2
			for k := range want {
				for r := range rows {
					v := float64(rng.IntN(most))
					if want[k] = append(want[k], v); fortran {
						flat[k*rows+r] = v
					} else {
						flat[r*cols+k] = v
					}
				}
			}
			put(t, path, numpyFile(version, descr, fortran, fmt.Sprintf("(%d, %d)", rows, cols), numpyElements(descr, flat)))
			if got := columnsOf(t, path); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s, version %d: other numbers", descr, version)
			}
		}
	}
}

// TestNumPySaved reads files that NumPy 1.24 and SciPy 1.10 wrote.
func TestNumPySaved(t *testing.T) {
	nan := math.NaN()
	for name, want := range map[string]string{
		"fortran.npy": fmt.Sprint([][]float64{{1.5, .25}, {-2, nan}, {3, 7}}), "big.npy": "[[1 300] [-2 4]]", "bool.npy": "[[1 0]]",
		"stored.npz": "[[0 2] [1.5 0] [0 -3]]", "deflated.npz": "[[0 2] [1.5 0] [0 -3]]",
	} {
		if got := fmt.Sprint(columnsOf(t, filepath.Join("testdata", "numpy", name))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	texts, err := table(t, Options{}, filepath.Join("testdata", "numpy", "text.npy"))
	require.NoError(t, err)
	if got := texts.Column(0).Data().Chunk(0).String(); got != `["ja" "nö"]` {
		t.Errorf("texts %s", got)
	}
}

// TestNumPyErrors holds the sentences about files that can't be read.
func TestNumPyErrors(t *testing.T) {
	dir := t.TempDir()
	eight := make([]byte, 8)
	file := func(descr, shape string) []byte { return numpyFile(1, descr, false, shape, eight) }
	text := func(text string) []byte {
		return append(append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8)), text...)
	}
	saved := func(name string) []byte { return contents(t, filepath.Join("testdata", "numpy", name)) }
	stored := saved("stored.npz")
	for i, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"x.npy", nil, "the file is empty: write it again"},
		{"x.npy", []byte("\x93NUM"), "the array is truncated: copy or save it again"},
		{"x.npy", []byte("x,y\n1,2\n3,4\n"), "not an array of NumPy: write it by numpy.save"},
		{"x.npy", []byte("\x1f\x8b12345678901"), "a compressed array, and arrays are read in place: decompress it"},
		{"x.npy", numpyFile(9, "<f8", false, "(1,)", eight), "an array of version 9.0 of the format, and versions 1 to 3 are known: save it again by numpy.save"},
		{"x.npy", file("<f8", "(1,)")[:40], "the array is truncated: copy or save it again"},
		{"x.npy", file("<f8", "(2,)"), "the array is truncated: its shape (2,) takes 84 bytes, and the file has 76: copy or save it again"},
		{"x.npy", file("<f4", "(1,)"), "4 bytes stand behind the array, whose shape is (1,): save one array in the file"},
		{"x.npy", file("<f8", "(0, 7)"), "no rows in an array of shape (0, 7): save an array that has some"},
		{"x.npy", file("<f8", "(7, 0)"), "no columns in an array of shape (7, 0): save an array that has some"},
		{"x.npy", file("<f8", "()"), "an array of shape (), and a table has two dimensions: save an array with a row for each example"},
		{"x.npy", file("<f8", "(1, 1, 1)"), "an array of shape (1, 1, 1), and a table has two dimensions: save X.reshape(len(X), -1)"},
		{"x.npy", file("<f8", "(-1,)"), "the array is damaged (a shape that isn't a tuple of whole numbers of 0 or more): save it again by numpy.save"},
		{"x.npy", file("<f8", "(4294967296, 4294967296)"), "the array is damaged (the shape (4294967296, 4294967296) has over 2^63 bytes): save it again by numpy.save"},
		{"x.npy", file("<f8", "(99999999999999999999,)"), "the array is damaged (a header that is no dictionary of Python): save it again by numpy.save"},
		{"x.npy", file("<f8", "("+strings.Repeat("(", 500)), "the array is damaged (a header that is no dictionary of Python): save it again by numpy.save"},
		{"x.npy", text("{'descr': '<f8', 'shape': (1,)}"), "the array is damaged (a header without fortran_order, which is True or False): save it again by numpy.save"},
		{"x.npy", text("{'descr': '<f8', 'fortran_order': False}"), "the array is damaged (a header without a shape): save it again by numpy.save"},
		{"x.npy", file("<c8", "(1,)"), "an array of complex numbers, and numbers, booleans or texts are read: save their real and imaginary parts as columns"},
		{"x.npy", file("<M8[ns]", "(1,)"), "an array of dates or times, and numbers, booleans or texts are read: save their numbers by X.astype('int64')"},
		{"x.npy", file("<f16", "(1,)"), "an array of floating-point numbers of 16 bytes, and numbers, booleans or texts are read: save them by X.astype('float64')"},
		{"x.npy", file("<i3", "(1,)"), `an array of the type "<i3", and numbers, booleans or texts are read: save numbers by X.astype(float)`},
		{"x.npy", file("<U0", "(1,)"), "an array of texts of 0 characters, and numbers, booleans or texts are read: save texts of 1 to 262144 characters"},
		{"x.npy", saved("object.npy"), "an array of Python objects, and numbers, booleans or texts are read: save numbers by X.astype(float), or texts by y.astype(str)"},
		{"x.npy", saved("record.npy"), "an array of structures, and numbers, booleans or texts are read: save its fields as the columns of an array, or write the table as Parquet or CSV"},
		{"x.npy", numpyFile(1, "<U2", false, "(1,)", []byte("\xff\xff\xff\xff1234")), "row 0: a text that isn't Unicode: save it by y.astype(str)"},
		{"x.npz", []byte("PK"), "not an archive of arrays (zip: not a valid zip file): write it by scipy.sparse.save_npz"},
		{"x.npz", saved("csc.npz"), `a sparse matrix in the form "csc": save X.tocsr()`},
		{"x.npz", bytes.ReplaceAll(stored, []byte("format.npy"), []byte("fxrmat.npy")), "not a sparse matrix: write it by scipy.sparse.save_npz, or a dense array by numpy.save"},
		{"x.npz", bytes.ReplaceAll(stored, []byte("data.npy"), []byte("dada.npy")), "the array is damaged (the archive has no data.npy): save it again by numpy.save"},
		{"x.npz", csrFile(t, zip.Store, []int64{0, 1}, []int64{7}, []float64{1}, 2), "the array is damaged (row 0 has a value in column 7 of 2): save it again by numpy.save"},
		{"x.npz", csrFile(t, zip.Store, []int64{0, 2, 1}, []int64{0}, []float64{1}, 2), "the array is damaged (row 0 has the values 0 to 2 of 1): save it again by numpy.save"},
		{"x.npz", csrFile(t, zip.Deflate, []int64{1, 1}, []int64{0}, []float64{1}, 2), "the array is damaged (the first row begins at value 1): save it again by numpy.save"},
		{"x.npz", csrFile(t, zip.Deflate, []int64{0, 3}, []int64{0, 0, 0}, []float64{1, 2, 3}, 2), "row 0 has 3 values for 2 columns: save it after X.sum_duplicates()"},
		{"x.npz", csrFile(t, zip.Deflate, []int64{0}, nil, nil, 2), "a matrix of 0 rows and 2 columns: save a matrix that has some"},
	} {
		path := filepath.Join(dir, c.name)
		put(t, path, c.data)
		_, err := table(t, Options{}, path)
		if err == nil || !strings.HasSuffix(err.Error(), c.name+": "+c.want) {
			t.Errorf("%d: error\n%v\nwant\n%s: %s", i, err, c.name, c.want)
		}
	}
}

// csrFile returns a file of scipy.sparse.save_npz.
func csrFile(tb testing.TB, method uint16, indptr, indices []int64, data []float64, cols int) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	whole := func(values []int64) (all []float64) {
		for _, v := range values {
			all = append(all, float64(v))
		}
		return all
	}
	for _, m := range []struct {
		name string
		file []byte
	}{
		{"indices", numpyFile(1, "<i4", false, fmt.Sprintf("(%d,)", len(indices)), numpyElements("<i4", whole(indices)))},
		{"indptr", numpyFile(1, "<i8", false, fmt.Sprintf("(%d,)", len(indptr)), numpyElements("<i8", whole(indptr)))},
		{"format", numpyFile(1, "|S3", false, "()", []byte("csr"))},
		{"shape", numpyFile(1, "<i8", false, "(2,)", numpyElements("<i8", []float64{float64(len(indptr) - 1), float64(cols)}))},
		{"data", numpyFile(1, "<f8", false, fmt.Sprintf("(%d,)", len(data)), numpyElements("<f8", data))},
	} {
		f, err := w.CreateHeader(&zip.FileHeader{Name: m.name + ".npy", Method: method})
		require.NoError(tb, err)
		_, err = f.Write(m.file)
		require.NoError(tb, err)
	}
	require.NoError(tb, w.Close())
	return b.Bytes()
}

// TestSciPy holds the rows of sparse matrices to those of the dense array: stored or compressed, with indices in any order, of which
// equal ones are added up, with labels and weights.
func TestSciPy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const rows, cols = 9_000, 40
	indptr, dense := []int64{0}, make([]float64, rows*cols)
	var indices []int64
	var data, labels, weights []float64
	for r := range rows {
		for range rng.IntN(8) {
			c, v := rng.IntN(cols), float64(rng.IntN(9)-4)/4
			indices, data = append(indices, int64(c)), append(data, v)
			dense[r*cols+c] += v
		}
		indptr, labels, weights = append(indptr, int64(len(indices))), append(labels, float64(rng.IntN(2))), append(weights, float64(rng.IntN(3)))
	}
	for i, v := range dense {
		dense[i] = v + 0 // no -0
	}
	put(t, at("dense.npy"), numpyFile(1, "<f8", false, fmt.Sprintf("(%d, %d)", rows, cols), numpyElements("<f8", dense)))
	put(t, at("stored.npz"), csrFile(t, zip.Store, indptr, indices, data, cols))
	put(t, at("deflated.npz"), csrFile(t, zip.Deflate, indptr, indices, data, cols))
	put(t, at("y.npy"), numpyFile(1, "<i8", false, fmt.Sprintf("(%d,)", rows), numpyElements("<i8", labels)))
	put(t, at("w.npy"), numpyFile(1, "<f4", false, fmt.Sprintf("(%d, 1)", rows), numpyElements("<f4", weights)))
	for _, opt := range []Options{{Storage: Dense}, {Storage: Sparse}, {Storage: Dense, Standardize: true}, {Storage: Sparse, Workers: 1, Prepare: true}} {
		opt.Label, opt.Labels, opt.SampleWeight, opt.Weights = "y", at("y.npy"), "w", at("w.npy")
		want, err := Load(context.Background(), at("dense.npy"), opt)
		require.NoError(t, err)
		for _, name := range []string{"stored.npz", "deflated.npz"} {
			got, err := Load(context.Background(), at(name), opt)
			require.NoError(t, err)
			if err := sameBlocks(blocksOf(t, got), blocksOf(t, want)); err != nil {
				t.Errorf("%s, %+v: %v", name, opt, err)
			}
		}
	}
	for _, name := range []string{"dense.npy", "stored.npz"} { // all columns, the labels too, as they are
		n, err := Convert(context.Background(), []string{at(name)}, at(name+".csv"), Options{Label: "y", Labels: at("y.npy")}, WriterOptions{})
		if err != nil || n != rows {
			t.Fatalf("%s: %d rows: %v", name, n, err)
		}
	}
	same := func(name string) []byte { return require.Value(os.ReadFile(at(name)))(t) }
	if !bytes.Equal(same("dense.npy.csv"), same("stored.npz.csv")) {
		t.Error("a sparse matrix is converted to another table than the dense array")
	}
	weights[5] = -1
	put(t, at("w.npy"), numpyFile(1, "<f4", false, fmt.Sprintf("(%d,)", rows), numpyElements("<f4", weights)))
	_, err := Load(context.Background(), at("stored.npz"), Options{Storage: Sparse, Label: "y", Labels: at("y.npy"), SampleWeight: "w", Weights: at("w.npy")})
	if err == nil || !strings.Contains(err.Error(), `column "w", row 5: -1, and a weight is a finite number of 0 or more`) {
		t.Errorf("a negative weight: %v", err)
	}
}

// TestNumPyWritten reads what Create writes.
func TestNumPyWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	for _, typ := range []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
		a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(map[bool]string{true: "[true, false]", false: "[1, 0]"}[typ.ID() == arrow.BOOL]))
		require.NoError(t, err)
		for _, fields := range [][]arrow.Field{{{Name: "a", Type: typ}}, {{Name: "a", Type: typ}, {Name: "b", Type: typ}}} {
			schema := arrow.NewSchema(fields, nil)
			w, err := Create(context.Background(), path, schema, WriterOptions{})
			require.NoError(t, err)
			require.NoError(t, w.Write(array.NewRecord(schema, []arrow.Array{a, a}[:len(fields)], 2)))
			require.NoError(t, w.Close())
			want := fmt.Sprint([][]float64{{1, 0}, {1, 0}}[:len(fields)])
			if got := fmt.Sprint(columnsOf(t, path)); got != want {
				t.Errorf("%s: %s", typ, got)
			}
		}
	}
}

// FuzzNumPy reads damaged arrays and matrices. No file may crash the reader, and no claim may take much memory.
func FuzzNumPy(f *testing.F) {
	for _, pattern := range []string{"*.npy", "*.npz"} {
		paths, err := filepath.Glob(filepath.Join("testdata", "numpy", pattern))
		require.NoError(f, err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Add(numpyFile(2, "<f8", false, "(1, 9223372036854775807)", nil))
	f.Add(numpyFile(3, "|S1", true, "(4611686018427387904, 2)", nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for _, name := range []string{"x.npy", "x.npz"} {
			path := filepath.Join(dir, name)
			put(t, path, data)
			all, err := table(t, Options{}, path)
			if err == nil && all.NumRows() == 0 {
				t.Error("no rows and no error")
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
		}
	})
}
