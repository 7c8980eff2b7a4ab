package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// allFunctions has a function for every kind of task, which adds the name to what ran.
func allFunctions(ran func(name string)) graph.Functions {
	sub := graph.New("sub")
	sub.Task(func(context.Context) error { ran("in sub"); return nil })
	return graph.Functions{
		Task: func(name string) func(context.Context) error {
			return func(context.Context) error { ran(name); return nil }
		},
		Condition: func(name string) func(context.Context) (int, error) {
			return func(context.Context) (int, error) { ran(name); return 1, nil }
		},
		MultiCondition: func(name string) func(context.Context) ([]int, error) {
			return func(context.Context) ([]int, error) { ran(name); return []int{0, 1}, nil }
		},
		Subflow: func(name string) func(context.Context, *graph.Graph) error {
			return func(context.Context, *graph.Graph) error { ran(name); return nil }
		},
		External: func(name string) func(context.Context, func(error)) error {
			return func(_ context.Context, done func(error)) error { ran(name); done(nil); return nil }
		},
		Retry: func(name string) func(context.Context) error {
			return func(context.Context) error { ran(name); return nil }
		},
		When: func(string) func(error) bool { return func(error) bool { return true } },
		Module: func(_, name string) *graph.Graph {
			if name == "missing" {
				return nil
			}
			return sub
		},
	}
}

const allKinds = `{"name":"all","semaphores":[{"permits":1},{"permits":3}],"tasks":[` +
	`{"name":"first","priority":"high","limits":[{"semaphore":0,"permits":1}],"successors":["which"]},` +
	`{"name":"which","kind":"condition","successors":["#2","many"]},` +
	`{},` +
	`{"name":"many","kind":"multi-condition","successors":["flow","apart","m"]},` +
	`{"name":"flow","kind":"subflow","limits":[{"semaphore":1,"permits":2},{"semaphore":0,"permits":1}],` +
	`"successors":["outside","again"]},` +
	`{"name":"apart","kind":"detached subflow","limits":[{"semaphore":0,"permits":1}]},` +
	`{"name":"m","kind":"module","graph":"sub","priority":"low"},` +
	`{"name":"outside","kind":"external task"},` +
	`{"name":"again","kind":"retried task",` +
	`"retry":{"tries":5,"pause":"100ms","maxPause":"1m30s","jitter":0.25,"when":true},"successors":["once"]},` +
	`{"name":"once","kind":"retried task","retry":{"tries":1}}]}`

// TestJSON: a graph of every kind is read, runs, and is written as it was.
func TestJSON(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	var ran []string
	g, err := graph.FromJSON([]byte(allKinds), allFunctions(func(name string) { ran = append(ran, name) }))
	require.NoError(t, err)
	for range 2 { // permits come back
		ran = nil
		require.NoError(t, run(t, ex, t.Context(), g))
		require.ElementsMatch(t, []string{"first", "which", "many", "flow", "apart", "outside", "again", "once"}, ran)
	}
	text, err := json.Marshal(g)
	require.NoError(t, err)
	require.Equal(t, allKinds, string(text))
	require.Equal(t, []string{"first", "which", "#2", "many", "flow", "apart", "m", "outside", "again", "once"},
		names(g.Tasks()))
}

// TestJSONModuleTwice: a graph that has one graph as a module several times is written and read, as a copy of it is.
func TestJSONModuleTwice(t *testing.T) {
	const want = `{"name":"g","tasks":[{"kind":"module","graph":"sub","successors":["#1","last"]},` +
		`{"kind":"module","graph":"sub","successors":["last"]},{"name":"last","kind":"module","graph":"sub"}]}`
	ex := newExecutor(t, executor.Config{Workers: 1})
	ran := 0
	functions := allFunctions(func(string) { ran++ })
	sub := functions.Module("", "sub")
	g := graph.New("g")
	first, second, last := g.Module(sub), g.Module(sub), g.Module(sub).Named("last")
	first.Precede(second, last)
	second.Precede(last)
	functions.Module = func(task, name string) *graph.Graph {
		require.Contains(t, []string{"#0", "#1", "last"}, task)
		require.Equal(t, "sub", name)
		return sub
	}
	text, err := g.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, want, string(text))
	again, err := graph.FromJSON(text, functions)
	require.NoError(t, err)
	copied, _ := g.Clone("g")
	for _, g := range []*graph.Graph{g, again, copied} {
		text, err := g.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, want, string(text))
		require.Equal(t, []string{"sub#0", "sub#1", "last"}, names(g.Tasks()))
		ran = 0
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Equal(t, 3, ran)
	}
}

// TestJSONSemaphores: semaphores can be those of the program.
func TestJSONSemaphores(t *testing.T) {
	s := graph.NewSemaphore(2)
	f := allFunctions(func(string) {})
	f.Semaphore = func(place, permits int) *graph.Semaphore {
		require.Equal(t, []int{0, 7}, []int{place, permits})
		return s
	}
	const in = `{"name":"g","semaphores":[{"permits":7}],"tasks":[{"limits":[{"semaphore":0,"permits":2}]}]}`
	g, err := graph.FromJSON([]byte(in), f)
	require.NoError(t, err)
	for task := range g.Tasks() {
		for own, n := range task.Acquires() {
			require.Same(t, s, own)
			require.Equal(t, 2, n)
		}
	}
	s = nil
	_, err = graph.FromJSON([]byte(in), f)
	require.EqualError(t, err, `graph "g": reading JSON: no semaphore was given for number 0`)
}

// TestJSONRetry: the policy of a task is that of the JSON, and its When that of the program.
func TestJSONRetry(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	policy := graph.RetryPolicy{Tries: 3, Pause: time.Nanosecond, When: func(error) bool { return false }}
	g.Retry(policy, nothing).Named("picky")
	policy.When = nil
	g.Retry(policy, nothing).Named("any")
	text, err := g.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `{"name":"g","tasks":[`+
		`{"name":"picky","kind":"retried task","retry":{"tries":3,"pause":"1ns","when":true}},`+
		`{"name":"any","kind":"retried task","retry":{"tries":3,"pause":"1ns"}}]}`, string(text))

	calls := make(map[string]int)
	asked := 0
	again, err := graph.FromJSON(text, graph.Functions{
		Retry: func(name string) func(context.Context) error {
			return func(context.Context) error {
				if calls[name]++; calls[name] < 3 {
					return errTask
				}
				return nil
			}
		},
		When: func(name string) func(error) bool {
			require.Equal(t, "picky", name)
			return func(err error) bool { asked++; return err == errTask }
		},
	})
	require.NoError(t, err)
	require.NoError(t, run(t, ex, t.Context(), again))
	require.Equal(t, map[string]int{"picky": 3, "any": 3}, calls)
	require.Equal(t, 2, asked)

	_, err = graph.FromJSON(text, graph.Functions{
		Retry: func(string) func(context.Context) error { return nothing },
	})
	require.EqualError(t, err, `graph "g": reading JSON: task "picky": no When was given for its policy, which had one`)
}

// TestJSONPermits: permits that are held from one task to another are written and read.
func TestJSONPermits(t *testing.T) {
	const in = `{"name":"g","semaphores":[{"permits":3}],"tasks":[` +
		`{"name":"begin","limits":[{"semaphore":0,"permits":1,"acquire":2}],"successors":["end"]},` +
		`{"name":"end","limits":[{"semaphore":0,"release":2}]}]}`
	g, err := graph.FromJSON([]byte(in), allFunctions(func(string) {}))
	require.NoError(t, err)
	text, err := json.Marshal(g)
	require.NoError(t, err)
	require.Equal(t, in, string(text))
	var needs, gives []int
	for task := range g.Tasks() {
		for _, n := range task.Acquires() {
			needs = append(needs, n)
		}
		for _, n := range task.Releases() {
			gives = append(gives, n)
		}
	}
	require.Equal(t, []int{3}, needs)
	require.Equal(t, []int{1, 2}, gives)

	copied, _ := g.Clone("copy")
	text, err = json.Marshal(copied)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(in, `"g"`, `"copy"`, 1), string(text))
	require.NoError(t, run(t, newExecutor(t, executor.Config{Workers: 2}), t.Context(), g))
}

// manyPermits has two tasks that need all permits of a semaphore that has as many as there are numbers.
var manyPermits = fmt.Sprintf(`{"semaphores":[{"permits":%[1]d}],"tasks":[`+
	`{"limits":[{"semaphore":0,"acquire":%[1]d}]},{"limits":[{"semaphore":0,"acquire":%[1]d}]}]}`, math.MaxInt)

func TestJSONErrors(t *testing.T) {
	for in, want := range map[string]string{
		``:                          `graph: reading JSON: EOF`,
		`null`:                      `graph: reading JSON: null, before byte 4, is no graph and no part of one`,
		`{"name":"a\ud800b"}`:       `graph: reading JSON: its text is not valid UTF-8`,
		`{"name":"\\\udc00\ud800"}`: `graph: reading JSON: its text is not valid UTF-8`,
		"{\"name\":\"\xff\"}":       `graph: reading JSON: its text is not valid UTF-8`,
		`{"tasks":[{},null]}`:       `graph: reading JSON: null, before byte 17, is no graph and no part of one`,
		`{"semaphores":null}`:       `graph: reading JSON: null, before byte 18, is no graph and no part of one`,
		`{"Name":"g"}`:              `graph: reading JSON: unknown field "Name": write it "name"`,
		`{"name":"g","name":"h"}`:   `graph: reading JSON: field "name" is twice in one object`,
		`{"tasks":[{"name":"a"},{"kind":"task","name":"b","kind":"condition"}]}`: `field "kind" is twice in one object`,
		`{"tasks":[{"kind":"retried task","retry":{"tries":1,"maxpause":"1s"}}]}`: `unknown field ` +
			`"maxpause": write it "maxPause"`,
		`[]`:                   `graph: reading JSON: json: cannot unmarshal array into Go value of type graph.graphJSON`,
		`{"name":"g"} {}`:      `graph: reading JSON: more text follows the graph`,
		`{"name":"g"`:          `graph: reading JSON: unexpected EOF`,
		`{"edges":[]}`:         `graph: reading JSON: json: unknown field "edges"`,
		`{"tasks":[{"to":1}]}`: `graph: reading JSON: json: unknown field "to"`,
		`{"name":"g","tasks":[{"name":"a"},{"name":"a"}]}`: `graph "g": reading JSON: two tasks have the name "a"`,
		`{"name":"g","tasks":[{"name":"#1"},{}]}`:          `graph "g": reading JSON: two tasks have the name "#1"`,
		`{"tasks":[{"name":"a","successors":["b"]}]}`:      `task "a": its successor "b" is not in the list of tasks`,
		`{"tasks":[{"kind":"loop"}]}`:                      `task "#0": its kind "loop" is unknown`,
		`{"tasks":[{"kind":"value task"}]}`:                `its kind "value task" cannot be read: JSON does not carry`,
		`{"tasks":[{"kind":"retried task"}]}`:              `a retried task has a policy, and no other task has one`,
		`{"tasks":[{"retry":{"tries":1}}]}`:                `a retried task has a policy, and no other task has one`,
		`{"tasks":[{"kind":"module"}]}`:                    `task "#0": a module has a graph, and no other task has one`,
		`{"tasks":[{"graph":"x"}]}`:                        `task "#0": a module has a graph, and no other task has one`,
		`{"tasks":[{"kind":"module","graph":"missing"}]}`:  `task "#0": no graph was given for module "missing"`,
		`{"tasks":[{"priority":"urgent"}]}`:                `its priority "urgent" is none of low, normal and high`,
		`{"tasks":[{"limits":[{"semaphore":0}]}]}`:         `its semaphore 0 is not in the list of semaphores`,
		`{"tasks":[{"limits":[{"semaphore":-1}]}]}`:        `its semaphore -1 is not in the list of semaphores`,
		`{"semaphores":[{"permits":0}]}`:                   `semaphore 0 has 0 permits: nothing would ever run`,
		`{"semaphores":[{"permits":2}],"tasks":[{"limits":[{"semaphore":0,"permits":3}]}]}`: `it needs 3 permits of ` +
			`semaphore 0: from 1 to 2 can be had`,
		`{"semaphores":[{"permits":2}],"tasks":[{"limits":[{"semaphore":0}]}]}`: `it needs 0 permits of semaphore 0`,
		manyPermits: `it and the tasks before it need more than ` + strconv.Itoa(math.MaxInt) + ` permits of semaphore 0`,
		`{"semaphores":[{"permits":2}],"tasks":[{"limits":[{"semaphore":0,"permits":1},` +
			`{"semaphore":0,"permits":1}]}]}`: `its semaphore 0 is there twice`,
		`{"semaphores":[{"permits":2}],"tasks":[{"limits":[{"semaphore":0,"permits":1,"acquire":2}]}]}`: `it needs 3 ` +
			`permits of semaphore 0: from 1 to 2 can be had`,
		`{"semaphores":[{"permits":2}],"tasks":[{"limits":[{"semaphore":0,"permits":2,"acquire":-1}]}]}`: `a number ` +
			`below 0, or both acquire and release`,
		`{"semaphores":[{"permits":2}],"tasks":[{"limits":[{"semaphore":0,"release":1,"acquire":1}]}]}`: `a number ` +
			`below 0, or both acquire and release`,
		`{"tasks":[{"kind":"retried task","retry":{}}]}`:                         `task "#0": Tries is 0: the first call`,
		`{"tasks":[{"kind":"retried task","retry":{"tries":1,"pause":"-1s"}}]}`:  `task "#0": Pause is -1s and MaxPause 0s`,
		`{"tasks":[{"kind":"retried task","retry":{"tries":1,"jitter":2}}]}`:     `task "#0": Jitter is 2: give a fraction`,
		`{"tasks":[{"kind":"retried task","retry":{"tries":1,"pause":"soon"}}]}`: `JSON: "soon" is no duration`,
		`{"tasks":[{"kind":"retried task","retry":{"tries":1,"pause":100}}]}`:    `graph: reading JSON: json: cannot`,
		`{"tasks":[{"kind":"retried task","retry":{"trials":1}}]}`:               `graph: reading JSON: json: unknown field`,
	} {
		g, err := graph.FromJSON([]byte(in), allFunctions(func(string) {}))
		require.ErrorContains(t, err, want, in)
		require.Nil(t, g)
	}
	for _, kind := range []string{
		"task", "condition", "multi-condition", "subflow", "detached subflow", "external task", "retried task",
	} {
		more := ""
		if kind == "retried task" {
			more = `,"retry":{"tries":1}`
		}
		_, err := graph.FromJSON([]byte(`{"tasks":[{"name":"x","kind":"`+kind+`"`+more+`}]}`), graph.Functions{})
		require.EqualError(t, err, `graph "": reading JSON: task "x": no function was given for this `+kind)
	}
}

// TestJSONErrorsAreShort: an error quotes the beginning of a long name.
func TestJSONErrorsAreShort(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for _, in := range []string{
		`{"LONG":1}`,
		`{"name":"LONG","tasks":[{"kind":"LONG"}]}`,
		`{"tasks":[{"name":"LONG"},{"name":"LONG"}]}`,
		`{"tasks":[{"name":"LONG","successors":["LONG!"]}]}`,
		`{"tasks":[{"kind":"module","graph":"LONG"}]}`,
		`{"tasks":[{"priority":"LONG"}]}`,
		`{"tasks":[{"kind":"retried task","retry":{"tries":1,"pause":"LONG"}}]}`,
		`{"semaphores":[{"permits":1` + strings.Repeat("0", 100_000) + `}]}`,
	} {
		functions := allFunctions(func(string) {})
		functions.Module = nil
		_, err := graph.FromJSON([]byte(strings.ReplaceAll(in, "LONG", long)), functions)
		require.Error(t, err, in)
		require.LessOrEqual(t, len(err.Error()), 400, in)
		require.True(t, utf8.ValidString(err.Error()), "%q", err)
	}
}

// allocatedBytes returns how many bytes FromJSON and Validate allocate for the JSON.
func allocatedBytes(in []byte) uint64 {
	functions := allFunctions(func(string) {})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if g, err := graph.FromJSON(in, functions); err == nil {
		_ = g.Validate()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// most is the number of bytes that may be allocated for JSON of a length. The shortest task, {}, takes most.
func most(length int) uint64 { return 100_000 + 1000*uint64(length) }

// TestJSONIsLinear reads JSON whose numbers and lists could be expensive: memory is in proportion to its length.
func TestJSONIsLinear(t *testing.T) {
	list := func(n int, item func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = item(i)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	same := func(text string) func(int) string { return func(int) string { return text } }
	const n = 2000
	for name, in := range map[string]string{
		"tasks": `{"tasks":` + list(n, same(`{}`)) + `}`,
		"permits": `{"semaphores":[{"permits":2147483647}],"tasks":` +
			list(n, same(`{"limits":[{"semaphore":0,"permits":1000000}]}`)) + `}`,
		"semaphores": `{"semaphores":` + list(n, same(`{"permits":1}`)) + `,"tasks":[{"limits":` +
			list(n, func(i int) string { return fmt.Sprintf(`{"semaphore":%d,"permits":1}`, i) }) + `}]}`,
		"acquires": `{"semaphores":` + list(n, same(`{"permits":1}`)) + `,"tasks":` + list(n, func(i int) string {
			return fmt.Sprintf(`{"limits":[{"semaphore":%d,"acquire":1}],"successors":["#%d"]}`, i, min(i+1, n-1))
		}) + `}`,
		"hub":    `{"tasks":[{"successors":` + list(n, same(`"#1"`)) + `},{}]}`,
		"nested": strings.Repeat(`{"tasks":[`, n),
		"arrays": `{"tasks":` + strings.Repeat(`[`, n),
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Fits(t, func() string {
				if n := allocatedBytes([]byte(in)); n > most(len(in)) {
					return fmt.Sprintf("%d bytes for JSON of %d bytes", n, len(in))
				}
				return ""
			})
		})
	}
}

// FuzzJSONMemory: whatever the JSON says, memory is in proportion to its length.
func FuzzJSONMemory(f *testing.F) {
	f.Add(allKinds, 1)
	f.Add(`{"semaphores":[{"permits":9}],"tasks":[{"limits":[{"semaphore":0,"acquire":9}],"successors":["#0"]}]}`, 3)
	f.Add(manyPermits, 1)
	f.Add(`{},`, 1000)
	f.Fuzz(func(t *testing.T, in string, times int) {
		in = strings.Repeat(in, 1+(times&0xff))
		testkit.Fits(t, func() string {
			if n := allocatedBytes([]byte(`{"tasks":[`+in+`{}]}`)) + allocatedBytes([]byte(in)); n > 2*most(len(in)+14) {
				return fmt.Sprintf("%d bytes for JSON of %d bytes", n, len(in))
			}
			return ""
		})
	})
}

func TestMarshalJSONErrors(t *testing.T) {
	g := graph.New("g")
	a := g.Task(nothing).Named("a")
	b := g.Task(nothing).Named("a")
	_, err := g.MarshalJSON()
	require.EqualError(t, err, `graph "g": two tasks have the name "a": give them different names`)
	a.Named("#1")
	b.Remove()
	g.Task(nothing)
	_, err = g.MarshalJSON()
	require.EqualError(t, err, `graph "g": two tasks have the name "#1": give them different names`)
	a.Named("\xff")
	_, err = g.MarshalJSON()
	require.EqualError(t, err, `graph "g": the name "\xff" of a task is not valid UTF-8`)
	_, err = graph.New("\xff").MarshalJSON()
	require.EqualError(t, err, `graph "\xff": its name is not valid UTF-8`)
	around := graph.New("around")
	around.Module(graph.New("\xff")).Named("module")
	_, err = around.MarshalJSON()
	require.EqualError(t, err, `graph "around": the name "\xff" of a module's graph is not valid UTF-8`)
	v := graph.New("v")
	graph.Source(v, func(context.Context) (int, error) { return 0, nil })
	text, err := v.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `{"name":"v","tasks":[{"kind":"value task"}]}`, string(text))
}

// FuzzJSON: what is read is written, and read again as the same. What cannot be read leaves no graph.
func FuzzJSON(f *testing.F) {
	f.Add(allKinds)
	f.Add(`{"name":"g","tasks":[{"successors":["#1","#1"]},{"successors":["#0"]},null]}`)
	f.Add(`{"tasks":[{"name":"a","priority":"normal","kind":"task"},{"name":"\ud83d\ude00"}]}`)
	f.Add(`{"tasks":[{"kind":"retried task","retry":{"tries":9,"pause":"2562047h47m16.854775807s","jitter":1e-9}}]}`)
	f.Add(strings.Repeat(`{"tasks":[`, 10))
	f.Fuzz(func(t *testing.T, in string) {
		functions := allFunctions(func(string) {})
		g, err := graph.FromJSON([]byte(in), functions)
		if err != nil {
			require.Nil(t, g)
			return
		}
		valid := g.Validate()
		text, err := g.MarshalJSON()
		require.NoError(t, err)
		again, err := graph.FromJSON(text, functions)
		require.NoError(t, err)
		if valid == nil {
			require.NoError(t, again.Validate())
		} else {
			require.EqualError(t, again.Validate(), valid.Error())
		}
		second, err := again.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, string(text), string(second))
	})
}

// TestJSONSurrogates: pairs of surrogates are read, and escaped backslashes are none.
func TestJSONSurrogates(t *testing.T) {
	for text, want := range map[string]string{`\ud83d\ude00`: "😀", `\\ud800`: `\ud800`, `x\u0041\\`: `xA\`} {
		g, err := graph.FromJSON([]byte(`{"name":"`+text+`"}`), graph.Functions{})
		require.NoError(t, err, text)
		require.Equal(t, want, g.Name())
	}
}

// TestJSONLongName: a long name is looked up once, not once for each successor.
func TestJSONLongName(t *testing.T) {
	text := `{"tasks":[{"name":"` + strings.Repeat("x", 1<<20) + `","successors":["a"` + strings.Repeat(`,"a"`, 1<<18) +
		`]},{"name":"a"}]}`
	g, err := graph.FromJSON([]byte(text), allFunctions(func(string) {}))
	require.NoError(t, err)
	require.Equal(t, 2, g.Len())
}
