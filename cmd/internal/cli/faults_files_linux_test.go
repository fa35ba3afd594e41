package cli

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A fault is a file that demands much memory or time.
type fault struct {
	name  string // name of the file
	about string // the demand, as the end of a sentence
	write func(w io.Writer) error
}

// faults are the faults. Files of rows have a label column, "label".
var faults = []fault{
	{"pages.parquet", "300 columns of one 16 MiB page each, in 190 KB", wide(300, plainPages)},
	{"dictionaries.parquet", "300 columns with a dictionary of 16 MiB each", wide(300, dictionaryPages)},
	{"longtext.parquet", "a text of 8 MiB, which 200,000 rows use", texts(1, 8<<20, 200_000)},
	{"texts.parquet", "300,000 rows of texts of 20 KB", texts(100, 20_000, 300_000)},
	{"list.parquet", "a row with a list of 8 million elements", list(8_000_000)},
	{"rowgroups.parquet", "50,000 row groups of one row", rowGroups(50_000)},
	{"names.csv", "30 columns of text, in 12 KB", csvRows(30, 60, func(row, col int) string { return fmt.Sprintf("t%d", (row*7+col)%60) })},
	{"hash.csv.gz", "10 columns of text and 45,000 rows", zipped(csvRows(10, 45_000, func(row, col int) string { return fmt.Sprintf("t%d", (row*7+col)%60) }))},
	{"categories.csv.gz", "900 categories of 1 MiB, in 1 MB", zipped(longCSV("text", 900, 1<<20))},
	{"labels.csv.gz", "900 labels of 1 MiB, in 1 MB", zipped(longCSV("label", 900, 1<<20))},
	{"first.csv.gz", "a first record of 5 MiB", zipped(longCSV("text", 4, 5<<20))},
	{"record.csv.gz", "a first record of 64 MiB", zipped(longCSV("text", 4, 64<<20))},
	{"record.jsonl.gz", "a record of 100 MiB", zipped(longRecord(`{"x":1,"label":0}`, `{"x":2,"label":1,"text":"`, `"}`))},
	{"record.svm", "a record of 100 MiB", longRecord("1 1:1", "-1 1:2 #", "")},
	{"columns.csv", "2 rows of 262,143 columns", csvRows(262_143, 2, func(row, col int) string { return "0" })},
	{"features.svm", "rows with a feature 262,144", svmlight(262_144, 20_000)},
	{"model.json", "a model of 240 MB", modelOf(strings.Repeat("1,", 1<<10), 120<<10)},
	{"text.json", "a model with a text of 240 MB", modelOf(strings.Repeat("t", 1<<10), 240<<10)},
	{"lists.json", "a model of 80 million lists", modelOf(strings.Repeat("],[", 1<<10), 80<<10)},
	{"nested.json", "a model of 100 million nested lists", modelOf(strings.Repeat("[", 1<<10), 100<<10)},
}

// file writes the fault's file in a directory and returns its path.
func (f fault) file(dir string) (path string, err error) {
	path = filepath.Join(dir, f.name)
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	if err = f.write(buffered); err == nil {
		err = buffered.Flush()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return path, err
}

// labels returns the column "label", whose values alternate between 0 and 1.
func labels(rows int) column {
	values := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0), 1)
	return column{name: "label", physical: typeInt64, values: rows, pages: []page{
		{dictionaryPage, plain, 2, newFrame(values)},
		{dataPage, rleDictionary, rows, newFrame(binary.AppendUvarint([]byte{1}, uint64((rows+7)/8)<<1|1), repeat{0xaa, (rows + 7) / 8})},
	}}
}

// sameIndex returns the body of a page of rows dictionary indices, all 0.
func sameIndex(rows int) []byte { return append(binary.AppendUvarint([]byte{1}, uint64(rows)<<1), 0) }

const pageValues = 2 << 20 // number of float64 in 16 MiB

func plainPages() []page {
	return []page{{dataPage, plain, pageValues, newFrame(nil, repeat{0, 8 * pageValues})}}
}

func dictionaryPages() []page {
	return []page{
		{dictionaryPage, plain, pageValues, newFrame(nil, repeat{0, 8 * pageValues})},
		{dataPage, rleDictionary, pageValues, newFrame(sameIndex(pageValues))},
	}
}

// wide writes a row group of labels and that many columns, all with the same pages.
func wide(columns int, pages func() []page) func(io.Writer) error {
	return func(w io.Writer) error {
		all := []column{labels(pageValues)}
		for i := range columns {
			all = append(all, column{name: fmt.Sprint("x", i), physical: typeDouble, values: pageValues, pages: pages()})
		}
		return writeParquet(w, 1, pageValues, all...)
	}
}

// texts writes rows with a number and a text of size bytes. The dictionary has distinct texts.
func texts(distinct, size, rows int) func(io.Writer) error {
	return func(w io.Writer) error {
		var runs []repeat
		for i := range distinct {
			for shift := range 4 {
				runs = append(runs, repeat{byte(size >> (8 * shift)), 1})
			}
			runs = append(runs, repeat{'a' + byte(i%26), size - i}, repeat{'z', i})
		}
		return writeParquet(w, 1, rows, labels(rows),
			column{name: "x", physical: typeDouble, values: rows, pages: []page{{dataPage, plain, rows, newFrame(nil, repeat{0, 8 * rows})}}},
			column{name: "text", physical: typeByteArray, text: true, values: rows, pages: []page{
				{dictionaryPage, plain, distinct, newFrame(nil, runs...)},
				{dataPage, rleDictionary, rows, newFrame(sameIndex(rows))},
			}})
	}
}

// list writes two rows, each with a list of that many elements.
func list(elements int) func(io.Writer) error {
	return func(w io.Writer) error {
		levels := func(first byte, runs ...int) []byte { // runs[i] levels each, 0 and 1 alternating, beginning with first
			var body []byte
			for i, n := range runs {
				body = append(binary.AppendUvarint(body, uint64(n)<<1), first^byte(i&1))
			}
			return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
		}
		repetition, definition := levels(0, 1, elements-1, 1, elements-1), levels(1, 2*elements)
		indices := sameIndex(2 * elements)
		body := append(append(repetition, definition...), indices...)
		return writeParquet(w, 1, 2, labels(2), column{name: "x", physical: typeDouble, list: true, values: 2 * elements, pages: []page{
			{dictionaryPage, plain, 1, newFrame(make([]byte, 8))},
			{dataPage, rleDictionary, 2 * elements, newFrame(body)},
		}})
	}
}

// rowGroups writes n row groups of one row.
func rowGroups(n int) func(io.Writer) error {
	return func(w io.Writer) error {
		one := func(name string) column {
			return column{name: name, physical: typeDouble, values: 1, pages: []page{{dataPage, plain, 1, newFrame(make([]byte, 8))}}}
		}
		return writeParquet(w, n, 1, one("label"), one("x"))
	}
}

// csvRows writes a header, and rows with that many columns and the label.
func csvRows(columns, rows int, cell func(row, col int) string) func(io.Writer) error {
	return func(w io.Writer) error {
		var line strings.Builder
		for c := range columns {
			fmt.Fprintf(&line, "c%d,", c)
		}
		line.WriteString("label\n")
		for r := range rows {
			for c := range columns {
				line.WriteString(cell(r, c))
				line.WriteByte(',')
			}
			fmt.Fprintln(&line, r%2)
			if _, err := io.WriteString(w, line.String()); err != nil {
				return err
			}
			line.Reset()
		}
		return nil
	}
}

// longCSV writes rows with a number and a long text in the column name. All texts differ. Unless that column is the
// label, the label is the row's number modulo 2.
func longCSV(name string, rows, size int) func(io.Writer) error {
	return func(w io.Writer) error {
		header := "x," + name
		if name != "label" {
			header += ",label"
		}
		fmt.Fprintln(w, header)
		long := strings.Repeat("a", size)
		for r := range rows {
			fmt.Fprintf(w, "%d,%s%d", r, long, r)
			if name != "label" {
				fmt.Fprintf(w, ",%d", r%2)
			}
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// longRecord writes a line, and a line that begins with start, goes on for 100 MiB, and ends with end.
func longRecord(line, start, end string) func(io.Writer) error {
	return func(w io.Writer) error {
		io.WriteString(w, line+"\n"+start)
		for range 100 {
			if _, err := io.WriteString(w, strings.Repeat("a", 1<<20)); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, end+"\n")
		return err
	}
}

// zipped compresses the output of write by gzip.
func zipped(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	}
}

// svmlight writes rows whose last feature has the number index.
func svmlight(index, rows int) func(io.Writer) error {
	return func(w io.Writer) error {
		for r := range rows {
			if _, err := fmt.Fprintf(w, "%d 1:%d %d:1\n", r%2*2-1, r%7, index); err != nil {
				return err
			}
		}
		return nil
	}
}

// modelOf writes the start of a model, and then part, a piece of its weights, times times.
func modelOf(part string, times int) func(io.Writer) error {
	return func(w io.Writer) error {
		io.WriteString(w, `{"format":"halfspace-model/1","algorithm":"perceptron","dtype":"float32","features":["x"],"weights":[[`)
		if part[0] == 't' {
			io.WriteString(w, `"`)
		}
		for range times {
			if _, err := io.WriteString(w, part); err != nil {
				return err
			}
		}
		if part[0] == 't' {
			io.WriteString(w, `"`)
		}
		_, err := io.WriteString(w, "0]]}")
		return err
	}
}
