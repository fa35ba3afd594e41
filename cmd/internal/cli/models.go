package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/export"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/model"
)

// A target is a format of models that export can write.
type target struct {
	flag, help, name string
	write            func(w io.Writer, m *model.Model, name string) error

	path string
	file *files.File  // nil before export, and for standard output
	text bytes.Buffer // for standard output
}

func targets() []*target {
	return []*target{
		{flag: "c", name: "C99", write: export.WriteC,
			help: "`FILE` C source to write, without any dependency. Names in it begin with the name of the file."},
		{flag: "go", name: "a Go package", write: export.WriteGo,
			help: "`FILE` Go source to write: a package with the name of the file, which imports at most the " +
				"standard library."},
		{flag: "onnx", name: "ONNX", write: withoutName(export.WriteONNX),
			help: "`FILE` ONNX file to write, with the input X and the outputs label and probabilities, or scores."},
		{flag: "onnx-columns", name: "ONNX with columns", write: withoutName(export.WriteONNXColumns),
			help: "`FILE` ONNX file to write, with an input for each column of the data in place of X."},
		{flag: "liblinear", name: "LIBLINEAR", write: withoutName(export.WriteLIBLINEAR),
			help: "`FILE` Text model of LIBLINEAR to write, for liblinear-predict. The classes must be whole numbers."},
	}
}

// withoutName returns a write function for a format in which models have no name.
func withoutName(write func(io.Writer, *model.Model) error) func(io.Writer, *model.Model, string) error {
	return func(w io.Writer, m *model.Model, _ string) error { return write(w, m) }
}

func Export(a *console.App) *cobra.Command {
	all := targets()
	var memory flags.Size
	cmd := &cobra.Command{
		Use:   "export MODEL --c FILE|--go FILE|--onnx FILE|--onnx-columns FILE|--liblinear FILE [options]",
		Short: "Write a model for other programs",
		Long: `Export writes a linear model in formats that run without halfspace. Several
formats may be written at once; - writes to standard output.

The input of each is the model's features in their order, as they are in the
data. Export folds --standardize of the training into the weights. C and Go
files have a function that makes the features from the columns of a row: of
categories, hashed texts, dates, and numbers written as text. --onnx-columns
takes the columns instead: its file makes the features. Models with kernels or
votes can't be exported.`,
		Example: `  halfspace export m.json --c iris.c
  halfspace export m.json --go iris.go --onnx iris.onnx`,
		Args: flags.NeedsOne("models: name one that train --out wrote"),
	}
	for _, t := range all {
		cmd.Flags().StringVar(&t.path, t.flag, "", t.help)
	}
	memory.AddTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		wanted, err := chosenTargets(a, all, args[0])
		if err != nil {
			return err
		}
		m, err := console.LoadModel(cmd.Context(), args[0], memory.Bytes)
		if err != nil {
			return err
		}
		quiet := slices.ContainsFunc(wanted, func(t *target) bool { return console.ToStdout(t.path) })
		for _, t := range wanted {
			defer t.abort()
			if err := t.export(cmd.Context(), m, args[0]); err != nil {
				return err
			}
		}
		for _, t := range wanted { // all formats, or none
			if err := t.commit(a, m, quiet); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// chosenTargets returns the targets for which a file was given, and claims these files. It is an error if there are none, or
// if two targets write the same file.
func chosenTargets(a *console.App, all []*target, from string) (wanted []*target, err error) {
	var names []string
	for _, t := range all {
		if names = append(names, "--"+t.flag); t.path == "" {
			continue
		}
		for _, other := range wanted {
			if filepath.Clean(t.path) == filepath.Clean(other.path) || console.ToStdout(t.path) && console.ToStdout(other.path) {
				return nil, console.Usagef("--%s and --%s both write %s: name two files", other.flag, t.flag, t.path)
			}
		}
		wanted = append(wanted, t)
	}
	if wanted == nil {
		return nil, console.Usagef("no format: choose %s with the file to write", strings.Join(names, ", "))
	}
	for _, t := range wanted {
		if what := unbuiltFileName(t.path); t.flag == "go" && !console.ToStdout(t.path) && what != "" {
			return nil, console.Usagef("--go %s: go build %s: choose another name", t.path, what)
		}
		if err := console.Claim(a, t.path, []string{from}); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// goPlatforms are the words that, at the end of a file's name, restrict the file to an operating system or a CPU, as in
// go/build. The list in go/build isn't exported.
var goPlatforms = strings.Fields("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd " +
	"plan9 solaris wasip1 windows zos 386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le " +
	"mips64p32 mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")

// unbuiltFileName returns the reason if go build doesn't compile a file, everywhere or on some platforms, because of its
// name. It returns "" for other files.
func unbuiltFileName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	word := name[strings.LastIndexByte(name, '_')+1:]
	switch {
	case !strings.HasSuffix(path, ".go"): // no .go file: the user renames it
	case name == "" || name[0] == '_':
		return "leaves out files whose name begins with " + filepath.Base(path)[:1]
	case name[0] < utf8.RuneSelf && !unicode.IsLetter(rune(name[0])) && !unicode.IsDigit(rune(name[0])):
		return "refuses files whose name begins with " + name[:1]
	case strings.HasSuffix(path, "_test.go"):
		return "leaves out files that end in _test.go, which are for go test"
	case word != name && slices.Contains(goPlatforms, word):
		return "leaves out files that end in _" + word + ".go on other platforms"
	}
	return ""
}

// export writes the model to a file that commit puts in its place, or to a buffer for standard output.
func (t *target) export(ctx context.Context, m *model.Model, from string) (err error) {
	if console.ToStdout(t.path) {
		if err := t.write(&t.text, m, ""); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		return nil
	}
	if t.file, err = files.CreateContext(ctx, t.path); err != nil {
		return err
	}
	base := filepath.Base(t.path)
	if err := t.write(t.file, m, strings.TrimSuffix(base, filepath.Ext(base))); err != nil {
		if t.file.Err() != nil {
			return t.file.Err()
		}
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

// commit puts the target's file in its place, or prints the text. It prints a line about the file unless quiet is set.
func (t *target) commit(a *console.App, m *model.Model, quiet bool) error {
	if t.file == nil {
		return a.Print(t.text.Bytes())
	}
	if err := t.file.Commit(); err != nil || quiet {
		return err
	}
	return a.PrintLine("%s: %s, %s, %d classes", t.path, t.name, humanize.Plural(int64(m.Width()), "feature"), len(m.Classes))
}

// abort discards the file unless commit has put it in its place.
func (t *target) abort() {
	if t.file != nil {
		t.file.Abort()
	}
}
