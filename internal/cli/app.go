package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"halfspace/internal/say"
)

// An app is one run of the program.
type app struct {
	stdout *output
	stderr *patient
	kept   string // what an interrupt leaves, as the end of a sentence; "" where the verb has nothing to say
}

// newApp returns an app that writes to stdout and stderr. Where these are pipes that nobody reads, the end of ctx ends the waiting.
func newApp(ctx context.Context, stdout, stderr io.Writer) *app {
	return &app{stdout: &output{to: &patient{ctx: ctx, w: stdout}}, stderr: &patient{ctx: ctx, w: stderr}}
}

// usageError is an error of the command line, not of what it names.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// note tells the user about something that isn't an error.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.stderr, "note: %s\n", say.Line(fmt.Sprintf(format, args...)))
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

// printLine writes a result of one line to standard output.
func (a *app) printLine(format string, args ...any) error {
	return a.print([]byte(say.Line(fmt.Sprintf(format, args...)) + "\n"))
}
