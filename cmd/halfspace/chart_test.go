package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// A contest is a training of the chart in README.md: whole processes, from the file to the model, in recorded seconds.
type contest struct {
	title     string
	peer      string
	file      string // the table of recorded results
	section   string // heading before the rows; "": none
	row, side string // beginnings of the row of halfspace and of the peer's row; side is "" if row has both
}

var contests = []contest{
	{"perceptron, 10 shuffled epochs, Parquet of 1,000,000 × 28", "scikit-learn", "peers.md", "", "| PeerSklearnProcess/order=shuffle |", ""},
	{"logistic regression, svmlight of 500,000 × 100,000", "LIBLINEAR", "sparse.md", "## generated, power law", "| logistic, l2 1 | halfspace |", "| logistic, l2 1 | LIBLINEAR -s 0 |"},
	{"elastic net, one-hot KDD Cup 1999, 494,021 × 118", "scikit-learn", "sparse.md", "## KDD Cup", "| logistic, l1 and l2 1/2 | halfspace |", "| logistic, l1 and l2 1/2 | scikit-learn saga, tol 1e-4 |"},
	{"logistic regression, a9a, 32,561 × 123", "LIBLINEAR", "sparse.md", "## a9a", "| logistic, l2 1 | halfspace |", "| logistic, l2 1 | LIBLINEAR -s 0 |"},
}

// TestChart: the picture of README.md has the seconds that bench/results records, so its command can repeat them.
func TestChart(t *testing.T) {
	var lines []string
	for _, c := range contests {
		ours, theirs := c.seconds(t)
		lines = append(lines, c.title, fmt.Sprintf("halfspace\t%v", ours), fmt.Sprintf("%s\t%v", c.peer, theirs))
	}
	drawn := chart(lines)
	if err := xml.Unmarshal([]byte(drawn), new(any)); err != nil {
		t.Error(err)
	}
	const path = "docs/images/whole-times.svg"
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(drawn), 0o644))
	} else if read(t, path) != drawn {
		t.Errorf("%s has other seconds than bench/results: write it with go test ./cmd/halfspace -update", path)
	}
	if readme := read(t, "README.md"); !strings.Contains(readme, path) || !strings.Contains(readme, "make bench-peers") || !strings.Contains(readme, "make bench-sparse") {
		t.Error("README.md shows the chart without its commands")
	}
}

// seconds returns the recorded wall times of halfspace and of the peer.
func (c *contest) seconds(t *testing.T) (ours, theirs float64) {
	t.Helper()
	text := read(t, "bench/results/"+c.file)
	if _, text, _ = strings.Cut("\n"+text, "\n"+c.section); text == "" {
		t.Fatalf("%s has no %s", c.file, c.section)
	}
	cells := func(row string) []string {
		_, line, found := strings.Cut(text, "\n"+row)
		if line, _, _ = strings.Cut(line, "\n"); !found {
			t.Fatalf("%s has no row %s", c.file, row)
		}
		return strings.Split(line, "|")
	}
	if c.side == "" {
		all := cells(c.row) // peer, quality, halfspace, peer
		return number(t, all[2]), number(t, all[3])
	}
	return number(t, cells(c.row)[1]), number(t, cells(c.side)[1]) // runs, wall
}

func number(t *testing.T, cell string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	require.NoError(t, err)
	return v
}

// chart draws pairs of bars: a line with a title, then two with a name and seconds, after a tab. Bars of a pair share a scale.
func chart(lines []string) string {
	const width, left, row, longest = 760, 110, 22, 540
	var b strings.Builder
	y := 26
	for i := 0; i < len(lines); i += 3 {
		fmt.Fprintf(&b, "<text class=\"t\" x=\"8\" y=\"%d\">%s</text>\n", y, lines[i])
		var seconds [2]float64
		var names [2]string
		for k := range 2 {
			name, number, _ := strings.Cut(lines[i+1+k], "\t")
			names[k] = name
			seconds[k], _ = strconv.ParseFloat(number, 64) // formatted by TestChart
		}
		for k, class := range []string{"a", "b"} {
			y += row
			bar := max(1, math.Round(longest*seconds[k]/max(seconds[0], seconds[1])))
			fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%g\" height=\"15\"/>"+
				"<text x=\"%g\" y=\"%d\">%s s</text>\n", left-8, y, names[k], class, left, y-12, bar, left+bar+6, y, shortSeconds(seconds[k]))
		}
		y += row + 12
	}
	title := "Seconds from the file to the model, whole processes, two cores of an AMD EPYC (Zen 3)"
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">\n"+
		"<style>text{font:13px system-ui,sans-serif;fill:#1b1f24}.t{font-weight:600}.a{fill:#0b6bb0}.b{fill:#9a6700}"+
		"@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.a{fill:#56b4e9}.b{fill:#e69f00}}</style>\n<title>%s</title>\n%s</svg>\n",
		width, y-16, width, y-16, title, title, b.String())
}

// shortSeconds returns seconds with up to three digits.
func shortSeconds(v float64) string {
	return regexp.MustCompile(`\.0+$`).ReplaceAllString(strconv.FormatFloat(v, 'f', max(0, 2-int(math.Log10(max(v, 1)))), 64), "")
}
