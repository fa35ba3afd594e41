package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"halfspace/internal/files"
)

// errDamaged is the error of load if the checksum of a file is wrong.
var errDamaged = errors.New("its checksum is wrong: it was cut or changed")

// format is the start of every checkpoint file. It is followed by the bytes of an image, and at the end by the
// SHA-256 of all bytes before it.
const format = "halfspace-checkpoint/3\n"

// MaxFileBytes is the size in bytes of the largest file that load reads.
const MaxFileBytes = 64 << 30

// An image is the content of a checkpoint file: the state of a whole run at one moment.
type image struct {
	number       int64 // number of the checkpoint in its run
	savedAt      int64 // Unix seconds
	trainingTime int64 // nanoseconds of training before the checkpoint
	isFinished   bool  // the run has ended, and its result was saved
	facts        []fact
	parts        []record
}

// A fact is the name and value of a data set property or an option. A run that resumes must have the same facts.
type fact struct{ name, value string }

// A record is the saved state of a part.
type record struct {
	id, epochs, visits int64
	state              []byte
}

func (m *image) walk(w *Walk) {
	w.Int(&m.number)
	w.Int(&m.savedAt)
	w.Int(&m.trainingTime)
	w.Bool(&m.isFinished)
	List(w, &m.facts, func(f *fact) {
		w.Text(&f.name)
		w.Text(&f.value)
	})
	List(w, &m.parts, func(r *record) {
		w.Int(&r.id)
		w.Int(&r.epochs)
		w.Int(&r.visits)
		Slice(w, &r.state)
	})
}

// encode returns the bytes of a checkpoint file. It copies the states once.
func (m *image) encode() []byte {
	size := len(format) + sha256.Size + 1<<10
	for _, r := range m.parts {
		size += len(r.state) + 1<<6
	}
	w := Walk{data: append(make([]byte, 0, size), format...)}
	m.walk(&w) // writing an image can't fail
	sum := sha256.Sum256(w.data)
	return append(w.data, sum[:]...)
}

// decode returns the image in the bytes of a checkpoint file.
func decode(data []byte) (*image, error) {
	body, ok := bytes.CutPrefix(data, []byte(format))
	if !ok || len(body) < sha256.Size {
		return nil, errors.New("it is no checkpoint that this program reads")
	}
	end := len(data) - sha256.Size
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, errDamaged
	}
	m := new(image)
	if err := Read(body[:len(body)-sha256.Size], m.walk); err != nil {
		return nil, err
	}
	return m, nil
}

// load returns the image in a file. It allocates memory for the file only after its checksum was found right. The
// error is errDamaged if the checksum is wrong or cut short.
func load(path string) (*image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFileBytes {
		return nil, errors.New("it is no checkpoint that this program reads")
	}
	h, sum := sha256.New(), make([]byte, sha256.Size)
	_, err = io.CopyN(h, f, info.Size()-sha256.Size)
	if err == nil {
		_, err = io.ReadFull(f, sum)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if err != nil || !bytes.Equal(h.Sum(nil), sum) {
		return nil, errDamaged
	}
	data := make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil {
		return nil, err
	}
	return decode(data)
}

// save writes the image to a file, which replaces an older file of the same name in one step.
func (m *image) save(path string) error {
	return files.Replace(context.Background(), path, m.encode())
}

const namePrefix, nameEnd = "checkpoint-", ".halfspace"

func name(number int64) string { return fmt.Sprintf("%s%06d%s", namePrefix, number, nameEnd) }

// numberOf returns the number of a checkpoint from its file name. ok is false if the file name isn't the name of a
// checkpoint.
func numberOf(file string) (number int64, ok bool) {
	digits, ok := strings.CutPrefix(file, namePrefix)
	digits, ok2 := strings.CutSuffix(digits, nameEnd)
	number, err := strconv.ParseInt(digits, 10, 64)
	return number, ok && ok2 && err == nil && number >= 0 && file == name(number)
}

// list returns the numbers of the checkpoints in a directory, the newest first. If there is no directory, it returns
// none.
func list(dir string) (numbers []int64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if n, ok := numberOf(e.Name()); ok {
			numbers = append(numbers, n)
		}
	}
	slices.SortFunc(numbers, func(a, b int64) int { return cmp.Compare(b, a) })
	return numbers, err
}

// newestImage returns the newest image in dir that isn't damaged, or nil. It calls note for each newer checkpoint that is
// damaged. last is the greatest number of a checkpoint in dir. newestImage returns an error if a file can't be read or is
// of another version, because this file may be intact.
func newestImage(dir string, note func(string)) (m *image, last int64, err error) {
	numbers, err := list(dir)
	if err != nil {
		return nil, 0, folderError(err)
	}
	for _, n := range numbers {
		path := filepath.Join(dir, name(n))
		if m, err = load(path); err == nil {
			m.number = n // the name counts, not the number in the file
			return m, numbers[0], nil
		}
		last = numbers[0]
		if !errors.Is(err, errDamaged) {
			return nil, 0, fmt.Errorf("%s can't be used: %w: mend that, or name an empty folder", path, err)
		}
		note(fmt.Sprintf("%s can't be used: %v", path, err))
	}
	return nil, last, nil
}
