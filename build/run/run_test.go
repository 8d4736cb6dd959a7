package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The test binary is the program that these tests start: HELPER says what it
// does, so that nothing depends on the tools of the machine.
func TestMain(m *testing.M) {
	switch os.Getenv("HELPER") {
	case "":
		os.Exit(m.Run())
	case "args":
		fmt.Printf("%q", os.Args[1:])
	case "env":
		dir, _ := os.Getwd()
		fmt.Printf("A=%s B=%s PWD=%s same=%v", os.Getenv("A"), os.Getenv("B"), os.Getenv("PWD"), dir == os.Getenv("PWD"))
	case "cat":
		io.Copy(os.Stdout, os.Stdin)
	case "fail":
		fmt.Print("result")
		fmt.Fprint(os.Stderr, "\nwhy it failed\n\n")
		os.Exit(3)
	case "suicide":
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		select {}
	case "wait":
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		fmt.Println("ready")
		<-interrupted
		fmt.Println("cleaned up")
		os.Exit(7)
	}
	os.Exit(0)
}

func helper(t *testing.T, what string, c Cmd) Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.Name, c.Env = self, append(c.Env, "HELPER="+what)
	return c
}

func TestArgumentsArriveAsTheyAre(t *testing.T) {
	args := []string{"a b", "$HOME", "`id`", "*", "", "'\""}
	out, err := Output(t.Context(), OS{}, helper(t, "args", Cmd{Args: args}))
	if want := fmt.Sprintf("%q", args); err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
}

func TestEnvReplacesAndPWDFollowsDir(t *testing.T) {
	t.Setenv("A", "caller")
	t.Setenv("B", "caller")
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	out, err := Output(t.Context(), OS{}, helper(t, "env", Cmd{Dir: link, Env: []string{"A=added"}}))
	if want := "A=added B=caller PWD=" + link + " same=true"; err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
}

func TestVariablesAreWithheld(t *testing.T) {
	t.Setenv("A", "caller")
	t.Setenv("B", "caller")
	t.Setenv("PWD", "")
	hide := func(name string) bool { return name == "A" || name == "B" }
	out, err := Output(t.Context(), OS{}, helper(t, "env", Cmd{Env: []string{"B=added"}, Without: hide}))
	if want := "A= B=added PWD= same=false"; err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
}

func TestDefaultsGiveWayToTheCallersEnvironment(t *testing.T) {
	t.Setenv("A", "")
	t.Setenv("PWD", "")
	for _, env := range [][]string{nil, {"B=added"}} {
		out, err := Output(t.Context(), OS{}, helper(t, "env", Cmd{Env: env, Default: []string{"A=default", "B=default"}}))
		want := "A= B=default PWD= same=false"
		if env != nil {
			want = "A= B=added PWD= same=false"
		}
		if err != nil || string(out) != want {
			t.Errorf("%s, %v; want %s", out, err, want)
		}
	}
}

func TestEnvironHoldsEachNameOnce(t *testing.T) {
	got := environ([]string{"A=1", "PWD=/old", "B=2", "ABC=3"}, []string{"B=4", "C=5"}, "/new")
	if want := []string{"A=1", "ABC=3", "PWD=/new", "B=4", "C=5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	wd, _ := os.Getwd()
	if got := environ(nil, nil, "sub"); !slices.Equal(got, []string{"PWD=" + filepath.Join(wd, "sub")}) {
		t.Errorf("relative directory: %q", got)
	}
	if got := environ([]string{"PWD=/old"}, nil, ""); !slices.Equal(got, []string{"PWD=/old"}) {
		t.Errorf("caller's directory: %q", got)
	}
}

func TestStdinReachesTheProgram(t *testing.T) {
	out, err := Output(t.Context(), OS{}, helper(t, "cat", Cmd{Stdin: strings.NewReader("in")}))
	if err != nil || string(out) != "in" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestFailureCarriesCodeAndReason(t *testing.T) {
	var out, errOut bytes.Buffer
	c := helper(t, "fail", Cmd{Stdout: &out, Stderr: &errOut})
	err := OS{}.Run(t.Context(), c)
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Code != 3 || exit.Name != c.Name {
		t.Errorf("%#v", err)
	}
	if out.String() != "result" || errOut.String() != "\nwhy it failed\n\n" {
		t.Errorf("%q, %q", &out, &errOut)
	}
	_, err = Output(t.Context(), OS{}, c)
	if want := c.Name + ": exit status 3: why it failed"; err == nil || err.Error() != want || !errors.As(err, &exit) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestSignalIsCodeMinusOne(t *testing.T) {
	err := OS{}.Run(t.Context(), helper(t, "suicide", Cmd{}))
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Code != -1 || !strings.HasSuffix(err.Error(), "ended by a signal") {
		t.Errorf("%v", err)
	}
}

func TestMissingProgramIsNamed(t *testing.T) {
	err := OS{}.Run(t.Context(), Cmd{Name: "no-such-program-here"})
	if err == nil || err.Error() != "no-such-program-here: not found on PATH" {
		t.Errorf("%v", err)
	}
	if _, err := (OS{}).Find("no-such-program-here"); err == nil {
		t.Error("Find found it")
	}
	path := filepath.Join(t.TempDir(), "gone")
	var exit *ExitError
	if err := (OS{}).Run(t.Context(), Cmd{Name: path}); !errors.Is(err, os.ErrNotExist) || errors.As(err, &exit) {
		t.Errorf("%v", err)
	}
}

// When the context ends, the program is interrupted rather than killed, and the
// error is the context's cause, not the program's way to end.
func TestCancelInterruptsAndReportsTheCause(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	out := &watch{word: "ready", then: func() { cancel(cause) }}
	if err := (OS{}).Run(ctx, helper(t, "wait", Cmd{Stdout: out})); err != cause {
		t.Errorf("%v, want the cause", err)
	}
	if !strings.Contains(out.text.String(), "cleaned up") {
		t.Errorf("the program could not clean up: %q", out.text.String())
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := (OS{}).Run(ctx, helper(t, "args", Cmd{Stdout: &out})); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("%v, %q", err, &out)
	}
}

func TestStringCanBePastedIntoAShell(t *testing.T) {
	c := Cmd{Name: "go", Args: []string{"build", "-ldflags=-s -w -X 'main.v=1'", "", "./cmd/a"}}
	if got, want := c.String(), `go build '-ldflags=-s -w -X '\''main.v=1'\''' '' ./cmd/a`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// watch calls then once, when word has been written. It embeds no buffer, whose
// ReadFrom would bypass Write.
type watch struct {
	text strings.Builder
	word string
	then func()
	done bool
}

func (w *watch) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	if !w.done && strings.Contains(w.text.String(), w.word) {
		w.done = true
		w.then()
	}
	return n, err
}
