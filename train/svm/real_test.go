package svm

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/testrows"
)

const shared = "../../../shared/data/"

// table reads rows of text from a shared file, or skips the test.
func table(t *testing.T, name string, comma rune) [][]string {
	t.Helper()
	file, err := os.Open(shared + name)
	if err != nil {
		t.Skip("the shared data aren't here")
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	r := csv.NewReader(in)
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = comma, -1, true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// numbers makes features of all columns but label and those in leave. Columns of numbers stay as they are. Others
// become indicators of their values.
func numbers(rows [][]string, label int, leave ...int) (x [][]float64) {
	x = make([][]float64, len(rows))
	for c := range rows[0] {
		if c == label || slices.Contains(leave, c) {
			continue
		}
		var values []string
		for _, row := range rows {
			if _, err := strconv.ParseFloat(row[c], 64); err != nil {
				if i, there := slices.BinarySearch(values, row[c]); !there {
					values = slices.Insert(values, i, row[c])
				}
			}
		}
		for r, row := range rows {
			if values == nil {
				v, _ := strconv.ParseFloat(row[c], 64)
				x[r] = append(x[r], v)
				continue
			}
			i, _ := slices.BinarySearch(values, row[c])
			at := len(x[r])
			x[r] = append(x[r], make([]float64, len(values))...)
			x[r][at+i] = 1
		}
	}
	return x
}

func signs(rows [][]string, label int, positive string) []float64 {
	y := make([]float64, len(rows))
	for r, row := range rows {
		if y[r] = -1; row[label] == positive {
			y[r] = 1
		}
	}
	return y
}

// TestReal: training takes few passes on the shared data.
func TestReal(t *testing.T) {
	for _, c := range []struct {
		name, file   string
		comma        rune
		skip, label  int
		every        int // one of so many rows is taken; 0 stands for 1
		positive     string
		leave        []int
		raw, std, l2 bool
	}{
		{name: "banknote", file: "banknote.csv", label: 4, positive: "1", raw: true, std: true},
		{name: "sonar", file: "sonar.csv", label: 60, positive: "R", std: true, l2: true},
		{name: "magic04", file: "magic04.csv.gz", label: 10, positive: "h", raw: true, std: true},
		{name: "htru2", file: "htru2.csv.gz", skip: 1, label: 8, positive: "1", raw: true, std: true},
		{name: "credit-default", file: "credit-default.csv.gz", skip: 1, label: 24, positive: "1", leave: []int{0}, raw: true, std: true},
		{name: "bank-marketing", file: "bank-marketing.csv.gz", skip: 1, label: 16, positive: "Y", raw: true, std: true},
		{name: "letter A", file: "letter.csv.gz", comma: ' ', label: 16, positive: "A", raw: true, std: true},
		{name: "letter H", file: "letter.csv.gz", comma: ' ', label: 16, positive: "H", raw: true, std: true},
		{name: "kddcup99", file: "kddcup99-10percent.csv.gz", label: 41, positive: "normal.", std: true, every: 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name != "banknote" && c.name != "sonar" {
				t.Skip("it takes seconds")
			}
			if c.comma == 0 {
				c.comma = ','
			}
			rows := table(t, c.file, c.comma)[c.skip:]
			if c.every > 1 {
				for r := range len(rows) / c.every {
					rows[r] = rows[r*c.every]
				}
				rows = rows[:len(rows)/c.every]
			}
			x, y := numbers(rows, c.label, c.leave...), signs(rows, c.label, c.positive)
			for _, std := range []bool{false, true} {
				if std && !c.std || !std && !c.raw {
					continue
				}
				name := c.name + " raw"
				if std {
					standardiseRows(x)
					name = c.name + " standardised"
				}
				for _, l2 := range []float64{1, 1e-3, 1e-6} {
					if l2 < 1 && !c.l2 {
						break
					}
					for _, loss := range Losses {
						measure(t, name, testrows.Dense(x, y, true), loss, l2, 130)
					}
				}
			}
		})
	}
	t.Run("a9a", func(t *testing.T) {
		if testing.Short() {
			t.Skip("it takes seconds")
		}
		rows := table(t, "a9a.svm.gz", ' ')
		x, y := make([][]float64, len(rows)), signs(rows, 0, "+1")
		for r, row := range rows {
			x[r] = make([]float64, 123)
			for _, v := range row[1:] {
				if c, _, found := strings.Cut(v, ":"); found {
					i, err := strconv.Atoi(c)
					if err != nil {
						t.Fatal(err)
					}
					x[r][i-1] = 1
				}
			}
		}
		for _, loss := range Losses {
			measure(t, "a9a", testrows.Dense(x, y, true), loss, 1, 130)
		}
	})
}

// standardiseRows subtracts each column's mean and divides by its deviation.
func standardiseRows(x [][]float64) {
	for i := range x[0] {
		mean, square := 0.0, 0.0
		for _, row := range x {
			mean += row[i] / float64(len(x))
		}
		for _, row := range x {
			square += (row[i] - mean) * (row[i] - mean) / float64(len(x))
		}
		for _, row := range x {
			row[i] -= mean
			if square > 0 {
				row[i] /= math.Sqrt(square)
			}
		}
	}
}
