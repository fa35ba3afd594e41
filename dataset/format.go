package dataset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"halfspace/dataset/internal/column"
	ipcfile "halfspace/dataset/internal/ipc"
	"halfspace/dataset/internal/npy"
	parquetfile "halfspace/dataset/internal/parquet"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/source"
	textfile "halfspace/dataset/internal/text"
	"halfspace/internal/message"
)

// A format is a file format, by its name in messages.
type format string

const (
	formatParquet  format = "Parquet"
	formatCSV      format = "CSV"
	formatSvmlight format = "svmlight"
	formatArrow    format = "Arrow IPC"
	formatJSON     format = "JSON Lines"
	formatNumPy    format = "NumPy"
	formatCSR      format = "a sparse matrix of SciPy"
)

// FormatNames returns the formats that a training reads, in the order in which help and documents list them.
func FormatNames() []string {
	var names []string
	for _, f := range []format{formatParquet, formatCSV, formatJSON, formatSvmlight, formatArrow, formatNumPy} {
		names = append(names, string(f))
	}
	return names
}

// extensions maps the extensions of the formats, without the extensions of compressed files. The extension .txt isn't included: its content
// determines whether a file is CSV or svmlight.
var extensions = map[string]format{
	".parquet": formatParquet, ".csv": formatCSV, ".tsv": formatCSV,
	".svm": formatSvmlight, ".svmlight": formatSvmlight, ".libsvm": formatSvmlight,
	".jsonl": formatJSON, ".ndjson": formatJSON,
	".npy": formatNumPy, ".npz": formatCSR,
	".arrow": formatArrow, ".feather": formatArrow, ".ipc": formatArrow,
}

// ErrNoColumns is the error if svmlight files, which have no columns, are examined.
var ErrNoColumns = errors.New("svmlight has no columns")

// ErrNoWeights is the error if a column of weights is requested from svmlight files, which have none.
var ErrNoWeights = errors.New("svmlight files have no column of weights: convert them to another format, with such a column")

// open opens the files, and selects the columns that the Binder of req chooses. p is the plan or its draft.
func (t *Table) open(ctx context.Context, p *plan.Plan, req column.OpenOptions) (column.Input, error) {
	files, text := t.source.Files, t.textReader(p)
	switch t.format {
	case formatCSV:
		return textfile.OpenCSV(ctx, files, req, text, t.pool)
	case formatJSON:
		return textfile.OpenJSON(ctx, files, req, t.pool)
	case formatSvmlight:
		if p.Weight != "" {
			return nil, fmt.Errorf("%s: %w", files[0].Path, ErrNoWeights)
		}
		return textfile.OpenSvmlight(ctx, files, req, text, t.pool)
	case formatArrow:
		return ipcfile.Open(files, req)
	case formatNumPy:
		return npy.Open(files, req, t.beside(p))
	case formatCSR:
		return npy.OpenCSR(files, req, t.beside(p))
	}
	return parquetfile.Open(ctx, files, req, t.pool)
}

// DefaultLabelName and DefaultWeightName are the names of the columns in Options.Labels and Options.Weights unless Label or SampleWeight
// names them.
const (
	DefaultLabelName  = column.SvmlightLabel
	DefaultWeightName = "weight"
)

// IsArray returns true if the name of a file says that it has an array of NumPy or a matrix of SciPy.
func IsArray(path string) bool {
	f := extensions[source.Extension(path)]
	return f == formatNumPy || f == formatCSR
}

func (t *Table) beside(p *plan.Plan) npy.Beside {
	return npy.Beside{Labels: t.opt.Labels, Weights: t.opt.Weights, LabelName: cmp.Or(p.Label, DefaultLabelName),
		WeightName: cmp.Or(p.Weight, DefaultWeightName)}
}

// paired returns true if the rows of a format name the features that aren't 0.
func (f format) paired() bool { return f == formatSvmlight || f == formatCSR }

func (f format) isText() bool { return f == formatCSV || f == formatSvmlight || f == formatJSON }

// checkBeside returns an error if Labels or Weights is set for files that aren't arrays.
func (opt fileOptions) checkBeside(path string, f format) error {
	switch {
	case f == formatNumPy, f == formatCSR:
		return nil
	case opt.Labels != "":
		return message.Errorf("%s is %s, and --labels is a file beside arrays of NumPy: name the column with the "+
			"classes with --label", path, f)
	case opt.Weights != "":
		return message.Errorf("%s is %s, and --weights is a file beside arrays of NumPy: name the column of weights "+
			"with --sample-weight", path, f)
	}
	return nil
}

// mostNames is the largest number of a model's columns whose names tell the reader of text which line is the header.
const mostNames = 20

// textReader returns the options for the reader of text. p is the plan or its draft.
func (t *Table) textReader(p *plan.Plan) textfile.Options {
	text := t.opt.Text
	o := textfile.Options{Header: text.Header, Delimiter: text.Delimiter, IndexBase: text.IndexBase, Nulls: text.NullValues,
		SkipsBroken: t.opt.Rejects != nil, Heads: t.heads}
	for _, name := range []string{p.Label, p.Weight} {
		if name != "" {
			o.Names = append(o.Names, name)
		}
	}
	if p.Spec != nil {
		spec := *p.Spec
		spec.Features = spec.Features[:min(len(spec.Features), mostNames)] // Columns describes each feature
		columns := spec.Columns()
		for _, c := range columns[:min(len(columns), mostNames)] {
			o.Names = append(o.Names, c.Name)
		}
	}
	return o
}

// errEmpty is the kind of the error that a file has no byte.
var errEmpty = errors.New("empty")

// formatOf examines a file and returns its format.
func formatOf(ctx context.Context, file *source.File, opt Options) (f format, err error) {
	if f = extensions[source.Extension(file.Path)]; f == formatParquet || file.Part != nil {
		return formatParquet, nil
	}
	if err := file.Examine(ctx, opt.End, opt.Memory); err != nil {
		return "", err
	}
	if file.Stdin != nil {
		file.Stdin.Live = opt.Live
	}
	if f == "" && file.Stdin == nil && npy.IsArchive(file.Path, file.Info) {
		f = formatCSR
	}
	if f == "" {
		if f, err = sniff(file); err != nil {
			return "", err
		}
	}
	if f.isText() {
		err = checkText(file, f)
	}
	return f, err
}

func errStandardInput(f format) error {
	switch f {
	case formatParquet:
		return errors.New("-: a Parquet file can't come from standard input, since it is read from its end: " +
			"save it and name the file")
	case formatNumPy, formatCSR:
		return errors.New("-: an array of NumPy can't come from standard input, since workers read different rows of " +
			"it: save it and name the file")
	}
	return errors.New("-: standard input can't be read beside other files: save it and name the file")
}

// checkText returns an error if the name of a file says that it is text, but its content is Parquet or Arrow IPC. The
// reader of the file reports every other problem.
func checkText(s *source.File, says format) error {
	if s.Stdin != nil || !s.Info.Mode().IsRegular() {
		return nil
	}
	r, err := s.Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	head, is, extension := make([]byte, 8), formatParquet, ".parquet"
	n, _ := io.ReadFull(r, head)
	switch head = head[:n]; {
	case column.HasPrefix(head, "PAR1\x15"), column.HasPrefix(head, "PARE\x15"): // the last byte begins a page; no text has it
	case column.HasPrefix(head, ipcfile.ArrowMagic+"\x00"):
		is, extension = formatArrow, ".arrow"
	case column.HasPrefix(head, workbook):
		return source.Workbook(s.Path)
	default:
		return nil
	}
	advice := "rename it to"
	if r.Compression != "" {
		advice = "decompress it and rename it to"
	}
	return column.Mark(fmt.Errorf("%s: the name says %s, but the content is %s: %s *%s", s.Path, says, is, advice, extension), ErrFormat)
}

// sniff detects the format of a source by its first bytes.
func sniff(s *source.File) (format, error) {
	r, err := s.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	head, n := make([]byte, 64<<10), 0
	for err == nil && n < len(head) {
		var more int
		more, err = r.Read(head[n:])
		n += more
		if end := telling(head[:n]); s.Live() && end > 0 {
			n = end
			break
		}
	}
	if err != nil && err != io.EOF && !errors.Is(err, source.ErrCutShort) {
		return "", err
	}
	head = bytes.TrimPrefix(head[:n], textfile.ByteOrderMark)
	switch {
	case len(bytes.TrimSpace(head)) == 0:
		if s.Stdin != nil {
			return "", errors.New("-: standard input is empty: check the command before the pipe")
		}
		return "", column.Mark(fmt.Errorf("%s: the file is empty: write it again", s.Path), errEmpty)
	case r.Compression != "" && (column.HasPrefix(head, "PAR1") || column.HasPrefix(head, "PARE")):
		return "", column.Mark(fmt.Errorf("%s: a Parquet file inside %s data can't be read, since it is read from "+
			"its end: decompress it", s.Path, r.Compression), ErrFormat)
	case column.HasPrefix(head, "PAR1"), column.HasPrefix(head, "PARE"):
		return formatParquet, nil
	case column.HasPrefix(head, ipcfile.ArrowMagic), column.HasPrefix(head, ipcfile.ArrowContinuation), column.HasPrefix(head, "FEA1"):
		return formatArrow, nil
	case column.HasPrefix(head, npy.Magic):
		return formatNumPy, nil
	case column.HasPrefix(head, workbook):
		return "", source.Workbook(s.Path)
	case bytes.IndexByte(head, 0) >= 0 && !beginsAsText(head):
		return "", column.Mark(fmt.Errorf("%s: neither Parquet, Arrow IPC, CSV nor svmlight: convert it to one of them", s.Path), ErrFormat)
	case textfile.LooksSvmlight(head):
		return formatSvmlight, nil
	case textfile.LooksJSON(head):
		return formatJSON, isTable(s.Path, head)
	}
	return formatCSV, isDocument(s.Path, head)
}

// beginsAsText returns true if there is a line of text before the first NUL byte, which the reader of text then names.
func beginsAsText(head []byte) bool {
	text, _, _ := bytes.Cut(head, []byte{0})
	isControl := func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }
	return utf8.Valid(text) && bytes.IndexByte(text, '\n') > 0 && bytes.IndexFunc(text, isControl) < 0
}

// workbook begins the files of old versions of Excel.
const workbook = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// telling returns the number of bytes at a file's beginning that determine its format, or 0 if more bytes are
// necessary. In text, these are the bytes up to the first line with two words or a delimiter, or up to the second
// line.
func telling(head []byte) int {
	if len(head) >= 4 && bytes.IndexByte(head, 0) >= 0 || column.HasPrefix(head, "PAR1") || column.HasPrefix(head, ipcfile.ArrowMagic) {
		return len(head)
	}
	end, lines := 0, 0
	for line := range bytes.Lines(head) {
		if end += len(line); line[len(line)-1] != '\n' {
			break
		}
		line, _, _ = bytes.Cut(line, []byte{'#'})
		words := bytes.Fields(line)
		if len(words) > 0 {
			lines++
		}
		if lines == 2 || len(words) > 1 || len(words) == 1 && bytes.ContainsAny(words[0], ",;|\"") {
			return end
		}
	}
	return 0
}

// DefaultLabel returns the name of the label column if the format of all files is svmlight, which fixes the name;
// otherwise it returns "". Standard input counts as svmlight, because it can't be examined before it is read.
func DefaultLabel(ctx context.Context, paths []string) string {
	paths, err := Expand(ctx, paths, nil)
	if err != nil {
		return ""
	}
	label := ""
	for _, path := range paths {
		f := extensions[source.Extension(path)]
		if path == "-" {
			f = formatSvmlight
		}
		if f == "" {
			s, err := source.NewFile(ctx, path, nil, 0)
			if err == nil {
				f, err = sniff(s) // if that fails, reading fails too
			}
			if errors.Is(err, errEmpty) {
				continue
			}
		}
		if f != formatSvmlight {
			return ""
		}
		label = column.SvmlightLabel
	}
	return label
}
