// Package beam is the folder of halfspace-beam: the trainings of halfspace with passes over the rows on Apache Beam. It is a
// module of its own, so that users of halfspace don't inherit Beam's dependencies. The guide is docs/distributed.md.
package beam
