package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codec is a compression, numbered as in the format.
type Codec int32

// The compressions of the format.
const (
	Uncompressed Codec = iota
	Snappy
	Gzip
	LZO
	Brotli
	LZ4 // Hadoop's framing
	Zstd
	LZ4Raw
)

// Readable returns true if pages with this compression can be read.
func (c Codec) Readable() bool { return c >= Uncompressed && c <= LZ4Raw && c != LZO }

// A page of more than freeSize bytes may be at most maxRatio times as long as its compressed form. Real data isn't
// compressed more, but a few bytes of Zstandard or Brotli can claim gigabytes.
const (
	freeSize = 64 << 20
	maxRatio = 1024
)

// decompress returns the size bytes that src decompresses to. It allocates memory step by step, in proportion to the
// bytes that exist so far, whatever size claims.
func (c Codec) decompress(pool *Pool, src []byte, size int) (*Buffer, error) {
	if size == 0 {
		return pool.page(0)
	}
	if size > freeSize && size/maxRatio > len(src) {
		return nil, Unsupported(fmt.Sprintf("%d bytes that stand for %d can't be read: write smaller pages", len(src), size))
	}
	switch c {
	case Snappy:
		if n, err := s2.DecodedLen(src); err != nil || n != size {
			return nil, fmt.Errorf("not the %d bytes of Snappy that its header claims", size)
		}
		return decodeBlock(pool, src, size, 32, func(dst []byte) (int, error) {
			out, err := s2.Decode(dst, src)
			return len(out), err
		})
	case LZ4:
		return decodeBlock(pool, src, size, 256, func(dst []byte) (int, error) { return hadoopLZ4(dst, src) })
	case LZ4Raw:
		return decodeBlock(pool, src, size, 256, func(dst []byte) (int, error) { return lz4.UncompressBlock(src, dst) })
	case Zstd:
		return unzstd(pool, src, size)
	case Gzip:
		return decodeStream(pool, &gzips, src, size)
	case Brotli:
		return decodeStream(pool, &brotlis, src, size)
	}
	return nil, Unsupported(fmt.Sprintf("compression %d can't be read: write the file with snappy, zstd or gzip", c))
}

// gzips and brotlis keep readers that reached the end of their stream. Other readers aren't reused: a Brotli reader
// that stopped in the middle carries state into the next stream, even after Reset.
var (
	gzips   = sync.Pool{New: func() any { return new(gzip.Reader) }}
	brotlis = sync.Pool{New: func() any { return new(brotli.Reader) }}
)

// decodeStream decodes by a reader of the given pool.
func decodeStream(pool *Pool, readers *sync.Pool, src []byte, size int) (*Buffer, error) {
	r := readers.Get().(interface {
		io.Reader
		Reset(src io.Reader) error
	})
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return nil, err
	}
	out, err := readExactly(pool, r, len(src), size)
	if err == nil {
		readers.Put(r)
	}
	return out, err
}

// decodeBlock decodes into a buffer of size bytes. ratio is the largest number of bytes that the format can make from
// a byte; decodeBlock returns an error if size claims more.
func decodeBlock(pool *Pool, src []byte, size, ratio int, decode func(dst []byte) (int, error)) (*Buffer, error) {
	if size/ratio > len(src) {
		return nil, fmt.Errorf("%d bytes can't stand for %d", len(src), size)
	}
	out, err := pool.page(size)
	if err != nil {
		return nil, err
	}
	n, err := decode(out.Bytes)
	if err == nil && n != size {
		err = errSize(n, size)
	}
	if err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}

func errSize(n, size int) error {
	return fmt.Errorf("%d bytes come out of it, its header claims %d", n, size)
}

// unzstd decompresses Zstandard. If size is implausible, it tries with less memory first.
func unzstd(pool *Pool, src []byte, size int) (*Buffer, error) {
	d, err := zstds()
	if err != nil {
		return nil, err
	}
	for room := min(size, 1<<20+64*len(src)); ; room = min(size, 8*room) {
		out, err := pool.page(room)
		if err != nil {
			return nil, err
		}
		got, err := d.DecodeAll(src, out.Bytes[:0:room+slack])
		switch {
		case errors.Is(err, zstd.ErrDecoderSizeExceeded) && room < size:
			out.Release()
			continue
		case err == nil && len(got) != size:
			err = errSize(len(got), size)
		}
		if err != nil {
			out.Release()
			return nil, err
		}
		out.Bytes = out.Bytes[:size]
		return out, nil
	}
}

// zstds is the decoder for all goroutines. Its output is limited to the capacity of the buffer, so that the window
// needs no small limit.
var zstds = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(1<<31))
})

// readExactly reads size bytes, after which r must end.
func readExactly(pool *Pool, r io.Reader, have, size int) (*Buffer, error) {
	out, err := pool.page(min(size, 1<<16+4*have))
	if err != nil {
		return nil, err
	}
	n := 0
	for {
		k, err := io.ReadFull(r, out.Bytes[n:])
		n += k
		if n == size {
			break
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = errSize(n, size)
		}
		var bigger *Buffer
		if err == nil {
			bigger, err = pool.page(min(size, 4*n))
		}
		if err != nil {
			out.Release()
			return nil, err
		}
		copy(bigger.Bytes, out.Bytes)
		out.Release()
		out = bigger
	}
	if k, err := r.Read(make([]byte, 1)); k > 0 || err != io.EOF {
		out.Release()
		if err == nil || err == io.EOF {
			err = errSize(size+1, size)
		}
		return nil, err
	}
	return out, nil
}

// hadoopLZ4 decodes a sequence of blocks. Each block begins with its decompressed size and its compressed size,
// big-endian. Some writers left these sizes out and wrote a single block, or LZ4's own frames.
func hadoopLZ4(dst, src []byte) (int, error) {
	n, in := 0, src
	for len(in) >= 8 {
		size, stored := binary.BigEndian.Uint32(in), binary.BigEndian.Uint32(in[4:])
		in = in[8:]
		if int64(stored) > int64(len(in)) || int64(size) > int64(len(dst)-n) {
			break
		}
		k, err := lz4.UncompressBlock(in[:stored], dst[n:n+int(size)])
		if err != nil || k != int(size) {
			break
		}
		n, in = n+k, in[stored:]
		if len(in) == 0 && n == len(dst) {
			return n, nil
		}
	}
	if len(src) >= 4 && binary.LittleEndian.Uint32(src) == lz4Frame {
		r := lz4.NewReader(bytes.NewReader(src))
		return io.ReadFull(r, dst)
	}
	return lz4.UncompressBlock(src, dst)
}

const lz4Frame = 0x184D2204 // the first bytes of a frame
