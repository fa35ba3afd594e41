package column

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"halfspace/internal/humanize"
)

// Gaps are the chosen columns that some files of an input lack, and the numbers of rows of the files. The zero value
// has none.
type Gaps struct {
	mu    sync.Mutex
	lacks map[string][]string // by the path of a file: the columns that the file lacks
	rows  map[string]int64    // by the path of a file
}

// SetLacking sets the columns that a file lacks.
func (g *Gaps) SetLacking(path string, columns []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lacks == nil {
		g.lacks = map[string][]string{}
	}
	g.lacks[path] = columns
}

// Rows sets the number of rows of files, by their paths. It keeps the numbers of an earlier pass that are larger, since
// a pass may end early.
func (g *Gaps) Rows(rows map[string]int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rows == nil {
		g.rows = map[string]int64{}
	}
	for path, n := range rows {
		g.rows[path] = max(g.rows[path], n)
	}
}

// CountRows yields the batches of a pass, and counts the rows of each file.
func (g *Gaps) CountRows(pass iter.Seq2[*Batch, error]) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		rows := map[string]int64{}
		defer func() { g.Rows(rows) }()
		for b, err := range pass {
			if b != nil {
				rows[b.File] += b.Rows
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// Notes returns a line for each set of files that lack the same columns: the columns, the files and their rows. paths
// are all files.
func (g *Gaps) Notes(paths []string) (lines []string) {
	const mostLines = 5
	g.mu.Lock()
	defer g.mu.Unlock()
	columns, files := g.filesOf(paths)
	for len(columns) > 0 {
		where := files[columns[0]]
		var names []string
		var others []string
		for _, name := range columns {
			if slices.Equal(files[name], where) {
				names = append(names, fmt.Sprintf("%q", name))
			} else {
				others = append(others, name)
			}
		}
		if len(lines) == mostLines {
			return append(lines, humanize.Plural(int64(len(columns)), "more column")+" missing in some of the files")
		}
		subject := "column %s is"
		if len(names) > 1 {
			subject = "columns %s are"
		}
		lines = append(lines, fmt.Sprintf(subject+" missing in %s", Listed(names, "column"), g.withRows(where)))
		columns = others
	}
	return lines
}

// filesOf returns the columns that files with rows lack, and for each of them these files.
func (g *Gaps) filesOf(paths []string) (columns []string, files map[string][]string) {
	files = map[string][]string{}
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[path] || g.rows[path] == 0 {
			continue
		}
		seen[path] = true
		for _, name := range g.lacks[path] {
			if files[name] == nil {
				columns = append(columns, name)
			}
			if of := files[name]; len(of) == 0 || of[len(of)-1] != path { // a column may be several features
				files[name] = append(of, path)
			}
		}
	}
	return columns, files
}

// withRows returns a list of files with their rows.
func (g *Gaps) withRows(paths []string) string {
	const most = 3
	var texts []string
	further := int64(0)
	for i, path := range paths {
		if n := g.rows[path]; i < most {
			texts = append(texts, fmt.Sprintf("%s (%s)", path, humanize.Plural(n, "row")))
		} else {
			further += n
		}
	}
	if n := len(paths) - most; n > 0 {
		texts = append(texts, fmt.Sprintf("%s (%s)", humanize.Plural(int64(n), "more file"), humanize.Plural(further, "row")))
	}
	return Listed(texts, "file")
}

// Listed returns a list of up to ten texts, and the number of further things.
func Listed(texts []string, thing string) string {
	const most = 10
	if n := len(texts) - most; n > 0 {
		texts = append(slices.Clone(texts[:most]), humanize.Plural(int64(n), "more "+thing))
	}
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}
