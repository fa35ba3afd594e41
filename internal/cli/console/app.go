// Package console is what one run of the program writes: results to standard output; notes and progress to standard error.
package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/internal/say"
)

// An App is one run of the program.
type App struct {
	Stdout *Output
	Stderr *Patient
	Kept   string // what an interrupt leaves, as the end of a sentence; may be empty
	ends   []func()
	notes  *notes

	progress *Progress // that is shown; nil: none
	hushed   bool      // neither notes nor progress are printed

	// Cluster returns the processes that make passes over the rows of files too. nil: there are none. See block.Remote.
	Cluster func(Files) (block.Cluster, error)
}

// Files are files whose rows other processes read too.
type Files struct {
	Paths   []string
	Options dataset.Options // Spec is set
	Rows    int64           // that are kept
}

// notes are what was told, for reports. Trainings of several classes may tell at once.
type notes struct {
	mu  sync.Mutex
	all []string
}

// Notes returns what Note has told so far.
func (a *App) Notes() []string {
	a.notes.mu.Lock()
	defer a.notes.mu.Unlock()
	return slices.Clone(a.notes.all)
}

// New returns an app that writes to stdout and stderr. After the end of ctx, it waits for readers of pipes no longer than a grace time.
func New(ctx context.Context, stdout, stderr io.Writer) *App {
	return &App{Stdout: &Output{to: &Patient{ctx: ctx, w: stdout}}, Stderr: &Patient{ctx: ctx, w: stderr}, notes: new(notes)}
}

// A UsageError is an error of the command line itself, not of the files that it names.
type UsageError struct{ error }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// AtEnd has f called when the run ends.
func (a *App) AtEnd(f func()) { a.ends = append(a.ends, f) }

// End ends the run.
func (a *App) End() {
	for _, f := range a.ends {
		f()
	}
	a.ends = nil
}

// Note tells the user about something that isn't an error.
func (a *App) Note(format string, args ...any) {
	note := say.Line(fmt.Sprintf(format, args...))
	a.notes.mu.Lock()
	a.notes.all = append(a.notes.all, note)
	a.notes.mu.Unlock()
	if !a.hushed {
		a.progress.above(func() { fmt.Fprintf(a.Stderr, "note: %s\n", note) })
	}
}

// Print writes a result to standard output.
func (a *App) Print(text []byte) error {
	_, err := a.Stdout.Write(text)
	return err
}

// PrintJSON writes v as the one JSON object of a verb.
func (a *App) PrintJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	return a.Print(say.VisibleJSON(b.Bytes()))
}

// PrintLine writes a result of one line to standard output.
func (a *App) PrintLine(format string, args ...any) error {
	return a.Print([]byte(say.Line(fmt.Sprintf(format, args...)) + "\n"))
}

// Hush has a print neither notes nor progress.
func (a *App) Hush() { a.hushed = true }

// Hushed returns an app like a that prints neither notes nor progress.
func (a *App) Hushed() *App {
	quiet := *a
	quiet.hushed = true
	return &quiet
}
