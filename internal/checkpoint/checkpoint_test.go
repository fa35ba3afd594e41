package checkpoint

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"halfspace/internal/require"
)

// A counter is a learner that counts.
type counter struct {
	n    int64
	w    []float32
	list []float64
}

func (c *counter) state(w *Walk) {
	w.Int(&c.n)
	Values(w, c.w)
	Slice(w, &c.list)
}

func open(t *testing.T, opt Options) (*Run, *[]string) {
	t.Helper()
	notes := new([]string)
	opt.Note = func(text string) { *notes = append(*notes, text) }
	r, err := Open(opt)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r, notes
}

// TestWalk: what is written is read again, whatever the values.
func TestWalk(t *testing.T) {
	type all struct {
		i     int64
		n     int
		u     uint64
		f     float64
		b     bool
		s     string
		fixed []uint32
		free  []float32
		bits  []bool
		list  []fact
	}
	walk := func(a *all) func(*Walk) {
		return func(w *Walk) {
			w.Int(&a.i)
			w.Count(&a.n)
			w.Word(&a.u)
			w.Float(&a.f)
			w.Bool(&a.b)
			w.Text(&a.s)
			Values(w, a.fixed)
			Slice(w, &a.free)
			Slice(w, &a.bits)
			List(w, &a.list, func(f *fact) { w.Text(&f.name) })
		}
	}
	want := all{math.MinInt64, 7, math.MaxUint64, math.Inf(-1), true, "a\x00é", []uint32{1, 2}, []float32{-0, 1e-45}, []bool{true, false}, []fact{{name: "x"}, {}}}
	data, err := Write(walk(&want))
	require.NoError(t, err)
	got := all{fixed: make([]uint32, 2), free: make([]float32, 9), list: make([]fact, 1)}
	if err := Read(data, walk(&got)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for n := range data {
		if err := Read(data[:n], walk(&all{fixed: make([]uint32, 2)})); err == nil {
			t.Errorf("the first %d of %d bytes were read", n, len(data))
		}
	}
	if err := Read(append(data, 0), walk(&all{fixed: make([]uint32, 2)})); err == nil {
		t.Error("a byte was left over")
	}
	if err := Read(data, walk(&all{fixed: make([]uint32, 3)})); err == nil {
		t.Error("2 elements were read where 3 belong")
	}
}

// TestStruct: a structure is read as it was written, its slices in place of others. Another length than the tag's is an
// error that says so, also within a list.
func TestStruct(t *testing.T) {
	type pair struct {
		S []float64 `length:"columns"`
	}
	type all struct {
		Start time.Time
		N     int64
		W     []float64 `length:"columns"`
		Pairs []pair
		Done  bool
	}
	sizes := map[string]int{"columns": 2}
	want := all{N: -1, W: []float64{math.Copysign(0, -1), math.Inf(1)}, Pairs: []pair{{[]float64{1, 2}}}, Done: true}
	data, err := Write(func(w *Walk) { Struct(w, &want, sizes) })
	require.NoError(t, err)
	got := all{W: make([]float64, 5), Pairs: make([]pair, 3)}
	require.NoError(t, Read(data, func(w *Walk) { Struct(w, &got, sizes) }))
	if got.N != -1 || !math.Signbit(got.W[0]) || !reflect.DeepEqual(got.Pairs, want.Pairs) || !got.Done || len(got.W) != 2 {
		t.Errorf("%+v", got)
	}
	for _, wrong := range []all{{W: make([]float64, 3)}, {W: make([]float64, 2), Pairs: []pair{{make([]float64, 1)}}}} {
		data, err := Write(func(w *Walk) { Struct(w, &wrong, map[string]int{"columns": len(wrong.W)}) })
		if err == nil {
			err = Read(data, func(w *Walk) { Struct(w, &got, sizes) })
		}
		require.Error(t, err, "elements, and there are 2 columns")
	}
}

// TestClock: the time that passed before a checkpoint counts after it.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		time.Sleep(time.Hour)
		data, _ := Write(func(w *Walk) { w.Clock(&start) })
		time.Sleep(time.Hour)
		var again time.Time
		if err := Read(data, func(w *Walk) { w.Clock(&again) }); err != nil || time.Since(again) != time.Hour {
			t.Errorf("%v passed, %v", time.Since(again), err)
		}
	})
}

// saved returns a directory with checkpoints of a counter at 1 and at 2.
func saved(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	r, _ := open(t, Options{Dir: dir})
	require.NoError(t, r.CheckFact("eta", "0.5"))
	for i := range int64(3) {
		c := counter{n: i, w: []float32{1, 2}, list: []float64{float64(i)}}
		r.Part(4).Mark(i, 10*i, c.state)
		require.NoError(t, r.Save())
	}
	require.Error(t, require.ErrorOf(Open(Options{Dir: dir, Resume: true})), "this run already")
	r.Close()
	return dir
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // as the lock
			names = append(names, e.Name())
		}
	}
	return names
}

// resumedCounter returns the counter in a directory, the visits and the notes.
func resumedCounter(t *testing.T, dir string) (c counter, visits int64, notes string) {
	t.Helper()
	c.w = make([]float32, 2)
	r, all := open(t, Options{Dir: dir, Resume: true})
	require.NoError(t, r.CheckFact("eta", "0.5"))
	if _, err := r.Part(4).Load(c.state); err != nil {
		t.Fatal(err)
	}
	visits, _ = r.ResumedVisits()
	r.Close()
	return c, visits, strings.Join(*all, "\n")
}

// TestRun: the last two checkpoints are kept, and a run goes on from the last one.
func TestRun(t *testing.T) {
	dir := saved(t)
	if got := filesIn(t, dir); !slices.Equal(got, []string{"checkpoint-000002.halfspace", "checkpoint-000003.halfspace"}) {
		t.Errorf("%q", got)
	}
	c, visits, _ := resumedCounter(t, dir)
	if c.n != 2 || !slices.Equal(c.w, []float32{1, 2}) || !slices.Equal(c.list, []float64{2}) || visits != 20 {
		t.Errorf("%+v after %d visits", c, visits)
	}
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrUnfinished) {
		t.Errorf("a new run over one that didn't finish: %v", err)
	}
	r, _ := open(t, Options{Dir: dir, Resume: true})
	err := r.CheckFact("eta", "0.25")
	require.Error(t, err, "eta is 0.25, and was 0.5 before")
	require.Error(t, r.CheckFact("beta", "1"), "was not given before")
	if err := r.Finish(); err != nil || !r.HasCheckpoint() {
		t.Fatal(err)
	}
	r.Close()
	fresh, _ := open(t, Options{Dir: dir})
	if loaded, err := fresh.Part(4).Load(c.state); loaded || err != nil {
		t.Errorf("a new run has a state (%v)", err)
	}
	require.NoError(t, fresh.Finish())
	if got := filesIn(t, dir); !slices.Equal(got, []string{"checkpoint-000005.halfspace"}) {
		t.Errorf("after a new run: %q", got)
	}
}

// TestNil: without a run there are no checkpoints.
func TestNil(t *testing.T) {
	var r *Run
	p := r.Part(0)
	p.AddState(nil)
	p.Mark(1, 1, nil)
	p.Pass(1, 1, nil)
	loaded, err := p.Load(nil)
	_, resumed := r.ResumedVisits()
	r.Close()
	if err := errors.Join(err, r.CheckFact("a", "b"), r.Save(), r.Finish()); err != nil || loaded || p.Due(1) || resumed || r.HasCheckpoint() {
		t.Errorf("%v, %v, %v, %v", err, loaded, p.Due(1), resumed)
	}
}

// TestDamaged: a newer checkpoint that was cut anywhere or has a wrong bit isn't used, but the older one. If both are damaged, the run
// ends.
func TestDamaged(t *testing.T) {
	dir := saved(t)
	path := filepath.Join(dir, name(3))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	put := func(data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}
	check := func(what string, i int) {
		m, last, err := newestImage(dir, func(string) {})
		if err != nil || last != 3 || m == nil || m.number != 2 {
			t.Fatalf("%s %d: %+v, %v", what, i, m, err)
		}
	}
	for n := range whole {
		put(whole[:n])
		check("cut at", n)
	}
	for i := range 8 * len(whole) {
		wrong := slices.Clone(whole)
		wrong[i/8] ^= 1 << (i % 8)
		if _, err := decode(wrong); err == nil {
			t.Errorf("bit %d is wrong, and the checkpoint is used", i)
		}
		if i%61 == 0 {
			put(wrong)
			check("bit", i)
		}
	}
	c, visits, notes := resumedCounter(t, dir)
	if c.n != 1 || visits != 10 || !strings.Contains(notes, path+" can't be used") {
		t.Errorf("%+v after %d visits: %s", c, visits, notes)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, name(2)), whole[:9], 0o600))
	for _, resume := range []bool{false, true} {
		if _, err := Open(Options{Dir: dir, Resume: resume}); err == nil {
			t.Errorf("two damaged checkpoints are no error (resume %v)", resume)
		}
	}
}

// cut cuts the file of a checkpoint.
func cut(t *testing.T, dir string, number int64) {
	t.Helper()
	require.NoError(t, os.Truncate(filepath.Join(dir, name(number)), 40))
}

// TestOthers: a file that may be whole is never passed over nor removed: one that can't be read, one of a later version, and a damaged
// one above a finished one. A damaged one that is passed over stays until there are two new checkpoints.
func TestOthers(t *testing.T) {
	later := append([]byte("halfspace-checkpoint/4\n"), make([]byte, sha256.Size)...)
	for _, put := range []func(path string) error{ // a later version, and a folder
		func(path string) error { return os.WriteFile(path, reseal(later), 0o600) },
		func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		dir := saved(t)
		require.NoError(t, put(filepath.Join(dir, name(3))))
		for _, resume := range []bool{false, true} {
			require.Error(t, require.ErrorOf(Open(Options{Dir: dir, Resume: resume})), name(3)+" can't be used")
		}
	}
	dir := saved(t)
	cut(t, dir, 3)
	r, _ := open(t, Options{Dir: dir, Resume: true})
	p, c := r.Part(4), new(counter)
	for i, want := range [][]string{{name(2), name(3), name(4)}, {name(4), name(5)}} {
		p.Mark(int64(i), 0, c.state)
		require.NoError(t, r.Save())
		if got := filesIn(t, dir); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	require.NoError(t, r.Finish())
	p.Mark(2, 0, c.state)
	require.NoError(t, r.Save())
	r.Close()
	cut(t, dir, 7)
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrUnfinished) {
		t.Errorf("a damaged checkpoint above a finished one: %v", err)
	}
}

// TestUnwritten: a checkpoint that can't be written is told once, and the training goes on.
func TestUnwritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	var notes []string
	r, err := Open(Options{Dir: dir, Epochs: 1, Note: func(text string) { notes = append(notes, text) }})
	require.NoError(t, err)
	r.Close() // its lock is in the folder, which goes with it, as there is no checkpoint
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	for epoch := range int64(4) {
		r.Part(0).Mark(epoch, epoch, new(counter).state)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "the training goes on without a new checkpoint") {
		t.Errorf("%q", notes)
	}
	if r.Save() == nil {
		t.Error("Save doesn't fail")
	}
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	require.Error(t, require.ErrorOf(Open(Options{Dir: dir})), "name another folder")
}

// FuzzDecode: bytes are refused, or are what encode returns.
func FuzzDecode(f *testing.F) {
	m := &image{number: 3, trainingTime: 5, facts: []fact{{"a", "b"}}, parts: []record{{1, 2, 3, []byte("state")}}}
	f.Add(m.encode())
	f.Add([]byte(format))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, try := range [][]byte{data, reseal(data)} {
			if m, err := decode(try); err == nil && !slices.Equal(m.encode(), try) {
				t.Errorf("%q becomes %q", try, m.encode())
			}
		}
		c := counter{w: make([]float32, 2)}
		if err := Read(data, c.state); err == nil {
			if again, err := Write(c.state); err != nil || !slices.Equal(again, data) {
				t.Errorf("%q becomes %q, %v", data, again, err)
			}
		}
	})
}

// reseal returns a file with the checksum that its bytes have.
func reseal(data []byte) []byte {
	body := data[:max(0, len(data)-sha256.Size)]
	sum := sha256.Sum256(body)
	return append(slices.Clone(body), sum[:]...)
}
