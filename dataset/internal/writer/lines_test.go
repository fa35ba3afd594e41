package writer

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/internal/require"
)

// inText gives an encoder of text a number of workers.
func inText(encoder func(io.Writer, *arrow.Schema, int) (Encoder, error), workers int) func(io.Writer, *arrow.Schema) (Encoder, error) {
	return func(out io.Writer, schema *arrow.Schema) (Encoder, error) { return encoder(out, schema, workers) }
}

func inSvmlight(out io.Writer, schema *arrow.Schema, workers int) (Encoder, error) {
	return NewSvmlight(out, schema, "label", workers)
}

// TestWorkers: records of few rows and of many are the same text, whatever the number of workers.
func TestWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var recs []arrow.Record
	for _, rows := range []int{3, rangeCells, 5, 2*rangeCells + 1, 0, 1} {
		x, label := make([]float64, rows), make([]int8, rows)
		for i := range x {
			x[i], label[i] = rng.NormFloat64()*float64(rng.IntN(3)), int8(rng.IntN(2))
		}
		recs = append(recs, datatest.Record(t, datatest.Column("label", label, nil), datatest.Column("x", x, nil)))
	}
	for name, encoder := range map[string]func(io.Writer, *arrow.Schema, int) (Encoder, error){"CSV": NewCSV, "JSON": NewJSON, "svmlight": inSvmlight} {
		want := written(t, inText(encoder, 1), recs...)
		for workers := 2; workers < 5; workers++ {
			if got := written(t, inText(encoder, workers), recs...); !bytes.Equal(got, want) {
				t.Errorf("%s: other text with %d workers", name, workers)
			}
		}
	}
}

// limited fails at the write after some bytes.
type limited struct{ left int }

var errFull = errors.New("full")

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestLinesFail: a write that fails, and an array that contradicts its type, are errors of Write.
func TestLinesFail(t *testing.T) {
	rec := datatest.Record(t, datatest.Column("label", make([]int8, 4*rangeCells), nil))
	e := require.Value(NewCSV(&limited{left: 1000}, rec.Schema(), 3))(t)
	if err := e.Write(rec); !errors.Is(err, errFull) {
		t.Errorf("error %v of a full disk", err)
	}
	offsets := make([]int32, 4*rangeCells+1)
	offsets[3*rangeCells] = -5
	data := array.NewData(arrow.BinaryTypes.String, 4*rangeCells, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes([]byte("x"))}, nil, 0, 0)
	bad := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil), []arrow.Array{array.NewStringData(data)}, 4*rangeCells)
	e = require.Value(NewCSV(io.Discard, bad.Schema(), 3))(t)
	if err := e.Write(bad); err == nil || !strings.Contains(err.Error(), "out of range") {
		t.Errorf("error %v of a damaged array", err)
	}
}

// TestKeysAlone: CSV of one column with a dictionary is CSV of the same texts without one: lines of up to 8 bytes and
// longer ones, quoted and empty texts, few rows and many, slices, nulls. A key beyond the dictionary loses no line: it is an
// error.
func TestKeysAlone(t *testing.T) {
	short, many := []string{"", "a", "1234567", `"`, "NA", "ä,b"}, make([]string, 300)
	for k := range many {
		many[k] = strconv.Itoa(k)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for name, values := range map[string][]string{"short": short, "long": append(short, "12345678"), "256": many[:256], "300": many} {
		for _, least := range []int{0, -1} { // -1 is a null
			var dictionaries, plain []arrow.Record
			for _, rows := range []int{len(values), 100, 2*rangeCells + 1} {
				keys, texts, valid := make([]int, rows+3), make([]string, rows+3), make([]bool, rows+3)
				for i := range keys {
					keys[i] = least + rng.IntN(len(values)-least)
					if valid[i] = keys[i] >= 0; valid[i] {
						texts[i] = values[keys[i]]
					}
				}
				d := column.NewDictionary(datatest.Column("", values, nil).Array, keys)
				record := func(a arrow.Array) arrow.Record {
					schema := arrow.NewSchema([]arrow.Field{{Name: "prediction", Type: a.DataType(), Nullable: true}}, nil)
					return array.NewRecord(schema, []arrow.Array{a}, int64(len(keys))).NewSlice(2, int64(rows+2))
				}
				dictionaries, plain = append(dictionaries, record(d)), append(plain, record(datatest.Column("", texts, valid).Array))
			}
			for workers := 1; workers < 3; workers++ {
				if got, want := written(t, inText(NewCSV, workers), dictionaries...), written(t, inText(NewCSV, workers), plain...); !bytes.Equal(got, want) {
					t.Errorf("%s, from %d on, %d workers: other text", name, least, workers)
				}
			}
		}
	}
	beyond := column.NewDictionary(datatest.Column("", short, nil).Array, []int{0, 1, 2, 3, 4, 5, 6})
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "prediction", Type: beyond.DataType()}}, nil), []arrow.Array{beyond}, 7)
	e := require.Value(NewCSV(io.Discard, rec.Schema(), 1))(t)
	if err := column.Recovered(func() error { return e.Write(rec) }); err == nil {
		t.Error("no error of a key beyond the dictionary")
	}
}
