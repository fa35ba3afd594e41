package column

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// errBehind is the error if gzip data is followed by other data.
var errBehind = errors.New("something else stands behind it")

// A members reads the members of gzip data one after the other. Zeros after the last member are padding, as for the
// gzip command.
type members struct {
	raw *bufio.Reader
	z   *gzip.Reader
}

// newMembers begins reading gzip data.
func newMembers(raw *bufio.Reader) (*members, error) {
	z, err := gzip.NewReader(raw)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{raw, z}, nil
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		switch {
		case n > 0 && err == io.EOF:
			return n, nil
		case n > 0 || err != io.EOF:
			return n, err
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next begins the next member. It returns io.EOF after the last member.
func (m *members) next() error {
	magic, err := m.raw.Peek(1)
	if err == nil && magic[0] != 0 {
		magic, err = m.raw.Peek(2)
		switch {
		case err != nil && err != io.EOF:
			return err
		case string(magic) != "\x1f\x8b":
			return errBehind
		}
		if err := m.z.Reset(m.raw); err != nil {
			return err
		}
		m.z.Multistream(false)
		return nil
	}
	for err == nil && magic[0] == 0 {
		there, _ := m.raw.Peek(m.raw.Buffered())
		m.raw.Discard(len(there) - len(bytes.TrimLeft(there, "\x00")))
		magic, err = m.raw.Peek(1)
	}
	if err == nil {
		return errBehind
	}
	return err
}
