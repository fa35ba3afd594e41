package model

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
)

// The errors that Read and Load return; test for them with errors.Is. For a file that can't be opened, Load returns an
// error of package os.
var (
	ErrNoModel = errors.New("not a halfspace model")                 // the file isn't a model
	ErrVersion = errors.New("another version of the model's format") // the file is of another version of the program
	ErrDamaged = errors.New("damaged halfspace model")               // the file was cut or changed, or has impossible values
	ErrMemory  = errors.New("too little memory")                     // the model takes more memory than allowed
)

// MaxFileBytes bounds the bytes of a model file: room for millions of features.
const MaxFileBytes = 256 << 20

// saved returns the model in the form of its file, or an error if it can't be written.
func (m *Model) saved() (*Model, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if len(m.Classes) > 2 && m.Options.Multiclass == "" {
		return nil, fmt.Errorf("Options.Multiclass is empty, so that nobody knows what scores of %d classes mean: "+
			"set it to model.Joint where one training learned the vectors of all classes together, else to "+
			"model.OneVersusRest", len(m.Classes))
	}
	c := *m.Compact()
	c.Preprocessing = m.savedPreprocessing()
	if c.Features == nil {
		c.Features = []string{} // null in the file would count as damage
	}
	return &c, nil
}

var errTooLarge = fmt.Errorf("it takes more than %d MiB", MaxFileBytes>>20)

// write writes the model's file and returns its sum.
func (m *Model) write(w io.Writer) (Sum, error) {
	c, err := m.saved()
	if err != nil {
		return Sum{}, err
	}
	sum, err := writeWithChecksum(w, c)
	if err == errTooLarge {
		err = fmt.Errorf("a model of %d features makes a file of more than %d MiB: train on fewer features",
			m.Width(), MaxFileBytes>>20)
	}
	return sum, err
}

// WriteTo writes the model's file to w.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	counted := counter{w: w}
	_, err := m.write(&counted)
	return counted.n, err
}

// A counter counts the bytes written to w.
type counter struct {
	w io.Writer
	n int64
}

// Write writes p.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Sum returns the SHA-256 of the model's file.
func (m *Model) Sum() (Sum, error) { return m.write(io.Discard) }

// Save writes the model's file. It replaces an existing file in one step, or leaves it unchanged.
func (m *Model) Save(path string) error { return m.SaveContext(context.Background(), path) }

// SaveContext is Save with a context. If path is a pipe, the end of ctx ends the write, and a model that is too large
// writes nothing. A regular file is written even if ctx has ended.
func (m *Model) SaveContext(ctx context.Context, path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if _, err := m.Sum(); err != nil { // a pipe would get a part of the file
			return fmt.Errorf("%s: the model can't be written: %w", path, err)
		}
	}
	return save(ctx, path, "model", m.write)
}

// save writes a file by write. kind names the file in errors.
func save(ctx context.Context, path, kind string, write func(io.Writer) (Sum, error)) error {
	f, err := files.CreateContext(ctx, path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := write(f); f.Err() != nil {
		return f.Err()
	} else if err != nil {
		return fmt.Errorf("%s: the %s can't be written: %w", path, kind, err)
	}
	return f.Commit()
}

// Load reads the model's file at path. Its errors name the file.
func Load(path string) (*Model, error) { return LoadWithin(path, 0) }

// LoadWithin is Load with a memory limit in bytes; 0 stands for four fifths of the available memory. The error is
// ErrMemory if reading the file takes more than the limit, or if the file's sparse weights expand to more than half of
// the limit. A limit below 16 MiB counts as 16 MiB.
func LoadWithin(path string, memory int64) (*Model, error) {
	return load(path, func(r io.Reader) (*Model, error) { return read(r, memory) })
}

// load reads the file at path with the function read, and names the file in errors.
func load[R any](path string, read func(io.Reader) (*R, error)) (*R, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, files.Cause(err))
	}
	defer f.Close()
	r, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, files.Cause(err))
	}
	return r, nil
}

// Read reads a model's file to its end. It returns ErrNoModel, ErrVersion or ErrDamaged unless the format and the
// checksum are right and the model passes Check. It returns ErrMemory if reading the file takes more than four fifths of
// the available memory, or if the file's sparse weights expand to more than two fifths.
func Read(r io.Reader) (*Model, error) { return read(r, 0) }

func read(r io.Reader, most int64) (*Model, error) {
	limit := max(leastLimit, memory.Limit(most))
	data, err := readObject(r, int(min(MaxFileBytes, limit)))
	if errors.Is(err, errLarger) && limit < MaxFileBytes {
		return nil, fmt.Errorf("%w: its text has more than %s, the limit: give it more, or train on fewer features",
			ErrMemory, humanize.Size(limit))
	}
	if err != nil {
		return nil, err
	}
	seen, err := newSurvey(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; copy it again or train it again", ErrDamaged, err)
	}
	if err := checkFormat(seen.format); err != nil {
		return nil, err
	}
	if what := sumFault(data); what != "" {
		return nil, fmt.Errorf("%w: %s; restore it or train again", ErrDamaged, what)
	}
	if seen.fault != nil {
		return nil, fmt.Errorf("%w: %w; train it again", ErrDamaged, seen.fault)
	}
	if need := seen.memory(); need > limit {
		return nil, fmt.Errorf("%w: reading its %s of text takes %s, and the limit is %s: give it more, or train on fewer features",
			ErrMemory, humanize.Size(int64(len(data))), humanize.Size(need), humanize.Size(limit))
	}
	m := new(Model)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%w: %s; train it again", ErrDamaged, humanize.WithoutMiddle(err.Error(), 200))
	}
	if len(m.Bias) == 1 && !m.FitBias && m.Bias[0] == 0 {
		m.Bias = nil // the file may write no bias as [0]
	}
	if len(m.Classes) > 2 && m.Options.Multiclass == "" { // earlier versions knew only this way
		m.Options.Multiclass = OneVersusRest
	}
	if err = m.expand(most); errors.Is(err, ErrMemory) {
		return nil, err
	}
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w; train it again", ErrDamaged, err)
	}
	return m, nil
}

// errLarger is in the chain of the error of readObject for a larger file.
var errLarger = errors.New("larger")

// readObject reads r to its end, at most most bytes. It returns ErrNoModel if the file doesn't begin with a JSON object,
// and ErrNoModel with errLarger if it has more bytes.
func readObject(r io.Reader, most int) ([]byte, error) {
	br := bufio.NewReader(io.LimitReader(r, int64(most)+1))
	head, err := br.Peek(64)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return nil, fmt.Errorf("%w: it doesn't start as a JSON object", ErrNoModel)
	}
	larger := fmt.Errorf("%w: %w than %d MiB", ErrNoModel, errLarger, most>>20)
	var data bytes.Buffer
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() { // otherwise data grows, and leaves garbage
			if info.Size() > int64(most) {
				return nil, larger
			}
			data.Grow(int(info.Size()) + bytes.MinRead)
		}
	}
	if _, err := data.ReadFrom(br); err != nil {
		return nil, err
	}
	if data.Len() > most {
		return nil, larger
	}
	return data.Bytes(), nil
}

func checkFormat(name string) error {
	kind, _, _ := strings.Cut(Format, "/")
	switch {
	case name == Format:
		return nil
	case strings.HasPrefix(name, kind+"/"):
		return fmt.Errorf("%w: it is %q, and this program reads %q: use the version of halfspace that wrote it",
			ErrVersion, humanize.WithoutMiddle(name, 40), Format)
	}
	return fmt.Errorf("%w: it has no \"format\": %q", ErrNoModel, Format)
}

// sumFault finds the line of the checksum, which is the last line before the closing brace, and compares the checksum
// with the bytes before the line. It returns the fault, or "".
func sumFault(data []byte) string {
	const key = "\n  \"checksum\": \"sha256:"
	at := bytes.LastIndex(data, []byte(key))
	if at < 0 {
		return "no checksum on the last line but one: the file was cut or rewritten"
	}
	sum, rest, _ := bytes.Cut(data[at+len(key):], []byte("\"\n"))
	if string(bytes.TrimSpace(rest)) != "}" {
		return "checksum is not the last key: the file was rewritten"
	}
	want := sha256.Sum256(data[:at+1])
	if string(sum) != hex.EncodeToString(want[:]) {
		return "wrong checksum: the file was changed after it was written"
	}
	return ""
}
