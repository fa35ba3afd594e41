package column

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"

	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// Lines are consecutive lines of a text file.
type Lines struct{ First, Last int64 }

// A Reject is lines of a file that are no row, the reason, and the text of the lines.
type Reject struct {
	File string
	Lines
	Reason string
	Text   string
	Err    error // the reason, and advice
}

// Rejects are the lines of text files that are left out because they can't be read. The file of the rejects is CSV, with the columns
// file, line, reason and text.
type Rejects struct {
	path  string // "": the rejects are counted only
	mu    sync.Mutex
	first []Reject           // the first few, if the rejects are counted only
	files map[string][]Lines // of each examined file, in ascending order
}

// NewRejects returns the rejects of no file. Path gets the rejects of each examined file.
func NewRejects(path string) *Rejects { return &Rejects{path: path, files: map[string][]Lines{}} }

func (r *Rejects) Path() string { return r.path }

// Of returns the rejects of a file. known is true if the file was examined.
func (r *Rejects) Of(file string) (rejects []Lines, known bool) {
	if r == nil {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rejects, known = r.files[file]
	return rejects, known
}

// Lenient returns true if a text among many numbers is a reject even in the first rows, which otherwise make a column of text of it.
func (r *Rejects) Lenient() bool { return r != nil && r.path != "" }

// From returns the rejects from a line on.
func From(rejects []Lines, line int64) []Lines {
	i, _ := slices.BinarySearchFunc(rejects, line, func(l Lines, line int64) int { return int(min(1, max(-1, l.First-line))) })
	return rejects[i:]
}

// Examine writes the rejects of files after the rejects of the files examined before. find calls its argument with each reject.
func (r *Rejects) Examine(ctx context.Context, examined []string, find func(add func(Reject) error) error) (err error) {
	if r.path == "" {
		return r.count(examined, find)
	}
	before, err := r.before()
	if err != nil {
		return err
	}
	f, err := files.CreateContext(ctx, r.path)
	if err != nil {
		return message.Errorf("--rejects: %w", err)
	}
	defer f.Abort()
	if before != nil {
		_, err = io.Copy(f, before)
		if err = errors.Join(err, before.Close()); err != nil {
			return PathError(r.path, err)
		}
	}
	w := csv.NewWriter(f)
	if len(r.files) == 0 {
		err = w.Write([]string{"file", "line", "reason", "text"})
	}
	found := map[string][]Lines{}
	for _, path := range examined {
		found[path] = nil
	}
	if err == nil {
		err = find(func(one Reject) error {
			found[one.File] = append(found[one.File], one.Lines)
			return w.Write([]string{one.File, strconv.FormatInt(one.First, 10), one.Reason, one.Text})
		})
	}
	if w.Flush(); err == nil {
		err = f.Commit()
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, rejects := range found {
		r.files[path] = rejects
	}
	return nil
}

// mostFirst is the number of rejects that are kept for a message.
const mostFirst = 4

// Counted returns the number of all rejects, and the first few.
func (r *Rejects) Counted() (n int64, first []Reject) {
	for _, rejects := range r.files {
		n += int64(len(rejects))
	}
	return n, r.first
}

// count is Examine without a file.
func (r *Rejects) count(examined []string, find func(add func(Reject) error) error) error {
	for _, path := range examined {
		r.files[path] = nil
	}
	return find(func(one Reject) error {
		if r.files[one.File] = append(r.files[one.File], one.Lines); len(r.first) < mostFirst {
			r.first = append(r.first, one)
		}
		return nil
	})
}

// before opens the file with the rejects so far. It returns nil if none were written, or if they went to a pipe or a device.
func (r *Rejects) before() (*os.File, error) {
	if info, err := os.Stat(r.path); len(r.files) == 0 || errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := os.Open(r.path)
	if err != nil {
		return nil, PathError(r.path, err)
	}
	return f, nil
}

// Notes returns a line about the rejects of files, if there are any.
func (r *Rejects) Notes(paths []string) []string {
	n := int64(0)
	for _, path := range paths {
		rejects, _ := r.Of(path)
		n += int64(len(rejects))
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s left out that can't be read: see %s", humanize.Files(paths), humanize.Plural(n, "line"), r.path)}
}
