package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"halfspace/internal/beside"
	"halfspace/internal/say"
	"halfspace/schema"
)

// errStdoutGone says that whoever read standard output has ended, as head does. There is nobody to tell.
var errStdoutGone = errors.New("standard output was closed")

// output is standard output. It remembers the first error.
type output struct {
	to  *patient
	err error
}

// A patient writer waits for a pipe's reader, until some time after an interrupt.
type patient struct {
	ctx  context.Context
	w    io.Writer
	gone atomic.Bool // the reader wasn't there in time
}

func (p *patient) Write(b []byte) (int, error) {
	ctx, end := beside.After(p.ctx, graceTime)
	defer end()
	if p.gone.Load() {
		return 0, context.Canceled
	}
	b = bytes.Clone(b)
	n, err := beside.Get(ctx, func() (int, error) { return p.w.Write(b) })
	if ctx.Err() != nil && err != nil {
		p.gone.Store(true)
	}
	return n, err
}

// graceTime is how long a pipe's reader may take for what an interrupt leaves.
const graceTime = time.Second

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		o.err = errStdoutGone
	case err != nil:
		o.err = fmt.Errorf("standard output can't be written: %w", err)
	}
	return n, o.err
}

// print writes a result to standard output.
func (a *app) print(text []byte) error {
	_, err := a.stdout.Write(text)
	return err
}

// printJSON writes v as the one JSON object of a verb.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	return a.print(b.Bytes())
}

// finite returns v for JSON, which has no NaN and no infinities: they become null.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// printLine writes a result of one line to standard output.
func (a *app) printLine(format string, args ...any) error {
	return a.print([]byte(say.Line(fmt.Sprintf(format, args...)) + "\n"))
}

// A sheet is text for people: lines, some of them with cells in columns. What files and the command line have put in it is made visible,
// and shortened.
type sheet struct{ bytes.Buffer }

// longestCell is the most characters of a cell of a table, which are wide as their widest cell.
const longestCell = 200

// line adds a line of prose.
func (s *sheet) line(format string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = say.Line(arg)
		case fmt.Stringer:
			args[i] = say.Line(arg.String())
		}
	}
	fmt.Fprintf(s, format+"\n", args...)
}

// pairs adds lines of a name and a value, aligned; the names and values alternate.
func (s *sheet) pairs(cells ...string) {
	t := tabwriter.NewWriter(s, 0, 0, 3, ' ', 0)
	for i := 0; i < len(cells); i += 2 {
		fmt.Fprintf(t, "  %s\t%s\n", say.Line(cells[i]), say.Line(cells[i+1]))
	}
	t.Flush() // to a buffer: no error
}

// table adds rows of cells, columns aligned to the right but the first.
func (s *sheet) table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = say.Short(say.Line(cell), longestCell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		text := fmt.Sprintf("  %-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			text += fmt.Sprintf("  %*s", widths[i+1], cell)
		}
		s.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}

// classNames writes classes for people.
func classNames(classes []schema.Class) string {
	var names []string
	for _, c := range classes {
		names = append(names, c.String())
	}
	return strings.Join(names, ", ")
}
