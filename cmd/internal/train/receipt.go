package train

import (
	"context"
	"crypto/sha256"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/files"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/kernel"
)

// unrecordedOptions are the options of train that a receipt leaves out: the files of results, and options that change no
// result.
var unrecordedOptions = []string{"out", "receipt", "report", "trace", "trace-every", "reference", "json", "help", "storage",
	"workers", "isa", "progress", "quiet", "memory", "cache", "checkpoint", "checkpoint-every", "resume"}

// typedOptions returns the options that the user gave, for a receipt.
func typedOptions(cmd *cobra.Command) []model.TypedOption {
	all := []model.TypedOption{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(unrecordedOptions, f.Name) {
			return
		}
		all = append(all, model.TypedOption{Option: f.Name, Values: flags.Values(f)})
	})
	return all
}

// setFlag sets an option of a command as if the user had typed it.
func setFlag(cmd *cobra.Command, option string, values []string) error {
	f := cmd.Flags().Lookup(option)
	if list, ok := f.Value.(pflag.SliceValue); ok {
		if err := list.Replace(values); err != nil {
			return message.Errorf("--%s: %w", option, err)
		}
		f.Changed = true
		return nil
	}
	for _, v := range values {
		if err := cmd.Flags().Set(option, v); err != nil {
			return err
		}
	}
	return nil
}

// setFlags sets options of a command as if the user had typed them.
func setFlags(cmd *cobra.Command, options ...model.TypedOption) error {
	for _, o := range options {
		if o.Option == "dtype" && slices.Equal(o.Values, []string{model.Float32}) { // earlier versions wrote this option
			continue
		}
		if cmd.Flags().Lookup(o.Option) == nil || slices.Contains(unrecordedOptions, o.Option) {
			return message.Errorf("it has the option --%s, which this version of train doesn't have: use the version "+
				"that wrote it", o.Option)
		}
		if err := setFlag(cmd, o.Option, o.Values); err != nil {
			return err
		}
	}
	return nil
}

// checkReceipt returns an error if --receipt can't be used. others are the files that the training uses otherwise.
func (o *trainOptions) checkReceipt(a *console.App, others []string) error {
	switch {
	case o.receipt == "":
		return nil
	case o.out == "":
		return console.Usagef("--receipt without --out: name a file for the model with --out")
	case console.ToStdout(o.receipt):
		return console.Usagef("--receipt is %s: name a file", o.receipt)
	case sameFile(o.receipt, o.out):
		return console.Usagef("--receipt and --out are %s: name another file", o.out)
	}
	for _, other := range others {
		if other != "" && sameFile(o.receipt, other) {
			return console.Usagef("--receipt is %s, which the training uses: name another file", o.receipt)
		}
	}
	return console.Claim(a, o.receipt, others)
}

// sameFile tells whether two paths are equal as absolute paths. The files need not exist.
func sameFile(a, b string) bool {
	x, err := filepath.Abs(a)
	y, fail := filepath.Abs(b)
	return err == nil && fail == nil && x == y
}

func (t *trainer) saveReceipt(ctx context.Context, r *model.Receipt, paths []string) (err error) {
	if r.Files, err = t.sumFiles(ctx, paths); err != nil {
		return message.Errorf("--receipt: %w", err)
	}
	typed := t.typed
	if len(t.lakeVersions) > 0 && !strings.Contains(t.lakeVersions, ",") && t.Data.Version == "" { // verify reads it again
		typed = append(slices.Clone(typed), model.TypedOption{Option: "version", Values: []string{t.lakeVersions}})
	}
	r.Options, r.Machine = typed, model.Machine{Program: console.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: kernel.DetectedCPU().Brand,
		ISA: kernel.Active().String(), Workers: t.Workers, IsStreamed: !t.inMemory(), Seconds: t.seconds.Train}
	return r.Save(t.receipt)
}

// sumFiles returns the checksums of files, of --labels and --weights, and of the model of --init. It leaves out
// standard input and files that aren't regular.
func (t *trainer) sumFiles(ctx context.Context, paths []string) ([]model.FileSum, error) {
	var all []model.FileSum
	paths, err := dataset.FilesOf(ctx, t.Data.With(paths))
	if err != nil {
		return nil, err
	}
	if t.init != "" {
		paths = append(slices.Clone(paths), t.init)
	}
	for _, path := range paths {
		info, err := files.Stat(path)
		if path == "-" || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, console.OpenError(path, err)
		}
		sum, err := sumFile(ctx, path)
		if err != nil {
			return nil, console.OpenError(path, err)
		}
		all = append(all, sum)
		t.bar.Show(console.Step{Name: "hashing the files", Done: int64(len(all)), Total: int64(len(paths))})
	}
	t.bar.End()
	return all, nil
}

func sumFile(ctx context.Context, path string) (sum model.FileSum, err error) {
	f, err := files.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	sum.Name = path
	sum.Bytes, err = io.Copy(h, contextReader{ctx, f})
	h.Sum(sum.SHA256[:0])
	return sum, err
}

// A contextReader is a reader that fails once ctx ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (u contextReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
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

// comparedBefore compares the files with the files of the receipt. If some differ, it compares the rows. others is true
// if the rows differ from the rows of the receipt and of the model: then no training on them gives the model.
func (r *repetition) comparedBefore(ctx context.Context, paths, validation []string) (others bool, err error) {
	now, err := r.sumFiles(ctx, slices.Concat(paths, validation))
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
