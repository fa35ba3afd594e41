package source

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"halfspace/internal/require"
)

// TestUTF16: text in UTF-16 is read as UTF-8, with and without a byte order mark, wherever a read ends.
func TestUTF16(t *testing.T) {
	for _, text := range []string{"x,y\n1,é€😀\n", strings.Repeat("x,y\r\n1,😀\n", 20_000), "ab"} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			for _, mark := range []string{"", "\ufeff"} {
				var wide []byte
				for _, c := range utf16.Encode([]rune(mark + text)) {
					wide = order.AppendUint16(wide, c)
				}
				if got := readAll(t, wide); got != mark+text {
					t.Errorf("%.20q in %v: %.40q", mark+text, order, got)
				}
			}
		}
	}
	for text, want := range map[string]string{
		"\xff\xfe\x3d\xd8a\x00":    "\ufeff\ufffda", // a high surrogate alone
		"\xff\xfe\x00\xdea\x00":    "\ufeff\ufffda", // a low surrogate alone
		"\xff\xff\xff\xff\x08\x00": "\xff\xff\xff\xff\x08\x00",
		"a\x00":                    "a\x00",
		"x":                        "x",
		"":                         "",
	} {
		if got := readAll(t, []byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func readAll(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	r := require.Value(require.Value(NewFile(t.Context(), path, nil, 0))(t).Open())(t)
	defer r.Close()
	return string(require.Value(io.ReadAll(r))(t))
}
