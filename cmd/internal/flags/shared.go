package flags

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/message"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// A Machine holds the options that change no result: workers, instruction set and progress.
type Machine struct {
	Workers  int
	isa      string
	Progress string
}

func (m *Machine) AddTo(cmd *cobra.Command) {
	cmd.Flags().IntVar(&m.Workers, "workers", 0, "`NUMBER` Most threads to use. (default one for each core)")
	cmd.Flags().StringVar(&m.isa, "isa", "", "`"+strings.Join(LevelNames(), "|")+
		"` Instruction set to compute with. It doesn't change the result. (default the fastest)")
	completeWords(cmd, "isa", LevelNames())
	AddProgress(cmd, &m.Progress)
}

func AddProgress(cmd *cobra.Command, when *string) {
	AddChoice(cmd, when, "progress", "`auto|always|never` When to show progress: a line on a terminal, lines of text "+
		"elsewhere. auto shows it on a terminal.", "auto", "always", "never")
}

// Apply checks the options, and makes the kernels use the instruction set of --isa.
func (m *Machine) Apply() error {
	if err := CheckWorkers(m.Workers); err != nil {
		return err
	}
	m.Workers = parallel.Workers(m.Workers)
	return UseISA(m.isa)
}

// CheckWorkers returns an error if n is no value of --workers.
func CheckWorkers(n int) error {
	if n < 0 {
		return console.Usagef("--workers is %d: use 1 or more, or 0 for one for each core", n)
	}
	return nil
}

// UseISA makes the kernels use the named instruction set. If name is empty, it takes the name in the environment
// variable. Package kernel ignores a wrong name in the environment; UseISA returns an error.
func UseISA(name string) error {
	source := message.Option("isa")
	if name == "" {
		name, source = os.Getenv(ISAVariable), ISAVariable
	}
	if name == "" {
		return nil
	}
	level, err := kernel.ParseLevel(name)
	if err != nil {
		return console.Usagef("%s: %w", source, err)
	}
	kernel.Use(level)
	return nil
}

// ISAVariable is the environment variable that names an instruction set.
const ISAVariable = "HALFSPACE_ISA"

// LevelNames lists the instruction sets of this CPU.
func LevelNames() []string {
	var names []string
	for _, l := range kernel.Levels() {
		names = append(names, l.String())
	}
	return names
}

// Data holds the options that say which rows to read.
type Data struct {
	dataset.Options
	rejects string
}

// AddText adds the flags for CSV and svmlight files.
func (d *Data) AddText(cmd *cobra.Command) {
	AddChoice(cmd, &d.Text.Header, "header",
		"`auto|yes|no` Whether the first line of a CSV file names the columns. auto detects it.", "auto", "yes", "no")
	cmd.Flags().StringVar(&d.Text.Delimiter, "delimiter", "",
		"`CHARACTER` Character between the fields of a CSV file. Also comma, tab, semicolon, pipe, or "+
			"space for any number of blanks. (default: detected)")
	cmd.Flags().StringSliceVar(&d.Text.NullValues, "null-values", nil,
		"`TEXT,...` Texts and numbers that mean a missing value in CSV and JSON Lines files. An empty field always does, and "+
			"so does - in a column of numbers. (default those of the model, or NA,N/A,NaN,null,None,\\N,?)")
	AddChoice(cmd, &d.Text.IndexBase, "index-base",
		"`auto|0|1` Index of the first feature in svmlight files. auto is 0 if the index 0 appears, else 1.",
		"auto", "0", "1")
}

func (d *Data) AddWeights(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.Weights, "weights", "", "`FILE` .npy file with the sample weights of the rows of .npy or .npz files.")
}

func (d *Data) AddLabels(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.Labels, "labels", "", "`FILE` .npy file with the classes of the rows of .npy or .npz files.")
}

// NameArrays names the columns of the files with labels and weights of arrays, unless the user gave the names.
func NameArrays(opt *dataset.Options) {
	if opt.Labels != "" {
		opt.Label = cmp.Or(opt.Label, dataset.DefaultLabelName)
	}
	if opt.Weights != "" {
		opt.SampleWeight = cmp.Or(opt.SampleWeight, dataset.DefaultWeightName)
	}
}

// AddRows adds the flags that choose rows.
func (d *Data) AddRows(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.Where, "where", "", "`CONDITION` Take only the rows for which this is true, as in SQL: \"amount < "+
		"1000 and day >= '2026-01-01'\". It knows and, or, not, in, between, like and is null.")
	f.Float64Var(&d.Sample, "sample", 0, "`SHARE` Take only this share of the rows, such as 0.01: always the same "+
		"rows, which a hash of their numbers chooses.")
	f.Int64Var(&d.Limit, "limit", 0, "`NUMBER` Most rows to take: the first that --where and --sample choose.")
	f.StringVar(&d.Version, "version", "", "`NUMBER` Read this version of a Delta table, or the metadata with this number of an Iceberg "+
		"table. (default the newest)")
	f.BoolVar(&d.Raw, "raw", false, "Read the files in the folder of a lake table as they are, without its log: with removed rows, "+
		"and with columns as the files name them.")
	f.StringVar(&d.rejects, "rejects", "", "`FILE.csv` Leave out the lines of text files that can't be read: with a "+
		"wrong number of fields, a text among numbers (without --rejects: a missing value, or the column becomes text), "+
		"broken quotes or JSON. Write them to this file, with the reasons.")
}

// Claim returns an error if the file of --rejects can't be written. inputs are the files that the command reads.
func (d *Data) Claim(a *console.App, inputs []string) error {
	switch {
	case d.rejects == "":
		return nil
	case console.ToStdout(d.rejects):
		return console.Usagef("--rejects is %s: name a file", d.rejects)
	case a.Engine != nil:
		return console.Usagef("--rejects with several computers: write the good lines to another file first, with "+
			"halfspace convert --rejects %s", console.Quote(d.rejects))
	}
	return console.Claim(a, d.rejects, inputs)
}

// Check returns an error if an option can't be used. It makes the rejects of all files of the command.
func (d *Data) Check() error {
	if d.rejects != "" && d.Rejects == nil {
		d.Rejects = dataset.NewRejects(d.rejects)
	}
	return console.Usage(d.Options.Check())
}

// A Scan holds the options of verbs that read the rows once, block by block: how to read text files, the memory, and the
// machine.
type Scan struct {
	Machine
	Data   Data
	Memory Size
}

func (s *Scan) AddTo(cmd *cobra.Command) {
	s.Data.AddRows(cmd)
	s.Data.AddText(cmd)
	s.Memory.AddTo(cmd)
	s.Machine.AddTo(cmd)
}

// Check returns an error if an option can't be used, and makes the kernels use the instruction set of --isa.
func (s *Scan) Check() error { return cmp.Or(s.Data.Check(), s.Machine.Apply()) }

// Options sets the memory limit of the garbage collector. It returns the options for package dataset, and a function that
// restores the limit from before.
func (s *Scan) Options(a *console.App) (opt dataset.Options, undo func()) {
	memory, undo := s.Memory.Hold()
	opt = s.Data.Options
	opt.Workers, opt.Storage, opt.Memory, opt.Warn = s.Workers, dataset.Auto, memory, a.Warn
	return opt, undo
}

// NeedsOne returns a function that checks that a verb has one argument. The error has the number of arguments, then
// advice, such as "models: name one".
func NeedsOne(advice string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return console.Usagef("%d %s", len(args), advice)
		}
		return nil
	}
}

// A RowsFile holds the options of verbs that write rows: --out, --json, and the form of a .parquet file.
type RowsFile struct {
	Out         string
	JSON        bool
	Compression string
	GroupRows   int64
}

// AddGroups adds --compression and --row-group-rows. Many columns make row groups smaller; the help calls them wide.
func (w *RowsFile) AddGroups(cmd *cobra.Command, wide string) {
	AddChoice(cmd, &w.Compression, "compression", "`snappy|none|zstd|gzip` Compression of a .parquet file.", "snappy",
		"none", "zstd", "gzip")
	cmd.Flags().Int64Var(&w.GroupRows, "row-group-rows", 0,
		"`NUMBER` Most rows in a row group of a .parquet file. A row group also ends at 64 MiB of values. "+
			"(default 131,072, or fewer with many "+wide+")")
}

func (w *RowsFile) AddOut(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.Out, "out", "", "`FILE` File to write: .parquet, .csv, .jsonl, .arrow, .npy or .svm, or "+
		"- for CSV on standard output. (required)")
}

func (w *RowsFile) AddJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.JSON, "json", false, "Print a report as one JSON object.")
}

func (w *RowsFile) Check() error {
	switch {
	case w.Out == "":
		return console.Usagef("--out is missing: name the file to write, or - for CSV on standard output")
	case w.JSON && console.ToStdout(w.Out):
		return console.Usagef("--json and --out %s both write to standard output: choose one", w.Out)
	case w.GroupRows < 0:
		return console.Usagef("--row-group-rows is %d: use 1 or more, or 0 for the default", w.GroupRows)
	}
	return nil
}

// Report prints the report of a verb that wrote rows: v as JSON with --json, otherwise a line. If the rows went to standard
// output, Report prints nothing.
func (w *RowsFile) Report(a *console.App, v any, format string, args ...any) error {
	switch {
	case w.JSON:
		return a.PrintJSON(v)
	case console.ToStdout(w.Out):
		return nil
	}
	return a.PrintLine(format, args...)
}

// A LearnerOption is an option of one or more learners, as the first of them has it.
type LearnerOption struct {
	*learner.Option
	Learner *learner.Learner // the first learner that has the option
	Users   []*learner.Learner
	Words   []string // the words that the option takes with any learner
	Help    string   // with the descriptions of learners that describe the option differently
}

// LearnerOptions lists the options of learners, each name once.
func LearnerOptions(learners []*learner.Learner) (all []*LearnerOption) {
	for _, l := range learners {
		for i := range l.Options {
			o := &l.Options[i]
			at := slices.IndexFunc(all, func(other *LearnerOption) bool { return other.Name == o.Name })
			if at < 0 {
				at, all = len(all), append(all, &LearnerOption{Option: o, Learner: l, Help: o.Help})
			}
			of := all[at]
			of.Users = append(of.Users, l)
			for _, w := range o.Words {
				if !slices.Contains(of.Words, w) {
					of.Words = append(of.Words, w)
				}
			}
			if more := strings.TrimPrefix(o.Help, of.Option.Help); !strings.HasPrefix(of.Option.Help, more) {
				of.Help += " For " + l.Name + ": " + strings.TrimSpace(more)
			}
		}
	}
	return all
}

// Placeholder returns the start of a flag's usage, which names the flag's value: words, or name if there are no words.
func Placeholder(name string, words []string) string {
	if len(words) > 0 {
		name = strings.Join(words, "|")
	}
	return "`" + name + "` "
}
