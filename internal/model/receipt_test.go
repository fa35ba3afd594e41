package model

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfspace/internal/require"
)

func testReceipt() *Receipt {
	chunks := []Sum{SumBytes([]byte("a")), SumBytes([]byte("b")), SumBytes([]byte("c"))}
	return &Receipt{Format: ReceiptFormat, Model: SumBytes(nil), Options: []TypedOption{{"algo", []string{"voted"}}},
		Rows: NewRowSums(9000, 4096, chunks), Epochs: []ClassSums{{0, chunks}}, Machine: Machine{ISA: "generic", Workers: 2}}
}

// TestReceipt: a receipt is read as it was written. With one flipped bit, or cut, it is refused.
func TestReceipt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	want := testReceipt()
	require.NoError(t, want.Save(path))
	got, err := LoadReceipt(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, error %v", got, err)
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := range 8 * len(data) {
		data[at/8] ^= 1 << (at % 8)
		if _, err := ReadReceipt(bytes.NewReader(data)); !errors.Is(err, ErrReceipt) {
			t.Errorf("bit %d of byte %d: error %v", at%8, at/8, err)
		}
		data[at/8] ^= 1 << (at % 8)
	}
	for n := range data {
		if _, err := ReadReceipt(bytes.NewReader(data[:n])); !errors.Is(err, ErrReceipt) {
			t.Errorf("the first %d bytes: error %v", n, err)
		}
	}
}

// TestReceiptChecked: sums that don't belong together are refused, though the checksum is right.
func TestReceiptChecked(t *testing.T) {
	for i, change := range []func(*Receipt){
		func(r *Receipt) { r.Rows.Root[0]++ },
		func(r *Receipt) { r.Rows.Chunks[1][5]++ },
		func(r *Receipt) { r.Rows.Rows = 8192 },
		func(r *Receipt) { r.Rows.ChunkRows = 0 },
		func(r *Receipt) { r.Rows.Rows = -1 },
		func(r *Receipt) { r.Epochs[0].Class = -1 },
		func(r *Receipt) { r.Epochs = append(r.Epochs, ClassSums{}) },
		func(r *Receipt) { r.Validation = &RowSums{Rows: 1, ChunkRows: 4096} },
	} {
		r := testReceipt()
		change(r)
		data, err := withChecksum(r)
		require.NoError(t, err)
		if _, err := ReadReceipt(bytes.NewReader(data)); !errors.Is(err, ErrReceipt) {
			t.Errorf("change %d: error %v", i, err)
		}
	}
}

// TestOldReceipt: a receipt of format 1 is read, and is written as format 2. A receipt with the format of one and the
// keys of the other is refused.
func TestOldReceipt(t *testing.T) {
	data, err := os.ReadFile("testdata/receipt-1.json")
	require.NoError(t, err)
	old, err := ReadReceipt(bytes.NewReader(data))
	require.NoError(t, err)
	for _, rows := range []RowSums{old.Rows, *old.Validation} {
		if rows.ChunkRows != 4096 || len(rows.Chunks) != int(rows.Rows+4095)/4096 {
			t.Errorf("%d rows in %d chunks of %d", rows.Rows, len(rows.Chunks), rows.ChunkRows)
		}
	}
	path := filepath.Join(t.TempDir(), "r.json")
	require.NoError(t, old.Save(path))
	if got := require.Value(LoadReceipt(path))(t); got.Format != ReceiptFormat || !reflect.DeepEqual(got, old) {
		t.Errorf("read %+v, and after writing it %+v", old, got)
	}
	body, _, _ := strings.Cut(string(data), ",\n  \"checksum\"")
	body += "}"
	renamed := strings.NewReplacer(`"run_rows"`, `"chunk_rows"`, `"runs"`, `"chunks"`).Replace(body)
	current := strings.Replace(renamed, oldReceiptFormat, ReceiptFormat, 1)
	require.NoError(t, require.ErrorOf(ReadReceipt(strings.NewReader(sign(current)))))
	mixed := map[string]string{"format 1": renamed, "format 2": strings.Replace(body, oldReceiptFormat, ReceiptFormat, 1)}
	for name, text := range mixed {
		if _, err := ReadReceipt(strings.NewReader(sign(text))); !errors.Is(err, ErrReceipt) {
			t.Errorf("%s with the keys of the other: error %v", name, err)
		}
	}
}

// TestRoot: the roots of the test vectors of Certificate Transparency's reference implementation.
func TestRoot(t *testing.T) {
	leaves := []string{"", "\x00", "\x10", "\x20\x21", "\x30\x31", "\x40\x41\x42\x43", "\x50\x51\x52\x53\x54\x55\x56\x57",
		"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"}
	var sums []Sum
	for _, l := range leaves {
		sums = append(sums, SumBytes([]byte("\x00"+l)))
	}
	for n, want := range map[int]string{
		0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	} {
		if got := fmt.Sprintf("%x", root(sums[:n])); got != want {
			t.Errorf("%d leaves: %s, want %s", n, got, want)
		}
	}
}

// FuzzReceipt reads any bytes as a receipt, with the checksum that they have and with a right one. A receipt is refused, or is read from what
// it is written as.
func FuzzReceipt(f *testing.F) {
	r := testReceipt()
	data, err := withChecksum(r)
	require.NoError(f, err)
	f.Add(data)
	r.Validation, r.Files = &r.Rows, []FileSum{{Name: "a\x1b.csv", Bytes: 5, SHA256: r.Model}}
	if data, err = withChecksum(r); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, text := range [][]byte{data, []byte(sign(string(data)))} {
			r, err := ReadReceipt(bytes.NewReader(text))
			if err != nil {
				if r != nil || strings.Contains(err.Error(), "\n") {
					t.Errorf("receipt %v with error %q", r, err)
				}
				continue
			}
			file, err := withChecksum(r)
			require.NoError(t, err)
			again, err := ReadReceipt(bytes.NewReader(file))
			if err != nil || !reflect.DeepEqual(again, r) {
				t.Errorf("read %+v, and after writing it %+v, error %v", r, again, err)
			}
		}
	})
}

// withChecksum returns the bytes of writeWithChecksum.
func withChecksum(v any) ([]byte, error) {
	var b bytes.Buffer
	_, err := writeWithChecksum(&b, v)
	return b.Bytes(), err
}
