package setting

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"lockstep/cluster"
	"lockstep/internal/regular"
)

// Source is where the values of a configuration come from; later ones win over earlier ones.
type Source struct {
	Catalog     *Catalog            // the names that the program knows
	Base        *Config             // replaces the defaults; nil: they hold
	BaseName    string              // origin of its values, such as "recipe lenet-mnist"
	File        string              // path of a configuration file; "": none
	Environment cluster.Environment // LOCKSTEP_TRAIN_<NAME>, LOCKSTEP_ISA
	Flags       map[string]string   // what was given on the command line, by name
}

// Origins holds the origin of each setting's value: "default", "derived", or the place where a user gave it,
// such as "--batch", "LOCKSTEP_TRAIN_BATCH" or "run.yaml:3:8".
type Origins map[string]string

const (
	fromDefault = "default"
	fromRule    = "derived"
)

// Resolve merges the defaults or the base, the file, the environment and the flags, in this order, and
// completes the result. With the flag resume, all other values come from that run's newest valid checkpoint
// unless flags give them. Every invalid value becomes one line of a *UsageError, which names its origin.
func Resolve(s Source) (Config, Origins, error) {
	r := newResolver(s.Catalog)
	if folder := s.Flags["resume"]; folder != "" {
		if err := r.resume(folder, s); err != nil {
			return Config{}, nil, err
		}
	} else {
		if s.Base != nil {
			r.start(*s.Base, s.BaseName)
			r.reopen(s.Flags)
		}
		if s.File != "" {
			if err := r.readFile(s.File); err != nil {
				return Config{}, nil, err
			}
		}
		r.readEnvironment(s.Environment)
	}
	r.config.Catalog = s.Catalog
	r.takeFlags(s.Flags)
	r.takeHosts(s)
	r.drop()
	problems := r.problems
	if len(problems) == 0 {
		for _, p := range r.config.problems() {
			problems = append(problems, problem{r.where(p.where), p.err})
		}
	}
	if err := usageError(problems); err != nil {
		return Config{}, nil, err
	}
	return r.complete(s.Environment), r.origins, nil
}

// resolver collects values and problems from one source after another.
type resolver struct {
	config   Config
	origins  Origins
	settings []Setting
	problems []problem
}

// newResolver returns a resolver that has the defaults, and whose settings are those of its configuration.
func newResolver(k *Catalog) *resolver {
	r := &resolver{config: Default(), origins: Origins{}}
	r.config.Catalog = k
	r.settings = r.config.table()
	return r
}

// differing returns the names of the settings that differ between two configurations.
func differing(a, b Config) []string {
	var names []string
	others := b.table()
	for i, s := range a.table() {
		if s.text() != others[i].text() {
			names = append(names, s.Name)
		}
	}
	return names
}

// start takes the values of a configuration other than the default one.
func (r *resolver) start(c Config, name string) {
	for _, setting := range differing(c, r.config) {
		r.origins[setting] = name
	}
	r.config = c
}

// refuse adds a problem of what stands somewhere.
func (r *resolver) refuse(where, format string, args ...any) {
	r.problems = append(r.problems, problem{where, fmt.Errorf(format, args...)})
}

func (r *resolver) find(name string) *Setting {
	i := slices.IndexFunc(r.settings, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &r.settings[i]
}

func (r *resolver) names() []string {
	names := make([]string, len(r.settings))
	for i, s := range r.settings {
		names[i] = s.Name
	}
	return names
}

// set takes one value; where is its origin.
func (r *resolver) set(name, text, where string) {
	s := r.find(name)
	if s == nil {
		r.refuse(where, "unknown key %.80q%s", name, Hint(name, r.names()))
		return
	}
	var err error
	if !utf8.ValidString(text) { // no configuration file could hold it
		err = fmt.Errorf("%.80q is not UTF-8", text)
	} else {
		err = s.set(text)
	}
	if err == nil && s.isOpen() {
		err = fmt.Errorf("%.80q is out of range; leave it out for the default", text)
	}
	if err != nil {
		r.refuse(pointTo(name, where), "%w", err)
		return
	}
	if name == "resume" && where != fromResume {
		r.refuse(pointTo(name, where), "is for the command line only")
	}
	r.origins[name] = where
}

// takeFlags takes what was given on the command line.
func (r *resolver) takeFlags(flags map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		r.set(name, flags[name], "--"+name)
	}
}

// readEnvironment takes the variables that are settings, and refuses those that look like one.
func (r *resolver) readEnvironment(e cluster.Environment) {
	if isa := e[cluster.EnvISA]; isa != "" {
		r.set("isa", isa, cluster.EnvISA)
	}
	for _, variable := range slices.Sorted(maps.Keys(e)) {
		if name, ok := strings.CutPrefix(variable, cluster.EnvTrain); ok && e[variable] != "" {
			name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
			r.set(name, e[variable], variable)
		}
	}
}

// maxFile is a size that no configuration file has.
const maxFile = 64 << 10

// readFile takes the lines of a configuration file, which maps names of settings to values. A list is its
// values with commas between.
func (r *resolver) readFile(path string) error {
	text, err := regular.ReadFile(path, maxFile)
	if err != nil {
		return Refuse("--config: %v", err)
	}
	lines, err := ReadSheet(path, text)
	for _, l := range lines {
		if l.Parts != nil {
			return Refuse("%s: %s: want a value, or a list of values", l.Where, l.Name)
		}
		r.set(l.Name, strings.Join(l.Texts, ","), l.Where)
	}
	return err
}

// where returns the origin of a setting's value for an error.
func (r *resolver) where(name string) string {
	if origin, ok := r.origins[name]; ok {
		return pointTo(name, origin)
	}
	return "--" + name
}

// pointTo adds the setting's name to an origin that does not contain it: a place in a file, a recipe, or the
// run that is resumed.
func pointTo(name, origin string) string {
	isNamed := origin == "--"+name || origin == cluster.EnvISA || strings.HasPrefix(origin, cluster.EnvTrain)
	if isNamed {
		return origin
	}
	return origin + ": " + name
}

// complete decides the open settings and records the origin of values that were not given, or given as auto.
func (r *resolver) complete(e cluster.Environment) Config {
	done := r.config.On(e).Complete()
	for _, name := range differing(done, r.config) {
		r.origins[name] = fromRule
	}
	for _, name := range r.names() {
		r.origins[name] = cmp.Or(r.origins[name], fromDefault)
	}
	return done
}

// Changed returns o with another origin for the settings that differ between two configurations; nil stays
// nil.
func (o Origins) Changed(from, to Config, origin string) Origins {
	if o == nil {
		return nil
	}
	changed := maps.Clone(o)
	for _, name := range differing(from, to) {
		changed[name] = origin
	}
	return changed
}

// FromFlags returns the words of a command line that give the settings again which flags gave, but for
// --resume.
func (o Origins) FromFlags(c Config) (words []string) {
	for _, s := range c.table() {
		flag := "--" + s.Name
		switch {
		case o[s.Name] != flag || flag == fromResume:
		case s.IsSwitch():
			words = append(words, flag+"="+s.text())
		default:
			words = append(words, flag, s.text())
		}
	}
	return words
}

// Reopen returns c, which is complete, with threads and link open again unless they were given: they were
// not if they are open in given, which c was completed from, or derived according to its origins.
func (c Config) Reopen(given Config, origins Origins) Config {
	if given.Threads == 0 || origins["threads"] == fromRule {
		c.Threads = 0
	}
	if given.Link == auto || origins["link"] == fromRule {
		c.Link = auto
	}
	return c
}

// ReadFile reads the configuration of a run, even if it could not run on this machine.
func ReadFile(path string) (Config, error) {
	r := newResolver(nil)
	if err := r.readFile(path); err != nil {
		return Config{}, err
	}
	if len(r.problems) > 0 {
		return Config{}, Refuse("%s: %v", r.problems[0].where, r.problems[0].err)
	}
	return r.config, nil
}

// OwnShards returns the number of shards of a run that was given none, and reports whether it follows the
// number of workers, so that one worker would have another by default and end with other bits.
func (o Origins) OwnShards(c Config) (shards int, isOwn bool) {
	return c.Shards, o["shards"] == fromRule && c.Shards != c.UsualShards(1) && c.Inexact() == ""
}

// Value is the text of one setting, as a flag takes it.
type Value struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Where string `json:"-"` // origin, for an error; "": the flag of this name
}

// ValuesOf returns the settings that a way to train stands for: a strategy, alone or with settings of its
// own, such as "ps:servers=2+rebalance". A switch needs no value.
func ValuesOf(way string) []Value {
	name, options, _ := strings.Cut(way, ":")
	values := []Value{{Name: "strategy", Text: name}}
	for part := range strings.SplitSeq(options, "+") {
		if name, value, _ := strings.Cut(part, "="); part != "" {
			values = append(values, Value{Name: name, Text: value, Where: "strategy " + way})
		}
	}
	return values
}

// As returns c as a way to train, as [Config.With] does.
func (c Config) As(way string) (Config, error) { return c.With(ValuesOf(way)) }

// With returns c with some settings changed, in order, and without looking at their combination. A length
// given anew replaces that of c, and a new number of workers opens what follows from it. Switches may have
// the text "". It fails with a *UsageError that has a line for each unknown name and each wrong text.
func (c Config) With(values []Value) (Config, error) {
	r := newResolver(c.Catalog)
	r.config = c
	texts := map[string]string{}
	for _, v := range values {
		texts[v.Name] = v.Text
	}
	r.reopen(texts)
	for _, v := range values {
		if s := r.find(v.Name); s != nil && s.IsSwitch() && v.Text == "" {
			v.Text = "true"
		}
		if v.Where == "" {
			v.Where = "--" + v.Name
		}
		r.set(v.Name, v.Text, v.Where)
	}
	return r.config, usageError(r.problems)
}
