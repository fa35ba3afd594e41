package train

// For tests of package train_test.
var NewRecorder = newRecorder

type RecorderOptions = recorderOptions
