package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/cmd/internal/report"
	"halfspace/dataset"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// shownWeights is the number of a model's weights that inspect shows without --top.
const shownWeights = 20

func Inspect(a *console.App) *cobra.Command {
	asJSON, top := false, shownWeights
	var data flags.Data
	var memory flags.Size
	cmd := &cobra.Command{
		Use:   "inspect FILE [options]",
		Short: "Show what is in a model or a data file",
		Long: `Inspect shows what is in a file. It recognises the file by its content:

  - a model: how it was trained, from which data, and its largest weights
  - a proof that check --json printed: its verdict, and code that verifies it
  - a Delta or Iceberg table: its version, rows and columns
  - a folder: its data files
  - a Parquet file: its rows, columns and row groups
  - a CSV, JSON Lines, svmlight, Arrow IPC or NumPy file: its rows and columns`,
		Example: `  halfspace inspect m.json
  halfspace inspect train.parquet --json
  halfspace inspect train.csv --label y
  halfspace inspect train.csv.gz --header no`,
		Args: flags.NeedsOne("files: name one model or data file"),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object.")
	cmd.Flags().IntVar(&top, "top", shownWeights,
		"`NUMBER` Number of weights of a model to show, the largest first. With standard errors, those with the "+
			"largest z-values come first.")
	cmd.Flags().StringVar(&data.Label, "label", "",
		"`COLUMN` Column with the classes: read the data, and show for each column its values and the features that "+
			"train makes of it.")
	data.AddLabels(cmd)
	cmd.Flags().StringSliceVar(&data.Types, "type", nil, "`COLUMN=TYPE,...` As in train, with --label.")
	data.AddRows(cmd)
	data.AddText(cmd)
	memory.AddTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case args[0] == "-":
			return console.Usagef("standard input can't be inspected, since it is read more than once: save it and name the file")
		case top < 1:
			return console.Usagef("--top is %d: use 1 or more", top)
		}
		if err := cmp.Or(data.Check(), data.Claim(a, args)); err != nil {
			return err
		}
		flags.NameArrays(&data.Options)
		switch info, err := files.Stat(args[0]); {
		case data.Label != "":
			return inspectColumns(cmd.Context(), a, args, data.Options, &memory, asJSON)
		case len(rowsOptions(cmd)) > 0:
			return console.Usagef("--%s without --label: inspect reads the rows with --label COLUMN alone",
				strings.Join(rowsOptions(cmd), ", --"))
		case dataset.MayBeLake(args[0]) || err == nil && info.IsDir() || err != nil && files.Scheme(args[0]) != "":
			return inspectFolder(cmd.Context(), a, args[0], data.Options, &memory, asJSON)
		}
		return inspectFile(cmd, a, args[0], top, data.Text, &memory, asJSON)
	}
	return cmd
}

// rowsOptions returns the options of the user that say which rows to read, and how.
func rowsOptions(cmd *cobra.Command) (given []string) {
	for _, name := range []string{"type", "where", "sample", "limit", "rejects"} {
		if cmd.Flags().Changed(name) {
			given = append(given, name)
		}
	}
	return given
}

// inspectFile shows a file that it recognises by its content.
func inspectFile(cmd *cobra.Command, a *console.App, path string, top int, text dataset.TextOptions, memory *flags.Size,
	asJSON bool) error {
	isModel, err := isObject(path)
	if err != nil {
		return err
	}
	isProof := isModel && console.IsProof(path)
	if cmd.Flags().Changed("top") && (isProof || !isModel) {
		a.Note("--top has no effect: %s is no model", path)
	}
	switch {
	case isProof:
		return inspectProof(a, path, asJSON)
	case isModel:
		return inspectModel(cmd.Context(), a, path, top, memory, asJSON)
	}
	return inspectData(cmd.Context(), a, path, text, memory, asJSON)
}

type folderReport struct {
	Kind       string   `json:"kind"` // "folder"
	Path       string   `json:"path"`
	Files      []string `json:"files"`
	Bytes      int64    `json:"bytes"`
	Partitions []string `json:"partitions"` // columns that the names of folders give
}

// inspectFolder shows the version of a lake table that a path names, or the files of a folder.
func inspectFolder(ctx context.Context, a *console.App, path string, opt dataset.Options, memory *flags.Size, asJSON bool) error {
	if is, err := inspectLake(ctx, a, path, opt, memory, asJSON); is || err != nil {
		return err
	}
	r := folderReport{Kind: "folder", Path: path}
	var err error
	if r.Files, err = opt.Expand(ctx, []string{path}, a.Warn); err != nil {
		return err
	}
	for _, file := range r.Files {
		info, err := files.Stat(file)
		if err != nil {
			return console.OpenError(file, err)
		}
		r.Bytes += info.Size()
	}
	r.Partitions = dataset.Partitions(r.Files)
	return a.Report(asJSON, r, func() *console.Sheet {
		s := new(console.Sheet)
		s.Line("%s: a folder\n", path)
		s.Pairs("files", humanize.Count(int64(len(r.Files))), "size", humanize.Size(r.Bytes), "first", r.Files[0],
			"partitions", cmp.Or(strings.Join(r.Partitions, ", "), "none"))
		s.Line("\nhalfspace inspect %s --label COLUMN shows the columns and their values.", path)
		return s
	})
}

// A lakeReport is the JSON object of inspect --json for a lake table.
type lakeReport struct {
	Kind string `json:"kind"` // "lake table"
	*dataset.LakeInfo
}

// inspectLake shows the version of a lake table that a path names. It returns false if the path names none.
func inspectLake(ctx context.Context, a *console.App, path string, opt dataset.Options, memory *flags.Size, asJSON bool) (bool, error) {
	var undo func()
	opt.Memory, undo = memory.Hold()
	defer undo()
	opt.Warn = a.Warn
	info, err := dataset.InspectLake(ctx, path, opt)
	if info == nil || err != nil {
		return false, err
	}
	r := lakeReport{"lake table", info}
	return true, a.Report(asJSON, r, r.sheet)
}

func (r lakeReport) sheet() *console.Sheet {
	s := new(console.Sheet)
	s.Line("%s: %s\n", r.Path, r.Version)
	removed := ""
	if r.Removed > 0 {
		removed = fmt.Sprintf(", and %s more in the files, which the version leaves out", humanize.Count(r.Removed))
	}
	s.Pairs("rows", humanize.Count(r.Rows)+removed,
		"files", humanize.Count(int64(r.Files)), "size", humanize.Size(r.Bytes), "columns", humanize.Count(int64(len(r.Columns))))
	rows := [][]string{{"column", "type", "feature"}}
	for _, c := range r.Columns {
		rows = append(rows, []string{c.Name, c.Type, yesNo(c.Feature)})
	}
	s.Line("")
	s.Table(rows)
	return s
}

func inspectData(ctx context.Context, a *console.App, path string, text dataset.TextOptions, memory *flags.Size, asJSON bool) error {
	limit, undo := memory.Hold()
	defer undo()
	file, table, err := dataset.Inspect(ctx, path, dataset.Options{Text: text, Memory: limit, Warn: a.Warn})
	if err != nil {
		return err
	}
	if file != nil {
		r := parquetReport{"parquet", file}
		return a.Report(asJSON, r, r.sheet)
	}
	r := tableReport{"table", table}
	return a.Report(asJSON, r, r.sheet)
}

// inspectColumns shows the features that train makes of the columns of data.
func inspectColumns(ctx context.Context, a *console.App, paths []string, opt dataset.Options, memory *flags.Size, asJSON bool) error {
	var undo func()
	opt.Memory, undo = memory.Hold()
	defer undo()
	t, err := dataset.Examine(ctx, paths, opt)
	if err != nil {
		return err
	}
	p, err := t.Profile(ctx, opt)
	if err != nil {
		return err
	}
	for _, note := range p.Notes {
		a.Note("%s", note)
	}
	const most = 10
	noted := 0
	for _, c := range p.Columns {
		if len(c.Notes) == 0 {
			continue
		}
		if noted++; noted > most {
			continue
		}
		for _, note := range c.Notes {
			a.Note("column %q: %s", c.Name, note)
		}
	}
	if noted > most {
		a.Note("%s with notes: --json lists them", humanize.Plural(int64(noted-most), "more column"))
	}
	return a.Report(asJSON, p, func() *console.Sheet {
		s := new(console.Sheet)
		s.Line("%s: %s\n", humanize.Files(paths), humanize.Plural(p.Rows, "row"))
		s.Table(report.ColumnTable(p))
		classes := [][]string{{"class", "rows", "share"}}
		for _, c := range p.Classes {
			classes = append(classes, []string{schema.NameClass(c.Class), humanize.Count(c.Rows),
				fmt.Sprintf("%.2f %%", 100*float64(c.Rows)/float64(max(1, p.Rows-p.Unlabelled)))})
		}
		if len(p.Classes) > 0 {
			s.Line("")
			s.Table(classes)
		}
		if p.Unlabelled > 0 {
			s.Line("\n%s without a label, left out", humanize.Plural(p.Unlabelled, "row"))
		}
		return s
	})
}

// isObject tells whether the first byte of a file begins a JSON object. It returns false for JSON Lines: a line that is an object, unless
// the file is a model or a proof.
func isObject(path string) (bool, error) {
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".jsonl" || ext == ".ndjson" {
		return false, nil
	}
	// Stat comes before Open: opening a named pipe would wait for a writer.
	if info, err := files.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return false, fmt.Errorf("%s: not a regular file: save it and name the file", path)
	}
	f, err := files.Open(path)
	if err != nil {
		return false, console.OpenError(path, err)
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, console.OpenError(path, err)
	}
	line, _, _ := bytes.Cut(head[:n], []byte{'\n'})
	return head[0] == '{' && (console.IsOwn(path) || !json.Valid(line)), nil
}

// maxProof is the largest size of a proof, in bytes: enough for the most features that a row may have.
const maxProof = 256 << 20

// inspectProof shows the report in a proof, and code that verifies the proof.
func inspectProof(a *console.App, path string, asJSON bool) error {
	f, err := os.Open(path)
	if err != nil {
		return console.OpenError(path, err)
	}
	defer f.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(io.LimitReader(f, maxProof+1)); err != nil {
		return console.OpenError(path, err)
	}
	if witnesses := bytes.Count(text.Bytes(), []byte("{")); text.Len() > maxProof || witnesses > 4*schema.MaxFeatures {
		return message.Errorf("%s: not what check --json prints: it is too large", path)
	}
	r := CheckReport{PlaneReport: new(PlaneReport)} // a proof may lack all keys of PlaneReport
	if err := json.Unmarshal(text.Bytes(), &r); err != nil {
		return message.Errorf("%s: not what check --json prints: %w", path, err)
	}
	if r.Dtype == "float64" {
		return fmt.Errorf("%s: the proof is about float64 rows, and rows are float32 now: run check again", path)
	}
	if r.IsSeparable == nil || !*r.IsSeparable {
		r.PlaneReport = nil
	}
	if asJSON {
		return a.PrintJSON(&r)
	}
	if err := a.Print(r.sheet().Bytes()); err != nil || r.IsSeparable == nil {
		return err
	}
	return a.Print([]byte("\nThese lines verify it for CSV. They round the numbers to float32, as training does:\n\n" + verifyLines))
}

// A parquetReport is the JSON object of inspect --json for a Parquet file.
type parquetReport struct {
	Kind string `json:"kind"` // "parquet"
	*dataset.FileInfo
}

func (r parquetReport) sheet() *console.Sheet {
	s := new(console.Sheet)
	var compressed, uncompressed, largest int64
	for _, g := range r.RowGroups {
		compressed += g.Compressed
		uncompressed += g.Uncompressed
		largest = max(largest, g.Rows)
	}
	s.Line("%s: a Parquet file\n", r.Path)
	s.Pairs(
		"rows", humanize.Count(r.Rows),
		"row groups", fmt.Sprintf("%s, of %s at most", humanize.Count(int64(len(r.RowGroups))), humanize.Plural(largest, "row")),
		"columns", humanize.Count(int64(len(r.Columns))),
		"size", fmt.Sprintf("%s, column data of %s (%s uncompressed)", humanize.Size(r.Bytes),
			humanize.Size(compressed), humanize.Size(uncompressed)),
		"written by", cmp.Or(r.CreatedBy, "unknown"),
	)
	rows := [][]string{{"column", "type", "logical type", "nulls", "feature", "size", "compression"}}
	for _, c := range r.Columns {
		nulls := "unknown"
		switch {
		case c.Repetition == "required":
			nulls = "none"
		case c.Nulls >= 0:
			nulls = humanize.Count(c.Nulls)
		}
		rows = append(rows, []string{c.Name, strings.ToLower(c.Physical), cmp.Or(c.Logical, "-"), nulls,
			yesNo(c.Feature), humanize.Size(c.Compressed), cmp.Or(strings.Join(c.Codecs, " "), "-")})
	}
	s.Line("")
	s.Table(rows)
	for i, kv := range r.Metadata {
		if i == 0 {
			s.Line("\nKey-value metadata:\n")
		}
		s.Line("  %s: %s", kv.Key, humanize.FirstCharacters(humanize.Line(kv.Value), 100))
	}
	return s
}

// A tableReport is the JSON object of inspect --json for a file of another format.
type tableReport struct {
	Kind string `json:"kind"` // "table"
	*dataset.TableInfo
}

func (r tableReport) sheet() *console.Sheet {
	s := new(console.Sheet)
	s.Line("%s: %s\n", r.Path, r.Format)
	pairs := []string{"rows", humanize.Count(r.Rows), "columns", humanize.Count(int64(len(r.Columns))), "size", humanize.Size(r.Bytes)}
	if r.Header != nil {
		pairs = append(pairs, "header", yesNo(*r.Header), "delimiter", r.Comma)
	}
	s.Pairs(pairs...)
	rows := [][]string{{"column", "type", "nulls", "feature"}}
	for _, c := range r.Columns {
		rows = append(rows, []string{c.Name, c.Type, humanize.Count(c.Nulls), yesNo(c.Feature)})
	}
	s.Line("")
	s.Table(rows)
	return s
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
