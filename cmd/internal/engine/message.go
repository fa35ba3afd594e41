// Package engine connects the command to an engine that runs passes in other processes, such as Spark.
//
// The engine's own program, an adapter, stands between two processes of the command. In the driver, halfspace train has a Cluster,
// which sends passes to the adapter through pipes. On each host, halfspace worker computes pieces of passes for the adapter.
// The adapter carries trainings, passes, pieces and results as bytes that it doesn't read.
package engine

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"halfspace/cmd/internal/console"
)

// protocol is the version of the messages below, and of those in python/halfspace/_executor.py.
const protocol = 1

// Identity tells apart programs whose messages may differ. Driver and workers must have the same.
func Identity() string {
	commit, changed := console.Commit()
	if changed {
		commit += " with changes"
	}
	return fmt.Sprintf("%s, protocol %d, commit %s", number, protocol, commit)
}

// number is console.Number. Tests link programs with another.
var number = console.Number

// A message is a list of texts, the first of which is a word for the kind of the message:
//
//	from a worker, at first        worker   identity
//	to a worker                    compute  identity of the driver, training, pass, piece, piece, ...
//	from the driver                pass     positions, identity, training, pass, piece, piece, ...
//	from the driver                parts
//	from the driver                read     URL of a part, offset, length
//	the answer to compute, pass    ok       result, result, ...
//	the answer to parts            ok       part, its head, its tail, part, ...
//	the answer to read             ok       bytes
//	another answer                 no       sentence
//
// A message begins with the number of texts in 4 bytes. Each text follows its length in 8 bytes. Numbers are little-endian. A
// training is a worker.Training, and a piece a worker.Piece, as distributed.Encode writes them. A part is a worker.Part in JSON.
// Positions are JSON: for each piece the share of the rows before it, from 0 to 1, by which the adapter brings the same rows to
// the same process in each pass.
type message [][]byte

// mostTexts and mostTextBytes bound the numbers in a message that readMessage believes.
const (
	mostTexts     = 1 << 24
	mostTextBytes = 1 << 40
)

var errGarbled = errors.New("a message of the engine's adapter is garbled: use the same version of halfspace everywhere")

func writeMessage(w io.Writer, m message) error {
	b := bufio.NewWriterSize(w, 1<<16)
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(m))))
	for _, text := range m {
		b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
		b.Write(text)
	}
	return b.Flush()
}

// readMessage reads a message of one text or more. It returns io.EOF if r ends before the message.
func readMessage(r io.Reader) (message, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:4])
	if n == 0 || n > mostTexts {
		return nil, errGarbled
	}
	var m message
	for range n {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, noEOF(err)
		}
		length := binary.LittleEndian.Uint64(head[:])
		if length > mostTextBytes {
			return nil, errGarbled
		}
		text, err := readText(r, int64(length))
		if err != nil {
			return nil, err
		}
		m = append(m, text)
	}
	return m, nil
}

// readText reads a text of a length that a message claims. Memory grows with the bytes that arrive.
func readText(r io.Reader, length int64) ([]byte, error) {
	const firstBytes = 1 << 20
	text := make([]byte, min(length, firstBytes))
	for read := int64(0); ; {
		if _, err := io.ReadFull(r, text[read:]); err != nil {
			return nil, noEOF(err)
		}
		if read = int64(len(text)); read == length {
			return text, nil
		}
		text = append(text, make([]byte, min(length-read, read))...)
	}
}

// noEOF returns err, or io.ErrUnexpectedEOF for the end in the middle of a message.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
