package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/kernel"
)

type verifyOptions struct {
	flags.Options // options on text files and on the machine; the training uses them unchanged

	model, receipt   string
	validation, init string // files of the training, if they are elsewhere now
	json             bool
}

func Verify(a *console.App) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:         "verify --model m.json --receipt receipt.json DATA... [options]",
		Annotations: console.ReadsData,
		Short:       "Train again, and tell whether the same model comes out",
		Long: `Verify trains again on DATA with the options of a receipt, which train --receipt
wrote with the model. It tells whether the same bytes come out. They do on every
CPU, with any number of workers, in memory or streamed, if DATA has the same rows.

If a file differs from that of the receipt, verify compares the rows first. If
they are others, it tells in which chunks of 4,096 rows, and doesn't train. If only
the weights differ, it tells from which epoch on. Verify reads the files that the
receipt names for --validation, --init, --labels and --weights, unless you name
others.

A model of a training that was interrupted can't be verified.

The exit status is 0 if the model is verified, and 1 if it is not.`,
		Example: `  halfspace train train.parquet --label y --out m.json --receipt receipt.json
  halfspace verify --model m.json --receipt receipt.json train.parquet`,
	}
	f := cmd.Flags()
	f.StringVar(&o.model, "model", "", "`FILE` The model to verify. (required)")
	f.StringVar(&o.receipt, "receipt", "", "`FILE` What train --receipt wrote with the model. (required)")
	f.StringVar(&o.validation, "validation", "", "`FILE` The hold-out rows of the training, where it had a file of them.")
	f.StringVar(&o.init, "init", "", "`FILE` The model that the training began with, where it had one.")
	o.Data.AddLabels(cmd)
	o.Data.AddWeights(cmd)
	f.BoolVar(&o.json, "json", false, "Print the report as one JSON object.")
	o.Data.AddText(cmd)
	o.AddMachine(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.model == "" {
			return console.Usagef("--model is missing: name the model to verify")
		}
		if o.receipt == "" {
			return console.Usagef("--receipt is missing: name the file that train --receipt wrote with %s; without "+
				"one, train again with --receipt", o.model)
		}
		return o.run(cmd, a, args)
	}
	return cmd
}

func (o *verifyOptions) run(cmd *cobra.Command, a *console.App, args []string) error {
	start, ctx := time.Now(), cmd.Context()
	m, err := console.LoadModel(ctx, o.model, o.Storage.Memory.Bytes)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(o.model)
	if err != nil {
		return console.OpenError(o.model, err)
	}
	r := &repetition{trainer: &trainer{App: a.HushedApp(), trainOptions: new(trainOptions)}, m: m, v: &Verdict{Model: o.model}}
	if r.receipt, err = loadReceipt(o.receipt, o.model, model.SumBytes(data), m); err != nil {
		return err
	}
	again, err := o.training(cmd, r)
	if err != nil {
		return err
	}
	paths, validation, err := r.prepare(r.App, again, args)
	if err != nil {
		return err
	}
	r.bar = a.NewProgress(r.Progress)
	defer r.bar.End()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	if err := r.repeat(ctx, paths, validation); err != nil {
		return err
	}
	r.v.ISA, r.v.Workers, r.v.Seconds = kernel.Active().String(), r.Workers, time.Since(start).Seconds()
	err = a.Report(o.json, r.v, func() *console.Sheet { return r.v.sheet(m) })
	if err == nil && !r.v.IsVerified {
		err = fmt.Errorf("%s: not verified", o.model)
	}
	return err
}

// loadReceipt reads the receipt at path, and checks that it belongs to the model m. of is the model's file, and sum the
// checksum of the file.
func loadReceipt(path, of string, sum model.Sum, m *model.Model) (*model.Receipt, error) {
	r, err := model.LoadReceipt(path)
	switch {
	case err != nil:
		return nil, err
	case r.Model != sum:
		return nil, fmt.Errorf("%s: it is the receipt of another model than %s: name the one that was written with it", path, of)
	case r.Rows.ChunkRows != block.ChunkRows:
		return nil, fmt.Errorf("%s: its chunks have %d rows, and the chunks of this program %d: use the version "+
			"that wrote it", path, r.Rows.ChunkRows, int64(block.ChunkRows))
	}
	for _, c := range r.Epochs {
		if c.Class >= max(1, len(m.Classes)) {
			return nil, fmt.Errorf("%s: it has weights of class number %d, and the model has %d classes: restore it",
				path, c.Class, len(m.Classes))
		}
	}
	return r, nil
}

func (o *verifyOptions) training(cmd *cobra.Command, r *repetition) (again *cobra.Command, err error) {
	again = &cobra.Command{Use: "train"}
	again.SetContext(cmd.Context())
	r.addFlags(again)
	if err := setFlags(again, r.receipt.Options...); err != nil {
		return nil, fmt.Errorf("%s: %w", o.receipt, err)
	}
	if f := again.Flags().Lookup("rejects"); f.Changed { // the file of the training stays
		err = setFlag(again, "rejects", []string{os.DevNull})
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if again.Flags().Lookup(f.Name) != nil && f.Name != "receipt" && f.Name != "json" {
			err = errors.Join(err, setFlag(again, f.Name, flags.Values(f)))
		}
	})
	return again, err
}

// RowRange is a range of the training rows, or of the validation rows: First to Last, both included.
type RowRange struct {
	First      int64 `json:"first"`
	Last       int64 `json:"last"`
	Validation bool  `json:"validation,omitempty"`
}

// ClassEpoch is the first epoch of a training after which the weights differ. Class is as in model.ClassSums.
type ClassEpoch struct {
	Class int `json:"class"`
	Epoch int `json:"epoch"`
}

// A repetition repeats the training of a model, and compares.
type repetition struct {
	*trainer
	m           *model.Model
	receipt     *model.Receipt
	hasCompared bool // the rows were compared with the receipt, or can't be
	v           *Verdict
}

// repeat trains again, and compares. If the receipt shows that the rows differ, it doesn't train.
func (r *repetition) repeat(ctx context.Context, paths, validation []string) error {
	if others, err := r.comparedBefore(ctx, paths, validation); err != nil || others {
		return err
	}
	defer r.closeData()
	if err := r.open(ctx, paths, validation); err != nil {
		return err
	}
	sums := new(model.Receipt)
	fitted, err := r.learn(ctx, sums)
	if err != nil {
		return err
	}
	r.v.HasTrained, r.v.Rows, r.v.IsVerified = true, fitted.Model.Training.Rows, sums.Model == r.receipt.Model
	if r.v.DifferingKeys, err = differingKeys(r.m, fitted.Model); err != nil {
		return err
	}
	r.v.Epochs = differingEpochs(r.receipt.Epochs, sums.Epochs)
	if r.v.IsVerified { // then the features are the same too
		r.v.Chunks, r.v.UnreadReason = differingChunks(r.receipt, sums), ""
		r.v.IsVerified = len(r.v.Chunks)+len(r.v.Epochs) == 0
		r.v.HasOtherSums = !r.v.IsVerified
		return nil
	}
	if !r.hasCompared {
		r.closeData()
		_, err = r.compare(ctx, paths, validation)
	}
	return err
}

// comparedBefore compares the files with the files of the receipt. If some differ, it compares the rows. others is true
// if the rows differ from the rows of the receipt and of the model: then no training on them gives the model.
func (r *repetition) comparedBefore(ctx context.Context, paths, validation []string) (others bool, err error) {
	summed, err := r.summedFiles(ctx, slices.Concat(paths, validation))
	if err != nil {
		return false, err
	}
	now, err := r.sumFiles(ctx, summed)
	if err != nil {
		return false, err
	}
	r.v.Files, r.v.AbsentFiles = differingFiles(r.receipt, now)
	if slices.EqualFunc(now, r.receipt.Files, func(a, b model.FileSum) bool { return a.SHA256 == b.SHA256 }) {
		return false, nil
	}
	return r.compare(ctx, paths, validation)
}

// compare calls compareRows. If the rows can't be read, it records the reason instead of returning an error.
func (r *repetition) compare(ctx context.Context, paths, validation []string) (others bool, err error) {
	r.hasCompared = true
	if slices.Contains(paths, "-") {
		r.v.UnreadReason = "standard input can't be read twice: name a file"
		return false, nil
	}
	others, err = r.compareRows(ctx, paths, validation)
	if err != nil && ctx.Err() == nil {
		r.v.UnreadReason, err = err.Error(), nil
	}
	return others, err
}

// compareRows reads the rows with the features of the model, and compares their sums with the sums in the receipt.
// others is true if the sums differ and the fingerprint isn't the model's fingerprint either.
func (r *repetition) compareRows(ctx context.Context, paths, validation []string) (others bool, err error) {
	opt := *r.trainOptions
	opt.Follow(r.m.Spec())
	opt.LearnFrom = nil
	look := &trainer{App: r.App, trainOptions: &opt, bar: r.bar}
	defer look.closeData()
	if err := look.open(ctx, paths, validation); err != nil {
		return false, err
	}
	var now model.Receipt
	if now.Rows, err = train.SumRows(ctx, look.data.Source, r.Workers); err != nil {
		return false, err
	}
	if held := look.validation.Source; held != nil {
		sums, err := train.SumRows(ctx, held, r.Workers)
		if err != nil {
			return false, err
		}
		now.Validation = &sums
	}
	if r.v.Chunks = differingChunks(r.receipt, &now); len(r.v.Chunks) == 0 {
		return false, nil
	}
	r.v.Rows = look.data.Source.Rows()
	fingerprint, err := block.Fingerprint(ctx, look.data.Source, r.Workers)
	return fingerprint != r.m.Data.Fingerprint, err
}

// differingFiles compares files by their checksum. differ names the files of now that the receipt lacks, and absent the
// files of the receipt that now lacks. A file of the receipt isn't absent if a differing file has the same name. A
// receipt has no entry for standard input.
func differingFiles(r *model.Receipt, now []model.FileSum) (differ, absent []string) {
	if len(r.Files) == 0 {
		return nil, nil
	}
	for _, f := range now {
		if !slices.ContainsFunc(r.Files, func(of model.FileSum) bool { return of.SHA256 == f.SHA256 }) {
			differ = append(differ, f.Name)
		}
	}
	for _, f := range r.Files {
		if !slices.ContainsFunc(now, func(is model.FileSum) bool {
			return is.SHA256 == f.SHA256 || slices.Contains(differ, is.Name) && filepath.Base(is.Name) == filepath.Base(f.Name)
		}) {
			absent = append(absent, f.Name)
		}
	}
	return differ, absent
}

// differingChunks returns the ranges of rows whose sums differ.
func differingChunks(a, b *model.Receipt) []RowRange {
	ranges := rowRanges(a.Rows, b.Rows, false)
	if a.Validation != nil && b.Validation != nil {
		ranges = append(ranges, rowRanges(*a.Validation, *b.Validation, true)...)
	}
	return ranges
}

// rowRanges returns the rows of the chunks that differ. It joins adjacent chunks to one range.
func rowRanges(a, b model.RowSums, validation bool) (all []RowRange) {
	rows := max(a.Rows, b.Rows)
	for i := range max(len(a.Chunks), len(b.Chunks)) {
		if i < len(a.Chunks) && i < len(b.Chunks) && a.Chunks[i] == b.Chunks[i] {
			continue
		}
		first := int64(i) * a.ChunkRows
		last := min(first+a.ChunkRows, rows) - 1
		if n := len(all); n > 0 && all[n-1].Last == first-1 {
			all[n-1].Last = last
			continue
		}
		all = append(all, RowRange{first, last, validation})
	}
	return all
}

// differingEpochs returns, for each class, the first epoch (from 1) whose weights differ.
func differingEpochs(a, b []model.ClassSums) (all []ClassEpoch) {
	for i := range max(len(a), len(b)) {
		var x, y model.ClassSums
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		same := 0
		for same < min(len(x.Weights), len(y.Weights)) && x.Weights[same] == y.Weights[same] {
			same++
		}
		if same < max(len(x.Weights), len(y.Weights)) {
			all = append(all, ClassEpoch{max(x.Class, y.Class), same + 1})
		}
	}
	return all
}

// differingKeys returns the keys that differ in the files of two models, in alphabetical order.
func differingKeys(a, b *model.Model) ([]string, error) {
	var keys [2]map[string]json.RawMessage
	for i, m := range []*model.Model{a, b} {
		var text strings.Builder
		if _, err := m.WriteTo(&text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text.String()), &keys[i]); err != nil {
			return nil, err
		}
		delete(keys[i], "checksum")
	}
	var differ []string
	both := maps.Clone(keys[0])
	maps.Copy(both, keys[1])
	for _, key := range slices.Sorted(maps.Keys(both)) {
		if string(keys[0][key]) != string(keys[1][key]) {
			differ = append(differ, key)
		}
	}
	return differ, nil
}

// A Verdict is the JSON object of verify --json.
type Verdict struct {
	IsVerified    bool     `json:"verified"`
	HasTrained    bool     `json:"trained"` // trained again; false if the rows differ from the rows of the receipt
	Model         string   `json:"model"`
	Rows          int64    `json:"rows"`
	DifferingKeys []string `json:"differ,omitempty"` // keys of the model's file

	Chunks       []RowRange   `json:"differing_chunks,omitempty"` // ranges of rows that differ
	Epochs       []ClassEpoch `json:"differing_epochs,omitempty"`
	Files        []string     `json:"differing_files,omitempty"`
	AbsentFiles  []string     `json:"missing_files,omitempty"` // files of the receipt that the user didn't give
	HasOtherSums bool         `json:"other_sums,omitempty"`    // the model is the same, but the receipt has other sums of rows or weights
	UnreadReason string       `json:"unread,omitempty"`        // the reason why the rows couldn't be compared with the receipt

	ISA     string  `json:"isa"`
	Workers int     `json:"workers"`
	Seconds float64 `json:"seconds"`
}

func (v *Verdict) sheet(m *model.Model) *console.Sheet {
	s := new(console.Sheet)
	var pairs []string
	add := func(name, format string, args ...any) { pairs = append(pairs, name, fmt.Sprintf(format, args...)) }
	switch {
	case v.IsVerified:
		s.Line("%s: verified: the training gives the same bytes again", v.Model)
	case !v.HasTrained:
		s.Line("%s: not verified: the rows are others, so the training was not repeated", v.Model)
	case v.HasOtherSums:
		s.Line("%s: not verified: the training gives the same bytes again, but the receipt has other sums", v.Model)
	default:
		s.Line("%s: not verified: the training gives another model", v.Model)
		if len(v.DifferingKeys) == 0 {
			v.DifferingKeys = []string{"the layout of the file, or keys that no model has"}
		}
		add("differs", "%s", strings.Join(v.DifferingKeys, ", "))
		if slices.Contains(v.DifferingKeys, "features") {
			add("features", "other columns than the model's, or another order")
		}
	}
	switch {
	case len(v.Chunks) > 0:
		add("rows", "other rows than those of the receipt: %s", v.ranges())
	case v.UnreadReason != "":
		add("rows", "not compared: %s", v.UnreadReason)
	case slices.Contains(v.DifferingKeys, "data") || slices.Contains(v.DifferingKeys, "features"):
		add("rows", "the same in the features of the model; the data has others, or in another order")
	default:
		add("rows", "%s, the same", humanize.Count(v.Rows))
	}
	for _, e := range v.Epochs {
		class := ""
		if len(m.Classes) > 2 && e.Class < len(m.Classes) {
			class = " of class " + m.Classes[e.Class].Text
		}
		add("weights", "other weights%s from epoch %s on", class, humanize.Count(int64(e.Epoch)))
	}
	for _, f := range v.Files {
		what := "its bytes differ from those of the receipt"
		if v.IsVerified {
			what += ", its rows don't"
		}
		add("file", "%s: %s", f, what)
	}
	for i, f := range v.AbsentFiles {
		if i == mostRanges {
			add("file", "and %d more of the receipt", len(v.AbsentFiles)-i)
			break
		}
		add("file", "%s: the receipt has it, and no file with its bytes was named", f)
	}
	add("ran on", "%s, %s, %s", v.ISA, humanize.Plural(int64(v.Workers), "worker"), humanize.Seconds(v.Seconds))
	s.Pairs(pairs...)
	return s
}

// mostRanges is the largest number of row ranges, and of missing files, that the text names.
const mostRanges = 10

func (v *Verdict) ranges() string {
	var all []string
	for i, r := range v.Chunks {
		if i == mostRanges {
			all = append(all, fmt.Sprintf("and %d more", len(v.Chunks)-i))
			break
		}
		text := fmt.Sprintf("%s to %s", humanize.Count(r.First), humanize.Count(r.Last))
		if r.Validation {
			text += " of the validation"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}
