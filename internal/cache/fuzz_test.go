package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"halfspace/internal/block"
	"halfspace/internal/require"
)

// FuzzOpen opens any bytes as a cache. It does so with the checksums that they have, and with right ones of the header and
// the table, to reach what lies behind them. A file is refused, or all its rows can be read.
func FuzzOpen(f *testing.F) {
	k := key("o", source("/a", 1, 2))
	path := filepath.Join(f.TempDir(), "seed")
	for _, src := range []block.Source{random(700, 2), warned{weighted(random(10, 1)), []string{"w"}},
		randomSparse(600, 30, true), randomSparse(5, 3, false)} {
		w := require.Value(Write(ctx, path, k, src, nil))(f)
		w.Close()
		whole := require.Value(os.ReadFile(path))(f)
		f.Add(whole)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "c")
		for _, content := range [][]byte{data, signed(data)} {
			require.NoError(t, os.WriteFile(path, content, 0o600))
			c, err := Open(ctx, path, k)
			if stale := StaleError(""); err != nil {
				if !errors.As(err, &stale) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errForeign) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %q", err)
				}
				continue
			}
			rows, again := int64(0), []uint32{0, uint32(c.Rows() - 1)}
			for b, err := range c.Blocks(ctx) {
				require.NoError(t, err)
				rows += int64(b.Len())
				if rows == c.Rows() {
					to := block.New(0, 2, c.Spec().Cols())
					if c.Sparse() {
						to = block.NewSparse(0, 2, 2*c.Spec().Cols(), c.Spec().Cols())
					}
					if err := c.ReadRows(again, to); err != nil {
						t.Error(err)
					}
				}
			}
			if rows != c.Rows() {
				t.Errorf("%d of %d rows", rows, c.Rows())
			}
			c.Close()
		}
	})
}

// signed returns a file with right checksums of its header and its table, where these are within it.
func signed(data []byte) []byte {
	data = slices.Clone(data)
	if len(data) < prefixBytes {
		return data
	}
	if n := binary.LittleEndian.Uint64(data[24:]); n <= uint64(len(data)-prefixBytes) {
		binary.LittleEndian.PutUint64(data[32:], xxh3.Hash(data[prefixBytes:prefixBytes+n]))
	}
	h, first, err := readHeader(bytes.NewReader(data), int64(len(data)))
	if err != nil || h.Stride < 1 || h.BlockRows < 1 {
		return data
	}
	l := newLayout(h, first)
	if h.Rows < 1 || l.leastRow() < 1 || h.Rows > int64(len(data))/l.leastRow() {
		return data
	}
	end := len(data)
	if l.isSparse {
		end -= 8
		l.end = int64(binary.NativeEndian.Uint64(data[end:]))
	}
	at, words := l.table(), l.words()
	if at < first || at > int64(end) || int64(end)-at < int64(8*(words+3)) {
		return data
	}
	table := make([]uint64, words)
	copy(bytesOf(table), data[at:])
	copy(data[at:], bytesOf(endTable(table, data[at+int64(8*(words+3)):end])))
	return data
}
