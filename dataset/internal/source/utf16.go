package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"halfspace/dataset/internal/column"
)

// errUTF32 is the error that text begins with a byte order mark of UTF-32, or with a character of ASCII in UTF-32.
var errUTF32 = errors.New("line 1: the text is UTF-32: save it as UTF-8")

// decode sets R to UTF-8 if it is text in UTF-16: with a byte order mark, or with two characters of ASCII at its beginning.
func (r *Reader) decode() error {
	raw, is := r.R.(*bufio.Reader)
	if !is {
		raw = bufio.NewReaderSize(r.R, 64<<10)
		r.R = raw
	}
	head, _ := raw.Peek(1) // a later read returns the error
	if len(head) == 0 || head[0] >= 0x80 && head[0] < 0xfe {
		return nil
	}
	// standard input may wait for more bytes
	for n := 2; n <= 4 && len(head) == n-1 && (n == 2 || head[0] == 0 || head[1] == 0 || head[0] >= 0xfe); n++ {
		head, _ = raw.Peek(n)
	}
	if isUTF32(head) {
		return column.ErrorIn(r.Path, "%w", errUTF32)
	}
	order := utf16Order(head)
	if order == nil {
		return nil
	}
	r.wide, r.R = true, &wideReader{raw: raw, order: order}
	return nil
}

// isUTF32 returns true if text with these first four bytes is UTF-32: a byte order mark, or a character of ASCII.
func isUTF32(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	little, big := binary.LittleEndian.Uint32(head), binary.BigEndian.Uint32(head)
	return little == byteOrderMark || big == byteOrderMark || isText(little) || isText(big)
}

const byteOrderMark = 0xfeff

// isText returns true for the characters of ASCII that text may begin with.
func isText(c uint32) bool { return c < 0x80 && (c >= ' ' || c == '\t' || c == '\r' || c == '\n') }

// utf16Order returns the byte order of text in UTF-16 by its first four bytes, or nil if it isn't UTF-16.
func utf16Order(head []byte) binary.ByteOrder {
	ascii := func(b byte) bool { return isText(uint32(b)) }
	switch {
	case len(head) < 2:
	case head[0] == 0xff && head[1] == 0xfe && (len(head) < 4 || head[2] != 0xff || head[3] != 0xff):
		return binary.LittleEndian
	case head[0] == 0xfe && head[1] == 0xff:
		return binary.BigEndian
	case len(head) < 4:
	case ascii(head[0]) && head[1] == 0 && ascii(head[2]) && head[3] == 0:
		return binary.LittleEndian
	case head[0] == 0 && ascii(head[1]) && head[2] == 0 && ascii(head[3]):
		return binary.BigEndian
	}
	return nil
}

// A wideReader reads text in UTF-16 as UTF-8.
type wideReader struct {
	raw   *bufio.Reader
	order binary.ByteOrder
	high  rune   // a high surrogate whose low surrogate is read next; 0: none
	rest  []byte // decoded text that is returned next
	text  []byte // the memory of rest
}

func (w *wideReader) Read(p []byte) (int, error) {
	for len(w.rest) == 0 {
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// fill decodes the buffered characters, at least one.
func (w *wideReader) fill() error {
	wide, err := w.raw.Peek(2)
	if len(wide) == 1 && err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	wide, _ = w.raw.Peek(w.raw.Buffered() &^ 1)
	w.text = w.text[:0]
	for i := 0; i < len(wide); i += 2 {
		c := rune(w.order.Uint16(wide[i:]))
		switch {
		case w.high != 0 && utf16.IsSurrogate(c) && utf16.DecodeRune(w.high, c) != utf8.RuneError:
			w.text, w.high = utf8.AppendRune(w.text, utf16.DecodeRune(w.high, c)), 0
			continue
		case w.high != 0:
			w.text, w.high = utf8.AppendRune(w.text, utf8.RuneError), 0
		}
		if 0xd800 <= c && c < 0xdc00 {
			w.high = c
		} else {
			w.text = utf8.AppendRune(w.text, c)
		}
	}
	w.rest = w.text
	_, err = w.raw.Discard(len(wide))
	return err
}
