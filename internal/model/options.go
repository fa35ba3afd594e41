package model

import (
	"reflect"
	"strings"
)

// Set sets the option of that name, such as max-updates, to a string, an int64 or a float64. If Options has no field
// for the option, Set stores it in Others.
func (o *Options) Set(name string, value any) {
	field := o.field(name)
	switch {
	case !field.IsValid():
		if o.Others == nil {
			o.Others = map[string]any{}
		}
		o.Others[name] = value
	case field.Kind() == reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		field.Elem().Set(reflect.ValueOf(value))
	default:
		field.Set(reflect.ValueOf(value))
	}
}

// Get returns the option of that name, or nil if it is zero or absent.
func (o *Options) Get(name string) any {
	field := o.field(name)
	switch {
	case !field.IsValid():
		return o.Others[name]
	case field.IsZero():
		return nil
	case field.Kind() == reflect.Pointer:
		field = field.Elem()
	}
	return field.Interface()
}

// field returns the field whose key in the file is the name with underscores instead of dashes.
func (o *Options) field(name string) reflect.Value {
	key, v := strings.ReplaceAll(name, "-", "_"), reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == key {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}
