// Package console prints results, notes, progress or suggestions for the person who runs the command.
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
	"halfspace/internal/humanize"
)

// An App is one run of the program.
type App struct {
	Stdout *Output
	Stderr *Patient
	Kept   string // end of the interrupt message, about the files that are kept; may be empty
	ends   []func()
	notes  *notes

	progress *Progress // the progress that is shown; nil: none
	hushed   bool      // neither notes nor progress are printed

	// Cluster returns the cluster for some files: other processes that also make passes over their rows. It is nil
	// without a cluster. See block.Remote.
	Cluster func(Files) (block.Cluster, error)
}

// Files are files whose rows other processes read too.
type Files struct {
	Paths   []string
	Options dataset.Options // Spec is set
	Rows    int64           // number of rows that are kept
}

// notes collects the notes of a run, for reports. Trainings of several classes may add notes at the same time.
type notes struct {
	mu  sync.Mutex
	all []string
}

// Notes returns the notes so far.
func (a *App) Notes() []string {
	a.notes.mu.Lock()
	defer a.notes.mu.Unlock()
	return slices.Clone(a.notes.all)
}

// New returns an app that writes to stdout and stderr. After the end of ctx, it waits no longer than a grace time for
// the readers of pipes.
func New(ctx context.Context, stdout, stderr io.Writer) *App {
	return &App{Stdout: &Output{to: &Patient{ctx: ctx, w: stdout}}, Stderr: &Patient{ctx: ctx, w: stderr}, notes: new(notes)}
}

// A UsageError is an error of the command line itself, not of the files that it names.
type UsageError struct{ error }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// AtEnd registers f, which End calls.
func (a *App) AtEnd(f func()) { a.ends = append(a.ends, f) }

// End calls the functions of AtEnd in their order.
func (a *App) End() {
	for _, f := range a.ends {
		f()
	}
	a.ends = nil
}

// Note prints a message that isn't an error.
func (a *App) Note(format string, args ...any) {
	note := humanize.Line(fmt.Sprintf(format, args...))
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

// PrintJSON writes v as the verb's only JSON object.
func (a *App) PrintJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	return a.Print(humanize.VisibleJSON(b.Bytes()))
}

// PrintLine writes one line to standard output.
func (a *App) PrintLine(format string, args ...any) error {
	return a.Print([]byte(humanize.Line(fmt.Sprintf(format, args...)) + "\n"))
}

// Hush stops notes and progress of a.
func (a *App) Hush() { a.hushed = true }

// Hushed returns an app like a that prints neither notes nor progress.
func (a *App) Hushed() *App {
	quiet := *a
	quiet.hushed = true
	return &quiet
}
