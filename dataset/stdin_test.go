package dataset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"

	"halfspace/dataset/internal/frame"
	"halfspace/dataset/internal/source"
	textfile "halfspace/dataset/internal/text"
)

// TestPanickingJob: what panics while text is parsed is an error that says where.
func TestPanickingJob(t *testing.T) {
	s, err := source.NewSource(context.Background(), textFile(t, "a.csv", "x\n1\n"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	jobs := textfile.Chunks([]*source.Source{s}, true, textfile.ChunkBytes, nil, func(int, textfile.Chunk) iter.Seq[frame.Job] {
		return textfile.One(textfile.Chunk{}, func() (*frame.Batch, error) { panic("no more") })
	})
	for _, err := range frame.InOrder(context.Background(), frame.NewPool(2), 0, jobs) {
		wantError(t, err, filepath.Dir(s.Path), "DIR/a.csv: from line 1 on: can't be parsed (no more): check the file")
	}
}

// TestStandardInput reads - as a file, more than once.
func TestStandardInput(t *testing.T) {
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	feed := func(path string) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		os.Stdin = f
	}
	dir := t.TempDir()
	start := filepath.Join(dir, "start.parquet")
	writeFile(t, start, mixed(t), 2)
	want, err := table(t, Options{}, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.csv", "a.arrow"} {
		path := filepath.Join(dir, name)
		convertFile(t, 4, start, path, WriterOptions{})
		feed(path)
		if got, err := table(t, Options{}, "-"); err != nil || show(got) != show(want) {
			t.Errorf("%s: %v (%v)", name, got, err)
		}
	}
	feed(textFile(t, "a.svm.gz", "1 1:2\n0 2:3\n"))
	if got, err := table(t, Options{}, "-"); err != nil || show(got) != "label float64 1 0; f1 float64 2 0; f2 float64 0 3" {
		t.Errorf("svmlight: %v (%v)", got, err)
	}
	feed(start)
	_, err = table(t, Options{}, "-")
	wantError(t, err, dir, "-: a Parquet file can't come from standard input, since it is read from its end: save it and name the file")
	feed(start)
	_, err = table(t, Options{}, "-", start)
	wantError(t, err, dir, "-: a Parquet file can't come from standard input, since it is read from its end: save it and name the file")
	feed(textFile(t, "a.csv", "x\n1\n"))
	_, err = table(t, Options{}, textFile(t, "a.csv", "x\n1\n"), "-")
	wantError(t, err, dir, "-: standard input can't be read beside other files: save it and name the file")
	t.Setenv("TMPDIR", filepath.Join(dir, "absent"))
	t.Setenv("TMP", filepath.Join(dir, "absent"))
	few := &source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: context.Background(), R: strings.NewReader("12345"), Most: 4}}
	for range 2 {
		if _, err := few.Open(); err == nil || !strings.HasPrefix(err.Error(), "-: standard input can't be held in "+os.TempDir()) {
			t.Errorf("too much, and nowhere to put it: %v", err)
		}
	}
	open, w := io.Pipe() // of which nothing comes
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (&source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: ctx, R: open, Most: 4}}).Open(); err != context.Canceled {
		t.Errorf("canceled: %v", err)
	}
	failing := &source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: context.Background(), R: iotest.ErrReader(errors.New("gone")), Most: 4}}
	if _, err := failing.Open(); err == nil || err.Error() != "-: standard input can't be read (gone): check the command before the pipe" {
		t.Errorf("failing: %v", err)
	}
}

func opened(t *testing.T, s *source.Source) *source.SourceReader {
	t.Helper()
	r, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A waiting reader has something to read, and then tells so and waits forever.
type waiting struct {
	io.Reader
	end chan struct{}
}

// TestCutShort: where standard input is ended, it is as if it ended with its last whole record, in every pass.
func TestCutShort(t *testing.T) {
	const whole, part = "1,2\n3,\"a\nb\"\n", "5,\"c\nd"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, whole+part)
	z.Flush()
	for name, in := range map[string]string{"plain": whole + part, "gzip": zipped.String()} {
		end := make(chan struct{})
		s := &source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: context.Background(), End: end, Most: 1 << 20,
			R: &waiting{iotest.OneByteReader(strings.NewReader(in)), end}}}
		if f, err := sniff(s); err != nil || f != formatCSV {
			t.Errorf("%s: %q, %v", name, f, err)
		}
		for range 2 {
			text := ""
			for c, err := range textfile.ChunksOf(s, true, 8, nil) {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				text += string(c.Text)
			}
			if text != whole {
				t.Errorf("%s: %q, want %q", name, text, whole)
			}
		}
	}
}

// TestLastPass: standard input is read from its beginning as often as one likes, and in the last pass it isn't held.
func TestLastPass(t *testing.T) {
	for _, most := range []int{0, 1000, 65536, 100_000} { // the rest is in a file
		testLastPass(t, most)
	}
}

func testLastPass(t *testing.T, inMemory int) {
	want := strings.Repeat("0123456789abcdef", 20000)
	s := &source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: context.Background(), R: iotest.HalfReader(strings.NewReader(want)), Most: int64(inMemory)}}
	for _, n := range []int{10, 70_000, 3} {
		got := make([]byte, n)
		if _, err := io.ReadFull(opened(t, s), got); err != nil || string(got) != want[:n] {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if len(s.Stdin.Data) > inMemory {
		t.Errorf("%d bytes are held in memory, and %d may be", len(s.Stdin.Data), inMemory)
	}
	source.LastPass([]*source.Source{s})
	r, most := opened(t, s), 0
	var got strings.Builder
	for buf := make([]byte, 1000); ; {
		n, err := r.Read(buf)
		got.Write(buf[:n])
		if most = max(most, len(s.Stdin.Data)); got.Len() > 200_000 && len(s.Stdin.Data) > 64<<10 {
			t.Fatalf("%d bytes are held after %d", len(s.Stdin.Data), got.Len())
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != want || most < inMemory/2 {
		t.Errorf("%d bytes of %d, %d held in memory at most, and %d may be", got.Len(), len(want), most, inMemory)
	}
}

// TestStandardInputLines: an error in a row of standard input names the line, which can't be looked up later.
func TestStandardInputLines(t *testing.T) {
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	for _, c := range []struct {
		text, want string
		opt        Options
	}{
		{"a,b,t,y\n\n1,2,\"u\nv\",0\n1,,w,1\n", `-: column "b", line 5, row 1: null`, Options{Label: "y"}},
		{"a,b,y\n1,2,\n", `-: column "y", line 2, row 0: null`, Options{Label: "y"}},
		{"a,b,y\nu,2,0\n,1,1\n", `-: column "a", line 3, row 1: null`, Options{Label: "y", Categorical: "onehot"}},
		{"a,b,y\n" + strings.Repeat("1,2,0\n1,2,1\n", 250_000) + "1,,1\n", `-: column "b", line 500002, row 500000: null`, Options{Label: "y", Standardize: true}},
	} {
		f, err := os.Open(textFile(t, "x.csv", c.text))
		if err != nil {
			t.Fatal(err)
		}
		os.Stdin = f
		_, err = Load(context.Background(), []string{"-"}, c.opt)
		if f.Close(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.30q: error %v, want %s", c.text, err, c.want)
		}
	}
}
