package adopt

import "testing"

func TestABlockIsAddedOnce(t *testing.T) {
	block := Begin + "\nx\n" + End + "\n"
	for old, want := range map[string]string{
		"":            block,
		"a:\n":        "a:\n\n" + block,
		"a:":          "a:\n\n" + block,
		"a:\r\nb:":    "a:\r\nb:\r\n\r\n" + Begin + "\r\nx\r\n" + End + "\r\n",
		"a\n" + Begin: "a\n" + Begin,
	} {
		got := string(AddBlock([]byte(old), []byte(block)))
		if got != want {
			t.Errorf("%q: %q, want %q", old, got, want)
		}
		if again := string(AddBlock([]byte(got), []byte(block))); again != got {
			t.Errorf("%q: a second time it is %q", old, again)
		}
	}
}

func TestLinesThatAreThereAreNotAdded(t *testing.T) {
	for old, want := range map[string]string{
		"":              "/bin/\n/dist/\n",
		"x":             "x\n/bin/\n/dist/\n",
		"/bin/ \n":      "/bin/ \n/dist/\n",
		"x\r\n/dist/":   "x\r\n/dist/\r\n/bin/\r\n",
		"/dist/\n/bin/": "/dist/\n/bin/",
	} {
		if got := string(AddLines([]byte(old), []string{"/bin/", "/dist/"})); got != want {
			t.Errorf("%q: %q, want %q", old, got, want)
		}
	}
}

func TestIgnoreFilesAreRead(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "bin": true, "bin/": true, "/bin/": true, "/bin/*\n": true, "bin/*-linux-*": true,
		"*": true, "*.o\n# bin\n": false, "bin\n!bin/app-linux-amd64": false, "/other/bin": false, "[": false,
	} {
		if got := Ignores([]byte(text), "bin/app-linux-amd64"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !Ignores([]byte("dist"), "sub/dist/x") || Ignores([]byte("/dist"), "sub/dist/x") {
		t.Error("a line without a slash counts at any depth, others do not")
	}
}
