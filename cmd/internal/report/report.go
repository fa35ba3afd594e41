// Package report draws for the verbs: HTML reports, traces, pictures.
package report

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/plot"
)

// textExtension is the extension of a report without pictures.
const textExtension = ".txt"

// Options say where a report is written.
type Options struct {
	File        string // "": no report
	Interrupted bool   // the run ended before it was complete

	command string // as the user typed it
	options [][2]string
}

func (o *Options) AddFlag(f *pflag.FlagSet) {
	f.StringVar(&o.File, "report", "", "`FILE` Write a report with plots to this .html file, or without plots to "+
		"a .txt file.")
}

// Check returns an error if the report can't be written. inputs are the files that the verb reads, and outputs the
// other files that it writes.
func (o *Options) Check(a *console.App, cmd *cobra.Command, args, inputs, outputs []string) error {
	if o.File == "" {
		return nil
	}
	if ext := strings.ToLower(filepath.Ext(o.File)); ext != ".html" && ext != ".htm" && ext != textExtension {
		return console.Usagef("--report %s: a report is HTML or text: name a file that ends in .html or .txt", o.File)
	}
	if slices.Contains(outputs, o.File) {
		return console.Usagef("--report and another option write %s: name another file", o.File)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, v := range flags.Values(f) {
			o.options = append(o.options, [2]string{message.Option(f.Name), v})
		}
	})
	if !console.ForPython { // Python's user typed no command
		o.command = typedCommand(cmd, args)
	}
	return console.Claim(a, o.File, inputs)
}

// typedCommand returns the command in the syntax of a shell, with the options that the user gave.
func typedCommand(cmd *cobra.Command, args []string) string {
	var options, rest []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, v := range flags.Values(f) {
			switch f.Value.Type() {
			case "bool":
				options = append(options, strings.TrimSuffix("--"+f.Name+"="+v, "=true"))
			case "stringSlice": // its value is a line of CSV
				v = flags.Line(v)
				fallthrough
			default:
				options = append(options, "--"+f.Name, console.Quote(v))
			}
		}
	})
	dash := false // an argument looks like an option
	for _, a := range args {
		rest, dash = append(rest, console.Quote(a)), dash || len(a) > 1 && a[0] == '-'
	}
	words := slices.Concat([]string{cmd.CommandPath()}, rest, options)
	if dash {
		words = slices.Concat([]string{cmd.CommandPath()}, options, []string{"--"}, rest)
	}
	return strings.Join(words, " ")
}

// OptionsSection returns the section of the options that the user gave.
func (o *Options) OptionsSection() plot.Section {
	return plot.Section{Heading: "Options", Facts: o.options}
}

// RepeatSection returns the section on how to repeat the run: the command, then the hashes, which are pairs of name and value.
func (o *Options) RepeatSection(hashes ...[2]string) plot.Section {
	hashes = append(hashes, [2]string{"halfspace", console.Version()})
	text := "The same rows, options and version give the same figures, on every CPU and with any number of workers."
	if o.Interrupted {
		text = "The run was interrupted. A run to its end gives other figures."
	}
	if o.command != "" {
		text += " This command was typed:"
	}
	return plot.Section{Heading: "How to repeat", Code: o.command, Facts: hashes, Text: []string{text}}
}

// Data returns the section of the files, with the notes of the run.
func Data(a *console.App, paths []string, facts [][2]string) plot.Section {
	s := plot.Section{Heading: "Data", Facts: facts}
	names := strings.Join(paths[:min(len(paths), 10)], ", ")
	if n := len(paths); n > 10 {
		names += fmt.Sprintf(" and %d more", n-10)
	}
	if bytes := totalSize(paths); bytes > 0 {
		names += ", " + humanize.Size(bytes)
	}
	s.Facts = append([][2]string{{"files", names}}, s.Facts...)
	for _, n := range a.Notes() {
		s.Facts = append(s.Facts, [2]string{"note", n})
	}
	return s
}

// totalSize returns the total size of files, or 0 if one isn't a regular file.
func totalSize(paths []string) (bytes int64) {
	for _, path := range paths {
		info, err := files.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		bytes += info.Size()
	}
	return bytes
}

// Title returns the title of a report: the label, the kind of the report, the day.
func Title(label, kind string) string {
	return label + ", " + kind + ", " + time.Now().Format(time.DateOnly)
}

// Result returns the section with the facts and tables of a sheet.
func Result(sheet *console.Sheet) plot.Section {
	return plot.Section{Heading: "Result", Facts: sheet.Facts, Tables: sheet.Tables}
}

// Write writes the page if a report was asked for. After an interrupt it still has a grace time.
func (o *Options) Write(ctx context.Context, page func() (*plot.Page, error)) error {
	if o.File == "" {
		return nil
	}
	p, err := page()
	if err != nil {
		return err
	}
	grace, end := parallel.Grace(ctx)
	defer end()
	text := p.HTML
	if strings.ToLower(filepath.Ext(o.File)) == textExtension {
		text = p.Text
	}
	if err := files.Replace(grace, o.File, []byte(text())); err != nil {
		return message.Errorf("--report: %w", err)
	}
	return nil
}

// Hash returns the SHA-256 of a model's file under the file's name, or nil if there is no file.
func Hash(m *model.Model, path string) [][2]string {
	if path == "" {
		return nil
	}
	sum, err := m.Sum()
	if err != nil { // the model has values that no file can hold
		return nil
	}
	return [][2]string{{"SHA-256 of " + path, fmt.Sprintf("%x", sum[:])}}
}
