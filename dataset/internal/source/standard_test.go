package source

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"halfspace/internal/require"
)

// input returns a source that reads r as standard input and holds at most most bytes of it in memory.
func input(ctx context.Context, r io.Reader, most int64) *File {
	return &File{Path: "-", Stdin: &StandardInput{Ctx: ctx, R: r, Most: most}}
}

// TestStandardInputErrors: standard input that fails, that can't be held, or that nobody waits for any longer, is an
// error.
func TestStandardInputErrors(t *testing.T) {
	for _, name := range []string{"TMPDIR", "TMP"} {
		t.Setenv(name, filepath.Join(t.TempDir(), "absent"))
	}
	few := input(t.Context(), strings.NewReader("12345"), 4)
	for range 2 {
		if _, err := few.Open(); err == nil || !strings.HasPrefix(err.Error(), "-: standard input can't be held in "+os.TempDir()) {
			t.Errorf("too much, and nowhere to put it: %v", err)
		}
	}
	open, w := io.Pipe() // of which nothing comes
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := input(ctx, open, 4).Open(); err != context.Canceled {
		t.Errorf("canceled: %v", err)
	}
	failing := input(t.Context(), iotest.ErrReader(errors.New("gone")), 4)
	if _, err := failing.Open(); err == nil || err.Error() != "-: standard input can't be read (gone): check the command before the pipe" {
		t.Errorf("failing: %v", err)
	}
}

// TestLastPass: standard input is read from its beginning as often as one likes, and in the last pass it isn't held.
// The part that memory has no room for is in a file.
func TestLastPass(t *testing.T) {
	want := strings.Repeat("0123456789abcdef", 20000)
	for _, inMemory := range []int{0, 1000, 65536, 100_000} {
		s := input(t.Context(), iotest.HalfReader(strings.NewReader(want)), int64(inMemory))
		for _, n := range []int{10, 70_000, 3} {
			got := make([]byte, n)
			if _, err := io.ReadFull(require.Value(s.Open())(t), got); err != nil || string(got) != want[:n] {
				t.Fatalf("%d bytes: %v", n, err)
			}
		}
		if len(s.Stdin.Data) > inMemory {
			t.Errorf("%d bytes are held in memory, and %d may be", len(s.Stdin.Data), inMemory)
		}
		(&Input{Files: []*File{s}}).LastPass()
		r, most := require.Value(s.Open())(t), 0
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
			require.NoError(t, err)
		}
		if got.String() != want || most < inMemory/2 {
			t.Errorf("%d bytes of %d, %d held in memory at most, and %d may be", got.Len(), len(want), most, inMemory)
		}
	}
}
