package convert

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// FromPolicy takes a policy of the API; nil sets nothing.
func FromPolicy(p *pb.Policy) conversation.Policy {
	if p == nil { // as in most builds
		return conversation.Policy{}
	}
	out := &conversation.Policy{}
	fromSettings(reflect.ValueOf(out).Elem(), reflect.ValueOf(p).Elem())
	return *out
}

// ToPolicy returns nil for a policy that sets nothing.
func ToPolicy(p conversation.Policy) *pb.Policy {
	if p == (conversation.Policy{}) {
		return nil
	}
	out, set := &pb.Policy{}, p // a copy, so that one that sets nothing takes no memory
	toSettings(reflect.ValueOf(out).Elem(), reflect.ValueOf(&set).Elem())
	return out
}

// FromModelProfile takes a model's profile of the API.
func FromModelProfile(p *pb.ModelProfile) conversation.ModelProfile {
	var out conversation.ModelProfile
	fromSettings(reflect.ValueOf(&out).Elem(), reflect.ValueOf(p).Elem())
	return out
}

// ToModelProfile gives a model's profile to the API.
func ToModelProfile(p conversation.ModelProfile) *pb.ModelProfile {
	out := &pb.ModelProfile{}
	toSettings(reflect.ValueOf(out).Elem(), reflect.ValueOf(&p).Elem())
	return out
}

// fromSettings takes what is set in a policy of the API, and in those within it.
func fromSettings(to, from reflect.Value) {
	for _, s := range settingsOf(from.Type()) {
		if v := from.Field(s.api); !v.IsZero() {
			fromSetting(to.Field(s.domain), v, s.inverted)
		}
	}
}

func fromSetting(to, from reflect.Value, inverted bool) {
	switch v := from.Interface().(type) {
	case *durationpb.Duration:
		to.Set(reflect.ValueOf(FromDuration(v)))
	case *pb.Expiration:
		if e := FromExpiration(v); e != nil {
			to.Set(reflect.ValueOf(*e))
		}
	case *pb.NameList:
		to.Set(reflect.ValueOf(new(v.GetNames())))
	case *pb.RoleList:
		to.Set(reflect.ValueOf(new(numbers[conversation.Role](v.GetRoles()))))
	case *pb.MemoryScopeList:
		to.Set(reflect.ValueOf(new(numbers[conversation.MemoryScope](v.GetScopes()))))
	default:
		switch {
		case inverted:
			to.Set(reflect.ValueOf(new(!from.Elem().Bool())))
		case from.Kind() == reflect.Int32: // an enum, whose numbers are the domain's
			to.SetInt(from.Int())
		case to.Kind() == reflect.Struct:
			fromSettings(to, from.Elem())
		default:
			to.Set(from)
		}
	}
}

// toSettings gives what is set in a policy, and in those within it, to the API.
func toSettings(to, from reflect.Value) {
	for _, s := range settingsOf(to.Type()) {
		if v := from.Field(s.domain); !v.IsZero() {
			toSetting(to.Field(s.api), v, s.inverted)
		}
	}
}

func toSetting(to, from reflect.Value, inverted bool) {
	switch v := from.Interface().(type) {
	case *time.Duration:
		to.Set(reflect.ValueOf(durationpb.New(*v)))
	case conversation.Expiration:
		to.Set(reflect.ValueOf(ToExpiration(&v)))
	case *[]string:
		to.Set(reflect.ValueOf(&pb.NameList{Names: *v}))
	case *[]conversation.Role:
		to.Set(reflect.ValueOf(&pb.RoleList{Roles: numbers[pb.Role](*v)}))
	case *[]conversation.MemoryScope:
		to.Set(reflect.ValueOf(&pb.MemoryScopeList{Scopes: numbers[pb.MemoryScope](*v)}))
	default:
		switch {
		case inverted:
			to.Set(reflect.ValueOf(new(!from.Elem().Bool())))
		case from.Kind() == reflect.Int8:
			to.SetInt(from.Int())
		case from.Kind() == reflect.Struct:
			to.Set(reflect.New(to.Type().Elem()))
			toSettings(to.Elem(), from)
		default:
			to.Set(from)
		}
	}
}

// setting is a field of a policy of the API, and the domain's of that name.
type setting struct {
	api, domain int
	inverted    bool // the domain keeps what is switched off
}

// settingsOf are the settings of a type of the API: a policy, one within it, or a model's profile.
func settingsOf(api reflect.Type) []setting { return settings()[api] }

var settings = sync.OnceValue(func() map[reflect.Type][]setting {
	out := map[reflect.Type][]setting{}
	addSettings(out, reflect.TypeFor[pb.Policy](), reflect.TypeFor[conversation.Policy]())
	addSettings(out, reflect.TypeFor[pb.ModelProfile](), reflect.TypeFor[conversation.ModelProfile]())
	return out
})

func addSettings(out map[reflect.Type][]setting, api, domain reflect.Type) {
	for i := range api.NumField() {
		f := api.Field(i)
		if !f.IsExported() {
			continue
		}
		same := SettingNamed(domain, f.Name)
		out[api] = append(out[api], setting{api: i, domain: same.Index[0], inverted: same.Name == "Off"})
		if same.Type.Kind() == reflect.Struct && same.Type != reflect.TypeFor[conversation.Expiration]() {
			addSettings(out, f.Type.Elem(), same.Type)
		}
	}
}

// SettingNamed is the field of a policy of the domain that the API calls so, in any spelling. It panics if there is none: the first conversion of
// a policy tells.
func SettingNamed(domain reflect.Type, name string) reflect.StructField {
	name = strings.ReplaceAll(name, "_", "")
	field, ok := domain.FieldByNameFunc(func(n string) bool {
		switch strings.ToLower(name) {
		case "enabled": // some policies are kept by what they switch off
			return n == "On" || n == "Off"
		case "protectedtoolprefixes":
			return n == "ProtectedPrefixes"
		default:
			return strings.EqualFold(n, name)
		}
	})
	if !ok {
		panic("convert: " + domain.String() + " has no " + name)
	}
	return field
}

// FromDuration takes a time that may be left out.
func FromDuration(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	return new(d.AsDuration())
}

// numbers are the values of an enum as those of its twin. An empty list is nil, as protobuf reads it.
func numbers[To, From ~int8 | ~int32](list []From) []To {
	return Each(list, func(v From) To { return To(v) })
}
