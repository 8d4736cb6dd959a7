package adopt

import "strings"

// Begin and End enclose what archmage adds to a file that is somebody's. The
// first says whose the lines are, so that they are added once.
const (
	Begin = "# archmage: begin"
	End   = "# archmage: end"
)

// AddBlock puts a block behind what is there, once: a file that has one stays as
// it is. Line breaks are those of the file.
func AddBlock(data, block []byte) []byte {
	if strings.Contains(string(data), Begin) {
		return data
	}
	return appendText(data, string(block), true)
}

// cutBlock takes archmage's block out of a text.
func cutBlock(text string) (theirs, block string) {
	before, rest, found := strings.Cut(text, Begin)
	if !found {
		return text, ""
	}
	block, after, _ := strings.Cut(rest, End)
	return before + after, Begin + block
}

// AddLines puts lines behind what is there, those that are there already left
// out.
func AddLines(data []byte, lines []string) []byte {
	has := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		has[strings.TrimRight(line, " \t\r\n")] = true
	}
	text := ""
	for _, line := range lines {
		if !has[line] {
			text += line + "\n"
		}
	}
	return appendText(data, text, false)
}

func appendText(data []byte, text string, apart bool) []byte {
	if text == "" {
		return data
	}
	old := string(data)
	if old != "" && !strings.HasSuffix(old, "\n") {
		old += "\n"
	}
	if apart && old != "" {
		old += "\n"
	}
	if strings.Contains(string(data), "\r\n") {
		keep := len(data)
		return []byte(string(data) + strings.ReplaceAll(old[keep:]+text, "\n", "\r\n"))
	}
	return []byte(old + text)
}
