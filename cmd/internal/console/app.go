// Package console prints results, notes, progress or suggestions for the person who runs the command.
package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unicode"

	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/parallel"
)

// An App is one run of the program.
type App struct {
	Stdout    *output
	Stderr    *patientWriter
	KeptFiles string // end of the interrupt message, about the files that are kept; may be empty

	endFuncs []func()
	notes    *notes
	progress *Progress // the progress that is shown; nil: none
	isHushed bool      // neither notes nor progress are printed

	// Engine opens rows in other processes too, which make the passes over them. It is nil if this process makes all passes.
	Engine dataset.Engine
}

// notes collects the notes of a run, for reports. Trainings of several classes may add notes at the same time.
type notes struct {
	mu      sync.Mutex
	texts   []string
	isHeld  bool     // new lines wait in waiting
	waiting []string // lines that are not yet printed
}

// add keeps a note, and its line for standard error. It returns false if the note was there before.
func (n *notes) add(kind, text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.Contains(n.texts, text) {
		return false
	}
	n.texts = append(n.texts, text)
	n.waiting = append(n.waiting, kind+": "+text)
	return true
}

// take returns the lines that wait, and forgets them. Unless release is set, it returns none while notes are held.
func (n *notes) take(release bool) (lines []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isHeld = n.isHeld && !release; n.isHeld {
		return nil
	}
	lines, n.waiting = n.waiting, nil
	return lines
}

func (n *notes) hold() {
	n.mu.Lock()
	n.isHeld = true
	n.mu.Unlock()
}

func (a *App) Notes() []string {
	a.notes.mu.Lock()
	defer a.notes.mu.Unlock()
	return slices.Clone(a.notes.texts)
}

// New returns an app that writes to stdout and stderr. After the end of ctx, it waits no longer than a grace time for
// the readers of pipes.
func New(ctx context.Context, stdout, stderr io.Writer) *App {
	return &App{Stdout: &output{to: &patientWriter{ctx: ctx, w: stdout}}, Stderr: &patientWriter{ctx: ctx, w: stderr}, notes: new(notes)}
}

// ForPython is true if the Python package runs the command and shows its messages.
var ForPython bool

// init sets the notation of messages. The Python package sets HALFSPACE_PYTHON to its names of options and of files.
func init() {
	var names struct{ Options, Files map[string]string }
	message.Notation = message.Typed
	if json.Unmarshal([]byte(os.Getenv("HALFSPACE_PYTHON")), &names) == nil {
		ForPython, message.Notation, message.Files = true, message.Python(names.Options), names.Files
	}
}

// A UsageError is an error of the command line itself, not of the files that it names.
type UsageError struct{ error }

func (u UsageError) Unwrap() error { return u.error }

// Usage returns err as a UsageError, or nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// Usagef returns a UsageError. Its format may name options; see message.Sprintf.
func Usagef(format string, args ...any) error { return UsageError{message.Errorf(format, args...)} }

func (a *App) AtEnd(f func()) { a.endFuncs = append(a.endFuncs, f) }

// End calls the functions of AtEnd in their order.
func (a *App) End() {
	a.ReleaseNotes()
	for _, f := range a.endFuncs {
		f()
	}
	a.endFuncs = nil
}

// Note prints a message that isn't an error, once. Its format may name options; see message.Sprintf.
func (a *App) Note(format string, args ...any) { a.say("note", format, args) }

// Warning is Note for a result that is of no use.
func (a *App) Warning(format string, args ...any) {
	if ForPython { // which knows notes and errors
		a.say("note", format, args)
	} else {
		a.say("warning", format, args)
	}
}

func (a *App) say(kind, format string, args []any) {
	if a.notes.add(kind, humanize.Line(message.Sprintf(format, args...))) {
		a.progress.above(func() { a.printNotes(false) })
	}
}

// printNotes prints the notes that wait. Notes that are held are printed if release is set.
func (a *App) printNotes(release bool) {
	for _, line := range a.notes.take(release) {
		if !a.isHushed {
			fmt.Fprintln(a.Stderr, line)
		}
	}
}

// HoldNotes lets notes wait for the end of the report, for the end of the run, or until progress has been shown for two seconds.
func (a *App) HoldNotes() { a.notes.hold() }

// ReleaseNotes prints the notes that wait, and from now on each note at once.
func (a *App) ReleaseNotes() { a.progress.above(func() { a.printNotes(true) }) }

func (a *App) Warn(text string) { a.Note("%s", text) }

// Report prints a report, then the notes that waited for it: v as JSON if asJSON is set, otherwise the sheet.
func (a *App) Report(asJSON bool, v any, sheet func() *Sheet) (err error) {
	if asJSON {
		err = a.PrintJSON(v)
	} else {
		err = a.Print(sheet().Bytes())
	}
	a.ReleaseNotes()
	return err
}

// Print writes a result to standard output. It removes the line of the progress before, as both may be on one terminal.
func (a *App) Print(text []byte) (err error) {
	a.progress.above(func() { _, err = a.Stdout.Write(text) })
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
	return a.Print(humanize.EscapeControlsJSON(b.Bytes()))
}

func (a *App) PrintLine(format string, args ...any) error {
	return a.Print([]byte(humanize.Line(fmt.Sprintf(format, args...)) + "\n"))
}

func (a *App) Hush() { a.isHushed = true }

// HushedApp returns an app like a that prints neither notes nor progress.
func (a *App) HushedApp() *App {
	quiet := *a
	quiet.isHushed = true
	return &quiet
}

// ErrStdoutGone says that the reader of standard output has ended, as head does. The program doesn't report it.
var ErrStdoutGone = errors.New("standard output was closed")

type output struct {
	to  *patientWriter
	Err error // the first error of a write
}

// A patientWriter waits for a pipe's reader, but only for a grace time after an interrupt.
type patientWriter struct {
	ctx        context.Context
	w          io.Writer
	readerGone atomic.Bool // the reader didn't take a text within the grace time
}

// Write writes a copy of b. Once the grace time is over, it returns even if the reader hasn't taken b.
func (p *patientWriter) Write(b []byte) (int, error) {
	ctx, end := parallel.Grace(p.ctx)
	defer end()
	if p.readerGone.Load() {
		return 0, context.Canceled
	}
	b = bytes.Clone(b)
	n, err := parallel.DetachValue(ctx, func() (int, error) { return p.w.Write(b) })
	if ctx.Err() != nil && err != nil {
		p.readerGone.Store(true)
	}
	return n, err
}

// Write writes p. After a failed write it writes nothing more, and returns the first error.
func (o *output) Write(p []byte) (int, error) {
	if o.Err != nil {
		return 0, o.Err
	}
	n, err := o.to.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		o.Err = ErrStdoutGone
	case err != nil:
		o.Err = fmt.Errorf("standard output can't be written: %w", err)
	}
	return n, o.Err
}

// Number is the version of the program. The Python package and CHANGELOG.md have the same one.
const Number = "0.1.0"

// Version returns the versions of the program and of the Go compiler.
func Version() string { return Number + ", " + runtime.Version() }

// Commit returns the hash of the commit that the program was built from, "" if it is unknown, and whether files were changed.
func Commit() (hash string, changed bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			hash = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	return hash, changed
}

// plainCharacters mean themselves in a shell.
const plainCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%"

// Quote returns words in the syntax of a shell, separated by spaces. A word with a control character, such as a line
// break, is the output of printf: "$(printf 'a\nb')". Line breaks at its end would be lost.
func Quote(words ...string) string {
	var typed []string
	for _, w := range words {
		if strings.ContainsFunc(w, unicode.IsControl) {
			w = `"$(printf '` + printfFormat(w) + `')"`
		} else if w == "" || strings.Trim(w, plainCharacters) != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		typed = append(typed, w)
	}
	return strings.Join(typed, " ")
}

// printfFormat returns a word as printf takes it, between single quotes of a shell.
func printfFormat(word string) string {
	var b strings.Builder
	for i := range len(word) {
		switch c := word[i]; {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '%' || c == '\\':
			b.Write([]byte{c, c})
		case c < ' ' || c >= 0x7f || c == '\'' || c == '-' && i == 0:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// PeakRSS returns the largest resident memory of the process so far, in bytes, or 0 if the system has no /proc. Getrusage
// isn't used: it would include the resident memory of the parent at the start of the process.
func PeakRSS() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64) // 0 if there is no number
	return kib << 10
}
