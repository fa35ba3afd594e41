package store_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"halfspace/dataset"
	"halfspace/store"
)

// memory is a store of objects in memory.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
}

type object struct {
	address string
	text    []byte
	*bytes.Reader
}

func (o object) Name() string               { return path.Base(o.address) }
func (o object) Mode() fs.FileMode          { return 0o444 }
func (o object) ModTime() time.Time         { return time.Time{} }
func (o object) IsDir() bool                { return false }
func (o object) Size() int64                { return int64(len(o.text)) }
func (o object) Sys() any                   { return store.Version(fmt.Sprint(len(o.text))) }
func (o object) Stat() (fs.FileInfo, error) { return o, nil }
func (o object) Close() error               { return nil }

func (m *memory) find(address string) (object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, exists := m.objects[address]
	if !exists {
		return object{}, fmt.Errorf("%s: %w", address, fs.ErrNotExist)
	}
	return object{address, text, bytes.NewReader(text)}, nil
}

func (m *memory) Open(address string, _ fs.FileInfo) (store.File, error) { return m.find(address) }
func (m *memory) Stat(address string) (fs.FileInfo, error)               { return m.find(address) }

func (m *memory) List(prefix string) (all []string, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for address := range m.objects {
		if strings.HasPrefix(address, prefix) {
			all = append(all, address)
		}
	}
	slices.Sort(all)
	return all, nil
}

func (m *memory) Put(_ context.Context, address string, f *os.File) error {
	text, err := io.ReadAll(f)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[address] = text
	return err
}

// Two CSV files in a store of the program become rows.
func Example() {
	store.Register("vault", &memory{objects: map[string][]byte{
		"vault://sales/1.csv": []byte("price,sold\n3,yes\n9,no\n"),
		"vault://sales/2.csv": []byte("price,sold\n2,yes\n8,no\n"),
	}})
	defer store.Register("vault", nil)
	rows, err := dataset.Load(context.Background(), "vault://sales/*.csv", dataset.Options{Label: "sold"})
	if err != nil {
		panic(err)
	}
	fmt.Println(rows.Rows(), rows.Spec().Classes)
	// Output: 4 [no yes]
}
