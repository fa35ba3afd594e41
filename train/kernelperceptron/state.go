package kernelperceptron

import (
	"errors"

	"halfspace/internal/checkpoint"
)

// mark gives the state of the training to the checkpoint, which takes it if a save is due or the last one is old.
func (l *training) mark() {
	visits := int64(0)
	for _, m := range l.binaries {
		visits = max(visits, m.visits)
	}
	l.opt.Checkpoint.Pass(l.epoch, visits, l.state)
}

// state saves or restores the position of the training: before a window, or between two visits of an epoch without
// windows. The inner products are not part of the state.
func (l *training) state(w *checkpoint.Walk) {
	w.Clock(&l.start)
	w.Int(&l.epoch)
	w.Count(&l.window)
	w.Count(&l.place)
	w.Bool(&l.inside)
	if l.place > l.n {
		w.Fail(errors.New("it is at no row"))
	}
	for _, m := range l.binaries {
		m.state(w, l.n)
	}
}

func (m *binary) state(w *checkpoint.Walk, n int) {
	w.Int(&m.visits)
	w.Int(&m.streak)
	w.Count(&m.next)
	w.Count(&m.before)
	w.Bool(&m.done)
	w.Bool(&m.converged)
	checkpoint.Values(w, m.scores)
	rows, visits := make([]uint32, len(m.mistakes)), make([]int64, len(m.mistakes))
	for k, mistake := range m.mistakes {
		rows[k], visits[k] = mistake.row, mistake.visit
	}
	checkpoint.Slice(w, &rows)
	checkpoint.Slice(w, &visits)
	if len(rows) != len(visits) || m.next > n || m.streak < 0 || m.before > len(rows) {
		w.Fail(errors.New("its mistakes don't belong together"))
		return
	}
	m.mistakes = m.mistakes[:0]
	for k, row := range rows {
		if int(row) >= n {
			w.Fail(errors.New("it has another row"))
			return
		}
		m.mistakes = append(m.mistakes, mistake{row, visits[k]})
	}
}
