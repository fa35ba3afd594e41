// Package fit does whole trainings for Go programs: one call on any block.Source gives a complete *model.Model and a report.
//
// A Learner is a learning algorithm with its options, such as Logistic(logistic.Options{L2: 1}). Learn learns from all
// rows. Options hold rows out, cross-validate, choose from a grid, or give classes weights. CrossValidate judges a
// learner on rows that it didn't learn from, and Compare judges several on the same folds. LearnOnline predicts each
// row before it learns from it.
//
// The model equals that of the command with the same options and seed, byte for byte. An option that the learner
// doesn't use is an error.
//
// Package fit knows neither files nor Arrow: package dataset opens files as sources, and package block makes sources of rows in memory.
// A new learner is one package with a description, and one line in Learners.
package fit
