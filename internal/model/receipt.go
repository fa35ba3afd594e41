package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// ReceiptFormat is the value of "format", the first key of a receipt.
const ReceiptFormat = "halfspace-receipt/2"

// oldReceiptFormat is the format of receipts in which two keys have other names. See readOldKeys.
const oldReceiptFormat = "halfspace-receipt/1"

// Receipt records how a model was made. Anyone with the data can repeat the training and compare the model, the rows,
// and the weights after each epoch. All sums are SHA-256.
type Receipt struct {
	Format     string        `json:"format"`
	Model      Sum           `json:"model"`                // sum of the bytes of the model's file
	Options    []TypedOption `json:"options"`              // options of the command, as the user typed them
	Files      []FileSum     `json:"files,omitempty"`      // files of the data, in the order in which they were read
	Rows       RowSums       `json:"rows"`                 // the training rows
	Validation *RowSums      `json:"validation,omitempty"` // rows that were held out or validated on
	Epochs     []ClassSums   `json:"epochs"`               // the weights after each epoch; empty for a learner of one pass
	Machine    Machine       `json:"machine"`
}

// A Sum is a SHA-256. Its text is "sha256:" and 64 hexadecimal digits.
type Sum [sha256.Size]byte

// SumBytes returns the SHA-256 of data.
func SumBytes(data []byte) Sum { return sha256.Sum256(data) }

const sumPrefix = "sha256:"

// MarshalText returns the text of s.
func (s Sum) MarshalText() ([]byte, error) { return []byte(sumPrefix + hex.EncodeToString(s[:])), nil }

// UnmarshalText sets s to the sum of a text.
func (s *Sum) UnmarshalText(text []byte) error {
	digits, ok := bytes.CutPrefix(text, []byte(sumPrefix))
	if n, err := hex.Decode(s[:], digits[:min(len(digits), 2*len(s))]); !ok || err != nil || n != len(s) || len(digits) != 2*n {
		return fmt.Errorf("%q is not a sum: a sum has %q and %d hexadecimal digits",
			humanize.WithoutMiddle(string(text), 80), sumPrefix, 2*len(s))
	}
	return nil
}

// TypedOption is an option of a command with its values: one value, or the members of a list.
type TypedOption struct {
	Option string   `json:"option"`
	Values []string `json:"values"`
}

// FileSum is a file that was read.
type FileSum struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 Sum    `json:"sha256"`
}

// RowSums are the leaves of a hash tree over rows. A leaf is the sum of a chunk of ChunkRows rows, by block.ChunkSums;
// the last chunk may have fewer rows.
type RowSums struct {
	Rows      int64  `json:"rows"`
	ChunkRows int64  `json:"chunk_rows"`
	Root      Sum    `json:"root"` // root of the Merkle tree of RFC 6962, section 2.1
	Chunks    Leaves `json:"chunks"`
}

// Leaves are sums. Their text is the base64 of their bytes, one sum after another.
type Leaves []Sum

// MarshalText returns the text of l.
func (l Leaves) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, slices.Concat(l.parts()...)), nil
}

func (l Leaves) parts() (parts [][]byte) {
	for i := range l {
		parts = append(parts, l[i][:])
	}
	return parts
}

// UnmarshalText sets l to the sums of a text.
func (l *Leaves) UnmarshalText(text []byte) error {
	all, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(all)%sha256.Size != 0 {
		return errors.New("chunks are no whole sums in base64")
	}
	*l = make(Leaves, 0, len(all)/sha256.Size)
	for sum := range slices.Chunk(all, sha256.Size) {
		*l = append(*l, Sum(sum))
	}
	return nil
}

// ClassSums are the sums of the weights after each epoch, from the first. If each of several classes was trained on its
// own, Class is the number of the class; otherwise it is 0.
type ClassSums struct {
	Class   int   `json:"class"`
	Weights []Sum `json:"weights"`
}

// Machine describes where a training ran. No model depends on it.
type Machine struct {
	Program    string  `json:"program"` // version
	OS         string  `json:"os"`
	Arch       string  `json:"arch"`
	CPU        string  `json:"cpu,omitempty"`
	ISA        string  `json:"isa"`
	Workers    int     `json:"workers"`
	IsStreamed bool    `json:"streamed"`
	Seconds    float64 `json:"seconds"`
}

// NewRowSums returns the sums of rows in chunks of chunkRows rows.
func NewRowSums(rows, chunkRows int64, chunks []Sum) RowSums {
	return RowSums{Rows: rows, ChunkRows: chunkRows, Chunks: chunks, Root: root(chunks)}
}

// root returns the root of a Merkle tree by RFC 6962, section 2.1.
func root(leaves []Sum) Sum {
	switch len(leaves) {
	case 0:
		return SumBytes(nil)
	case 1:
		return leaves[0]
	}
	left := 1 << (bits.Len(uint(len(leaves)-1)) - 1) // the largest power of two below
	a, b := root(leaves[:left]), root(leaves[left:])
	return SumBytes(slices.Concat([]byte{1}, a[:], b[:]))
}

// check returns an error if the sums contradict each other.
func (r *RowSums) check() error {
	switch {
	case r.Rows < 0 || r.ChunkRows < 1 || int64(len(r.Chunks)) != (r.Rows+r.ChunkRows-1)/r.ChunkRows:
		return fmt.Errorf("%d sums of chunks of %d rows don't make %d rows", len(r.Chunks), r.ChunkRows, r.Rows)
	case r.Root != root(r.Chunks):
		return errors.New("the root isn't that of the chunks")
	}
	return nil
}

// Save writes the receipt. It replaces an existing file in one step, or leaves it unchanged.
func (r *Receipt) Save(path string) error {
	r.Format = ReceiptFormat
	return save(context.Background(), path, "receipt", func(w io.Writer) (Sum, error) { return writeWithChecksum(w, r) })
}

// ErrReceipt is the error of LoadReceipt for a file that isn't a receipt, has another version, or was cut or changed.
var ErrReceipt = errors.New("not a receipt that can be used")

// LoadReceipt reads the receipt at path. Its errors name the file.
func LoadReceipt(path string) (*Receipt, error) { return load(path, ReadReceipt) }

// ReadReceipt reads a receipt to its end. It returns ErrReceipt unless format, checksum and sums are right.
func ReadReceipt(from io.Reader) (*Receipt, error) {
	data, err := readObject(from, MaxFileBytes)
	if errors.Is(err, ErrNoModel) {
		return nil, message.Errorf("%w: name what train --receipt wrote", ErrReceipt)
	}
	if err != nil {
		return nil, err
	}
	var head struct{ Format string }
	if err := json.Unmarshal(data, &head); err != nil || head.Format != ReceiptFormat && head.Format != oldReceiptFormat {
		return nil, fmt.Errorf("%w: its format is %q, and this program reads %q", ErrReceipt,
			humanize.WithoutMiddle(head.Format, 40), ReceiptFormat)
	}
	what := sumFault(data)
	if what == "" && !bytes.HasSuffix(data, []byte("\n}\n")) {
		what = "it doesn't end as it was written"
	}
	if what != "" {
		return nil, fmt.Errorf("%w: %s; restore it", ErrReceipt, what)
	}
	r := new(Receipt)
	err = json.Unmarshal(data, r)
	if err == nil && head.Format == oldReceiptFormat {
		err = r.readOldKeys(data)
	}
	if err == nil {
		err = r.Rows.check()
	}
	if err == nil && r.Validation != nil {
		err = r.Validation.check()
	}
	for i, c := range r.Epochs {
		if err == nil && (c.Class < 0 || i > 0 && c.Class <= r.Epochs[i-1].Class) {
			err = fmt.Errorf("class number %d is out of order", c.Class)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s; restore it", ErrReceipt, humanize.WithoutMiddle(err.Error(), 200))
	}
	return r, nil
}

// readOldKeys sets the number of rows of a chunk, and the sums of the chunks, from the keys that oldReceiptFormat has
// for them: run_rows and runs. It sets the format to ReceiptFormat.
func (r *Receipt) readOldKeys(data []byte) error {
	type rowSums struct {
		ChunkRows int64  `json:"run_rows"`
		Chunks    Leaves `json:"runs"`
	}
	var old struct{ Rows, Validation rowSums }
	if err := json.Unmarshal(data, &old); err != nil {
		return err
	}
	r.Format = ReceiptFormat
	r.Rows.ChunkRows, r.Rows.Chunks = old.Rows.ChunkRows, old.Rows.Chunks
	if r.Validation != nil {
		r.Validation.ChunkRows, r.Validation.Chunks = old.Validation.ChunkRows, old.Validation.Chunks
	}
	return nil
}
