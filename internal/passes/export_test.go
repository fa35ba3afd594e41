package passes

import "reflect"

// Types returns the types of the arguments and results of all tasks and views.
func Types() (all []reflect.Type) {
	for _, t := range tasks {
		all = append(all, t.argsType, t.ownType, t.resultType)
	}
	for _, v := range views {
		all = append(all, v.argsType)
	}
	return all
}
