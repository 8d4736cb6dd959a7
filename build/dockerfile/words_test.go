package dockerfile

import (
	"strings"
	"testing"
)

// mark is the file with the places of the words of its last COPY, ADD or ARG in
// guillemets.
func mark(t *testing.T, text string) string {
	t.Helper()
	f := evaluate(t, input(t, text)).File
	list := all(f)
	ins := &list[len(list)-1]
	words, ok := f.ArgWords(ins)
	if ins.Keyword != "ARG" {
		var dest Word
		words, dest, ok = f.Operands(ins)
		words = append(words, dest)
	}
	if !ok {
		return "not found"
	}
	var b strings.Builder
	at := 0
	for _, w := range words {
		if w.Start == w.End {
			b.WriteString("|broken " + w.Text + "|")
			continue
		}
		b.WriteString(text[at:w.Start] + "«" + text[w.Start:w.End] + "»")
		at = w.End
	}
	return b.String() + text[at:]
}

func TestWordsOfAnInstruction(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"FROM scratch\nCOPY a /b", "FROM scratch\nCOPY «a» «/b»"},
		{"FROM scratch\n copy  a\tb   /c/ \n", "FROM scratch\n copy  «a»\t«b»   «/c/» \n"},
		{"FROM scratch\nCOPY --chmod=0755 --link a /b\n", "FROM scratch\nCOPY --chmod=0755 --link «a» «/b»\n"},
		{"FROM scratch\nCOPY --exclude=a --exclude=\"a b\" a /b\n", "FROM scratch\nCOPY --exclude=a --exclude=\"a b\" «a» «/b»\n"},
		{"FROM scratch\nCOPY -- a /b\n", "FROM scratch\nCOPY -- «a» «/b»\n"},
		{"FROM scratch\nCOPY \"a\" 'b' /c/\n", "FROM scratch\nCOPY «\"a\"» «'b'» «/c/»\n"},
		{"FROM scratch\r\nCOPY a /b\r\n", "FROM scratch\r\nCOPY «a» «/b»\r\n"},
		{"\ufeffFROM scratch\nCOPY a /b\n", "\ufeffFROM scratch\nCOPY «a» «/b»\n"},
		{"FROM scratch\nCOPY a a a/\n", "FROM scratch\nCOPY «a» «a» «a/»\n"},
		{"FROM scratch\nCOPY \\\n # a /b\n\n  a \\ \n# x\n  /b\n", "FROM scratch\nCOPY \\\n # a /b\n\n  «a» \\ \n# x\n  «/b»\n"},
		{"FROM scratch\nCOPY a\\\nb /c\n", "|broken ab|FROM scratch\nCOPY a\\\nb «/c»\n"},
		{"# escape=`\nFROM scratch\nCOPY a `\n b c\\\n", "# escape=`\nFROM scratch\nCOPY «a» `\n «b» «c\\»\n"},
		{"FROM scratch\nCOPY a b\\\\\n", "FROM scratch\nCOPY «a» «b\\\\»\n"},
		{"FROM scratch\nCOPY [\"a b\", \"\\u0063\",\"/d\"]\n", "FROM scratch\nCOPY [«\"a b\"», «\"\\u0063\"»,«\"/d\"»]\n"},
		{"FROM scratch\nCOPY --link [ \"a\\\"\\\"]\", \\\n \"/d\" ]\n", "FROM scratch\nCOPY --link [ «\"a\\\"\\\"]\"», \\\n «\"/d\"» ]\n"},
		{"FROM scratch\nCOPY <<a b <<-\"C\" /d/\na b\na\n\tx\n\tC\n", "FROM scratch\nCOPY <<a «b» <<-\"C\" «/d/»\na b\na\n\tx\n\tC\n"},
		{"FROM scratch\nARG A B=1  C=\"x y\" D='\\' E=\\ e F\n", "FROM scratch\nARG «A» «B=1»  «C=\"x y\"» «D='\\'» «E=\\ e» «F»\n"},
		{"FROM scratch\nARG A=1 \\\n  # B=2\n  B=2\n", "FROM scratch\nARG «A=1» \\\n  # B=2\n  «B=2»\n"},
		{"# escape=`\nFROM scratch\nARG A=` x B=\\\n", "# escape=`\nFROM scratch\nARG «A=` x» «B=\\»\n"},
	} {
		if got := mark(t, c.text); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestOtherInstructionsHaveNoWords(t *testing.T) {
	f := evaluate(t, input(t, "FROM scratch\nCOPY <<a /b\na\nUSER 1\n")).File
	for _, ins := range all(f) {
		if _, _, ok := f.Operands(&ins); ok {
			t.Errorf("%s has operands", ins.Text)
		}
		if _, ok := f.ArgWords(&ins); ok {
			t.Errorf("%s has keys", ins.Text)
		}
	}
	trigger := Instruction{Keyword: "COPY", Text: "COPY a /b", Sources: []string{"a"}, Dest: "/b", OnBuild: true, Range: f.Stages[0].From.Range}
	if _, _, ok := f.Operands(&trigger); ok {
		t.Error("a trigger stands in another file")
	}
}
